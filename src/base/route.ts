import type { IncomingMessage, ServerResponse } from 'node:http';

export type HttpHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** What is served at a path. A route says who may come before it says what it does; what is in no table does not exist. */
export interface Route {
  readonly path: string;
  /** Serves every path below it as well. */
  readonly below?: boolean;
  /**
   * How somebody shows that he may: not at all (`none`), as a caller at boundary 1 (`caller`), as an OAuth client with what it
   * was given (`client`), or as the browser that began the login (`browser`).
   */
  readonly authentication: 'none' | 'caller' | 'client' | 'browser';
  /** Which web pages may send requests: our own, any (nothing here depends on a cookie), or any by leading the user here. */
  readonly pages: 'own' | 'any' | 'navigation';
  readonly handler: HttpHandler;
}
