/** How one error code looks at each edge: HTTP status, JSON-RPC number, exit code, and whether its text may leave the process. */
export interface Face {
  readonly http: number;
  readonly rpc: number;
  readonly exit: number;
  readonly expose: boolean;
  /** One sentence for `docs/errors.md`: what it means and what to do about it. */
  readonly means: string;
}

/**
 * Every error Sallyport raises on purpose. The code is the contract: it never changes its meaning, the message may improve.
 * Exit codes: 1 it failed, 2 what you wrote is wrong, 4 you may not, 5 something needed is missing, 70 a bug of ours.
 */
export const FACES = {
  'usage.invalid': {
    http: 400,
    rpc: -32600,
    exit: 2,
    expose: true,
    means:
      'The command line is wrong. The message names the flag or argument; `sally COMMAND --help` lists what is allowed.',
  },
  'config.unreadable': {
    http: 500,
    rpc: -32603,
    exit: 2,
    expose: true,
    means: 'A file or folder of resources cannot be read. Check the path and its permissions.',
  },
  'config.invalid': {
    http: 500,
    rpc: -32603,
    exit: 2,
    expose: true,
    means: 'The resources break a rule. Each problem is listed with file, line and field path; nothing was started.',
  },
  'config.unsupported': {
    http: 500,
    rpc: -32603,
    exit: 2,
    expose: true,
    means:
      'The resources are valid but ask for something this version cannot do yet. Nothing was started, so that nothing runs with less protection than was asked for.',
  },
  'config.secret_missing': {
    http: 500,
    rpc: -32603,
    exit: 2,
    expose: true,
    means:
      'A referenced secret has no value. Declare the Secret resource, or set the environment variable that the message names.',
  },
  'listener.port_in_use': {
    http: 500,
    rpc: -32603,
    exit: 5,
    expose: true,
    means: 'Another program listens on the address. Stop it, or choose another port with `--port`.',
  },
  'listener.address_refused': {
    http: 500,
    rpc: -32603,
    exit: 5,
    expose: true,
    means:
      'The machine does not let us listen there: the address is not one of its own, or the port needs more rights.',
  },
  'listener.anonymous_exposed': {
    http: 500,
    rpc: -32603,
    exit: 2,
    expose: true,
    means:
      'An endpoint without authentication would be reachable from the network. Listen on a loopback address, configure `incomingAuth.type: oidc`, or insist with `--insecure-allow-anonymous`.',
  },
  'listener.host_refused': {
    http: 403,
    rpc: 4031,
    exit: 4,
    expose: true,
    means:
      'The Host header names a host this listener does not serve. This keeps web pages from reaching it by DNS rebinding. A name of your own is allowed with `--allowed-host`.',
  },
  'listener.origin_refused': {
    http: 403,
    rpc: 4032,
    exit: 4,
    expose: true,
    means:
      'A web page of another origin sent the request. Only pages of the same origin may call the endpoint, and those named with `--allowed-origin`.',
  },
  'listener.not_found': {
    http: 404,
    rpc: -32601,
    exit: 1,
    expose: true,
    means: 'Nothing is served at that path. `sally vmcp serve` prints the endpoints when it starts.',
  },
  'listener.method_refused': {
    http: 405,
    rpc: -32600,
    exit: 1,
    expose: true,
    means: 'The endpoint does not take that HTTP method. The `Allow` header lists the ones it takes.',
  },
  'listener.draining': {
    http: 503,
    rpc: 5030,
    exit: 1,
    expose: true,
    means: 'The gateway is shutting down. Try again in a moment.',
  },
  'call.body_too_large': {
    http: 413,
    rpc: -32600,
    exit: 1,
    expose: true,
    means: 'The request body is larger than the limit (8 MiB).',
  },
  'call.media_type': {
    http: 415,
    rpc: -32600,
    exit: 1,
    expose: true,
    means: 'The request body must be sent as `Content-Type: application/json`.',
  },
  'call.not_acceptable': {
    http: 406,
    rpc: -32600,
    exit: 1,
    expose: true,
    means: 'The `Accept` header must allow `application/json` and `text/event-stream`, as the MCP transport asks.',
  },
  'call.parse_error': {
    http: 400,
    rpc: -32700,
    exit: 1,
    expose: true,
    means: 'The request body is not JSON.',
  },
  'call.invalid_request': {
    http: 400,
    rpc: -32600,
    exit: 1,
    expose: true,
    means: 'The JSON is not one JSON-RPC 2.0 request, notification or response.',
  },
  'call.unsupported_revision': {
    http: 400,
    rpc: -32600,
    exit: 1,
    expose: true,
    means:
      'The `MCP-Protocol-Version` header names a revision that this gateway does not speak. The message lists those it does.',
  },
  'call.header_mismatch': {
    http: 400,
    rpc: -32020,
    exit: 1,
    expose: true,
    means: 'A header that MCP 2026-07-28 asks for is missing, malformed, or says something else than the body.',
  },
  'call.capability_missing': {
    http: 400,
    rpc: -32021,
    exit: 1,
    expose: true,
    means: 'The request needs a client capability that it does not declare. `data.requiredCapabilities` names it.',
  },
  'call.unsupported_version': {
    http: 400,
    rpc: -32022,
    exit: 1,
    expose: true,
    means: 'The request names a protocol version that is not spoken here. `data.supported` lists those that are.',
  },
  'call.meta_missing': {
    http: 400,
    rpc: -32602,
    exit: 1,
    expose: true,
    means: 'A request of MCP 2026-07-28 lacks a required `_meta` field, or has it in a wrong type.',
  },
  'call.session_required': {
    http: 400,
    rpc: 4000,
    exit: 1,
    expose: true,
    means: 'The request belongs to a session but does not name one. Send `Mcp-Session-Id` as `initialize` returned it.',
  },
  'call.session_unknown': {
    http: 404,
    rpc: -32001,
    exit: 1,
    expose: true,
    means: 'The session does not exist, has ended, or belongs to somebody else. Start a new one with `initialize`.',
  },
  'call.too_many': {
    http: 503,
    rpc: 5031,
    exit: 1,
    expose: true,
    means: 'As many sessions, streams or waiting calls are open as the gateway keeps. Try again later.',
  },
  'call.expired': {
    http: 200,
    rpc: 4100,
    exit: 1,
    expose: true,
    means:
      'The interaction this request continues is over: it took too long, was already continued, or never was. Call the tool again from the start.',
  },
  'call.cancelled': {
    http: 200,
    rpc: 4990,
    exit: 1,
    expose: true,
    means: 'The caller cancelled the request.',
  },
  'call.cannot_ask': {
    http: 200,
    rpc: -32601,
    exit: 1,
    expose: true,
    means: 'A server wants to ask the user something, but the client has no way to be asked.',
  },
  'call.unknown_resource': {
    http: 200,
    rpc: -32602,
    exit: 1,
    expose: true,
    means: 'No resource of that URI is offered.',
  },
  'call.unknown_prompt': {
    http: 200,
    rpc: -32602,
    exit: 1,
    expose: true,
    means: 'No prompt of that name is offered.',
  },
  'call.gone': {
    http: 404,
    rpc: -32601,
    exit: 1,
    expose: true,
    means: 'The method belongs to an older revision of MCP and was taken out of the one the request speaks.',
  },
  'call.unknown_method': {
    http: 200,
    rpc: -32601,
    exit: 1,
    expose: true,
    means: 'The method does not exist here.',
  },
  'call.invalid_params': {
    http: 200,
    rpc: -32602,
    exit: 1,
    expose: true,
    means: 'The parameters of the method are missing or of the wrong type.',
  },
  'call.unknown_tool': {
    http: 200,
    rpc: -32602,
    exit: 1,
    expose: true,
    means: 'No tool of that name is offered. A hidden tool answers the same way.',
  },
  'backend.unreachable': {
    http: 200,
    rpc: 5020,
    exit: 1,
    expose: true,
    means: 'The MCP server behind the gateway does not answer. The gateway log has the cause.',
  },
  'backend.timeout': {
    http: 200,
    rpc: 5040,
    exit: 1,
    expose: true,
    means: 'The MCP server behind the gateway did not answer in time.',
  },
  'backend.protocol': {
    http: 200,
    rpc: 5021,
    exit: 1,
    expose: true,
    means: 'The MCP server behind the gateway answered something that is not MCP.',
  },
  'backend.refused': {
    http: 200,
    rpc: 5022,
    exit: 4,
    expose: true,
    means:
      'The MCP server behind the gateway refused the gateway itself (HTTP 401 or 403). It needs a credential that is not configured.',
  },
  'backend.session_lost': {
    http: 200,
    rpc: 5026,
    exit: 1,
    expose: true,
    means:
      'The MCP server behind the gateway forgot the session, usually because it was restarted. A new one is open: send the call again.',
  },
  'fetch.address_refused': {
    http: 200,
    rpc: 5023,
    exit: 4,
    expose: true,
    means:
      'The address lies in a private, loopback or link-local range and may not be fetched. For a server of your own network set `allowPrivateEndpoint: true`.',
  },
  'fetch.unreachable': {
    http: 200,
    rpc: 5024,
    exit: 1,
    expose: true,
    means:
      'A server outside does not accept the connection: nothing listens there, its name is unknown, or the network is down.',
  },
  'fetch.timeout': {
    http: 200,
    rpc: 5041,
    exit: 1,
    expose: true,
    means: 'A server outside did not answer in time.',
  },
  'fetch.too_large': {
    http: 200,
    rpc: 5025,
    exit: 1,
    expose: true,
    means: 'A server outside answered more than the limit allows.',
  },
  'workload.reference_invalid': {
    http: 500,
    rpc: -32603,
    exit: 2,
    expose: true,
    means:
      'The server reference cannot be read. Use `npx://PACKAGE[@VERSION]`, `uvx://PACKAGE[@VERSION]`, `go://MODULE[@VERSION]`, `go://./PATH` or an http(s) URL.',
  },
  'workload.runtime_missing': {
    http: 500,
    rpc: -32603,
    exit: 5,
    expose: true,
    means: 'No runtime on this machine can run the workload. The hint says which one it needs.',
  },
  'workload.program_missing': {
    http: 500,
    rpc: -32603,
    exit: 5,
    expose: true,
    means: 'A program that starts the server (`npx`, `uvx`, `go`) is not installed or not on the PATH.',
  },
  'workload.exited': {
    http: 500,
    rpc: -32603,
    exit: 5,
    expose: true,
    means: 'The server process ended by itself. Its last lines are shown; fix what they say and start again.',
  },
  'workload.not_mcp': {
    http: 500,
    rpc: -32603,
    exit: 5,
    expose: true,
    means:
      'The server printed something on stdout that is not an MCP message. It may speak another transport, or log to stdout.',
  },
  'internal.bug': {
    http: 500,
    rpc: -32603,
    exit: 70,
    expose: false,
    means:
      'Sallyport met a state its authors did not foresee. The log has the details under the same id; please report it.',
  },
} as const satisfies Record<string, Face>;

