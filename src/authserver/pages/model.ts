import type { ConnectionFacts } from '../account/overview.ts';

/**
 * What the pages show. Names, ids and addresses in here were chosen by strangers: the pages escape them, show what cannot be
 * seen, and make a link only of an address that a browser may safely follow.
 */

/** A finished page. It leaves through `sendPage`, which adds the headers that it relies on. */
export interface Page {
  readonly html: string;
}

/** Who wants to be let in. */
export interface ClientView {
  readonly id: string;
  /** What the client calls itself. Nobody has checked it. */
  readonly name?: string;
  /** The host that vouches for the id, for a client whose id is the address of its metadata document. */
  readonly verifiedHost?: string;
}

/** A provider that the login visits, and what for. */
export interface ProviderView {
  readonly name: string;
  /** Where its login page is: the host that the browser will show. */
  readonly host: string;
  /** The backends that will get its tokens. */
  readonly backends: readonly string[];
}

export interface ConsentModel {
  readonly client: ClientView;
  /** Where the code goes, as the client asked for it. */
  readonly redirectUri: string;
  /** The endpoint that the token will be good for. */
  readonly resource: string;
  readonly scopes: readonly string[];
  /** In the order of the visits. */
  readonly providers: readonly ProviderView[];
  /**
   * The form goes to this path by POST, with the field `csrf` and the field `decision`, which is `allow` or `deny`.
   */
  readonly action: string;
  readonly csrf: string;
}

export interface ProgressModel {
  readonly client: ClientView;
  readonly providers: readonly ProviderView[];
  /** How many of them are connected; the next one is `providers[connected]`, and after the last one the client follows. */
  readonly connected: number;
  /** Where the browser goes by itself after a moment, and by a link at once. */
  readonly continueTo: string;
}

/** A page that leads on, for where a redirect is not possible: `form-action` also holds for the redirects behind a POST. */
export interface LeadOnModel {
  readonly title: string;
  readonly message: string;
  readonly continueTo: string;
  readonly label: string;
}

export interface ErrorModel {
  readonly title: string;
  readonly message: string;
  /** What the user can do now. */
  readonly advice: string;
  /** Under this id the log knows more. */
  readonly incident: string;
  /** A way on, such as back to the client that is told what happened. */
  readonly continueTo?: string;
  readonly label?: string;
  /** After so many seconds the page goes that way by itself: somebody there is waiting. */
  readonly seconds?: number;
}

/** What one login has at one provider. Times are in seconds since 1970. */
export interface ConnectionView extends ProviderView, ConnectionFacts {}

/** A client that was let in, and what it has. */
export interface LoginView {
  /** Names it in forms, in logs and for the administrator. */
  readonly id: string;
  readonly client: ClientView;
  readonly since: number;
  readonly until: number;
  readonly usedAt?: number;
  readonly connections: readonly ConnectionView[];
}

export interface ConnectionsModel {
  /** What the first provider calls the user. */
  readonly name: string | undefined;
  readonly resource: string;
  /** Those used last come first. */
  readonly logins: readonly LoginView[];
  /** What was done a moment ago. */
  readonly notice: string | undefined;
  /** Where further logins are. */
  readonly newer: string | undefined;
  readonly older: string | undefined;
  /**
   * Forms go to this path by POST, with `csrf` and `do`: `connect` and `disconnect` with `login` and `provider`, `end` with
   * `login`, and `leave`.
   */
  readonly action: string;
  readonly csrf: string;
  readonly now: number;
}

export interface DoneModel {
  readonly title: string;
  readonly message: string;
}
