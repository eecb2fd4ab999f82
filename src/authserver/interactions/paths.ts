/** Where the pages of a login are, below the path of the issuer. */
export interface LoginPaths {
  /** Everything that belongs to one login lies below this path, where the library's cookie is sent. */
  readonly interaction: string;
  readonly callback: string;
  /** Where providers send browsers back to. */
  readonly callbackUrl: string;
  /** The page on which users see and end what they have connected. */
  readonly connections: string;
  arrival(uid: string): string;
  consent(uid: string): string;
  /** Sends the browser to the next provider. */
  departure(uid: string): string;
  /** Sends the browser back to the client. */
  finish(uid: string): string;
  /** What a path below `interaction` names. */
  parse(path: string): { readonly uid: string; readonly step: Step } | undefined;
}

export type Step = 'arrival' | 'consent' | 'departure' | 'finish';

const SEGMENTS: Readonly<Record<string, Step>> = { consent: 'consent', next: 'departure', finish: 'finish' };

export function createLoginPaths(issuer: string): LoginPaths {
  const { origin, pathname } = new URL(issuer);
  const base = pathname.replace(/\/$/, '');
  const interaction = `${base}/oauth/interaction`;
  const arrival = (uid: string): string => `${interaction}/${uid}`;
  return {
    interaction,
    callback: `${base}/oauth/callback`,
    callbackUrl: `${origin}${base}/oauth/callback`,
    connections: `${base}/oauth/connections`,
    arrival,
    consent: (uid) => `${arrival(uid)}/consent`,
    departure: (uid) => `${arrival(uid)}/next`,
    finish: (uid) => `${arrival(uid)}/finish`,
    parse(path) {
      const match = /^\/([\w-]{1,64})(?:\/([a-z]+))?$/.exec(path.slice(interaction.length));
      const [, uid, segment] = match ?? [];
      if (!path.startsWith(interaction) || uid === undefined) return undefined;
      if (segment === undefined) return { uid, step: 'arrival' };
      const step = Object.hasOwn(SEGMENTS, segment) ? SEGMENTS[segment] : undefined;
      return step && { uid, step };
    },
  };
}