export type ErrorCode = keyof typeof FACES;

export interface ErrorDetails {
  readonly cause?: unknown;
  /** What the reader should do now, in one phrase without a full stop. */
  readonly hint?: string;
  /** What the protocol wants beside code and message. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/** The one error class. Code throws it and lets it rise; four edges translate it (HTTP, JSON-RPC, OAuth, exit code). */
export class SallyError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly data: Readonly<Record<string, unknown>> | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'SallyError';
    this.code = code;
    this.hint = details.hint;
    this.data = details.data;
  }

  get face(): Face {
    return FACES[this.code];
  }

  /** Lines that belong below the message where there is room for them. */
  get details(): readonly string[] {
    return [];
  }
}

/** Whatever was thrown, as a SallyError. An error that is not ours is a bug of ours until someone gives it a code. */
export function toSallyError(thrown: unknown): SallyError {
  if (thrown instanceof SallyError) return thrown;
  return new SallyError('internal.bug', 'something unexpected happened', { cause: thrown });
}

/** The `code` of a Node or library error ('ENOENT', 'UND_ERR_SOCKET'), if it has one. */
export function codeOf(thrown: unknown): string | undefined {
  if (typeof thrown !== 'object' || thrown === null || !('code' in thrown)) return undefined;
  return typeof thrown.code === 'string' ? thrown.code : undefined;
}
