/** How one error code looks at each edge: HTTP status, JSON-RPC number, exit code, and whether its text may leave the process. */
export interface Face {
  readonly http: number;
  readonly rpc: number;
  readonly exit: number;
  readonly expose: boolean;
  /** Its words are for whoever runs us, since they name inner addresses and settings: callers read what it means instead. */
  readonly inner?: true;
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
  'incoming.token_missing': {
    http: 401,
    rpc: 4010,
    exit: 4,
    expose: true,
    means:
      'The endpoint asks every caller for a token and the request has none. Send it as `Authorization: Bearer TOKEN`; the `WWW-Authenticate` header names the document that says where to get one.',
  },
  'incoming.token_refused': {
    http: 401,
    rpc: 4012,
    exit: 4,
    expose: true,
    means:
      'The token is expired, revoked, forged, of another issuer or meant for another server. Log in again. The log of the gateway has the reason.',
  },
  'incoming.token_unexpected': {
    http: 401,
    rpc: 4013,
    exit: 4,
    expose: true,
    means:
      'The request carries an `Authorization` header, but the endpoint is anonymous and can check none. It does not pretend to: leave the header out, or configure `incomingAuth.type: oidc`.',
  },
  'incoming.scope_missing': {
    http: 403,
    rpc: 4033,
    exit: 4,
    expose: true,
    means:
      'The token is good, but lacks scopes that the endpoint asks for. The `WWW-Authenticate` header lists them all; log in again with them.',
  },
  'incoming.request_malformed': {
    http: 400,
    rpc: 4001,
    exit: 4,
    expose: true,
    means:
      'The `Authorization` header cannot be read: there are two of them, it is too long, or has characters that no token has.',
  },
  'incoming.unavailable': {
    http: 503,
    rpc: 5032,
    exit: 1,
    expose: true,
    means:
      'The identity provider that could tell whether the token is good does not answer, or answers nonsense. The token may be fine: try again later. The log of the gateway has the cause.',
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
  'outgoing.login_needed': {
    http: 401,
    rpc: 4011,
    exit: 4,
    expose: true,
    means:
      'The call needs a credential of the user that is not there, or not good any more. Log in again; `data.provider` names where.',
  },
  'outgoing.connect_needed': {
    http: 200,
    rpc: -32042,
    exit: 4,
    expose: true,
    means:
      'The call needs an account that the user has not connected yet. `data.elicitations` has the page where he does; then send the call again.',
  },
  'outgoing.account_needed': {
    http: 200,
    rpc: 4012,
    exit: 4,
    expose: true,
    means:
      'The call needs an account that the user has not connected, and his client cannot show him a page. `data.url` is the page: open it in a browser, then send the call again.',
  },
  'outgoing.exchange_refused': {
    http: 200,
    rpc: 4033,
    exit: 4,
    expose: true,
    means:
      'The token exchange endpoint (RFC 8693) did not give a token for the backend. Check its client, audience and scopes.',
  },
  'outgoing.unavailable': {
    http: 503,
    rpc: 5033,
    exit: 1,
    expose: true,
    means:
      'A credential for the backend cannot be had right now: the server that issues it does not answer. Try again.',
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
      'A server outside gives no connection: nothing listens there, its name is unknown, its certificate is not trusted, or the network is down. The message says which.',
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
  'storage.full': {
    http: 503,
    rpc: 5034,
    exit: 1,
    expose: true,
    means:
      'The authorization server keeps its records in memory and has no room for another. Try again later; if it lasts, find out who sends so many requests.',
  },
  'storage.unavailable': {
    http: 503,
    rpc: 5035,
    exit: 5,
    expose: true,
    inner: true,
    means:
      'The store of the authorization server does not answer, or refuses us. Logins and refreshes wait for it; nothing is lost. Try again in a moment. The log of the gateway has the cause.',
  },
  'upstream.refused': {
    http: 502,
    rpc: 5027,
    exit: 4,
    expose: true,
    means:
      'An identity provider refused a login, a code or a refresh token. Logging in again may help; `invalid_client` means that the client id or secret is wrong.',
  },
  'upstream.unavailable': {
    http: 503,
    rpc: 5033,
    exit: 1,
    expose: true,
    means: 'An identity provider cannot be reached or is not able to answer. Try again later.',
  },
  'upstream.moved': {
    http: 502,
    rpc: 5029,
    exit: 4,
    expose: true,
    means:
      'An identity provider is at another place than when a login began: its issuer or token endpoint changed. Tokens are never sent to another place than the one they came from. Log in again.',
  },
  'upstream.answer_invalid': {
    http: 502,
    rpc: 5028,
    exit: 1,
    expose: true,
    means:
      'An identity provider answered something that must not be accepted, such as an ID token for somebody else. Check how the provider is configured.',
  },
  'login.unknown': {
    http: 500,
    rpc: -32603,
    exit: 1,
    expose: true,
    means:
      'No gateway that runs here has such a login, or none runs. `sally auth sessions` shows the logins there are.',
  },
  'login.ambiguous': {
    http: 500,
    rpc: -32603,
    exit: 2,
    expose: true,
    means: 'Several users have that email address, and nothing was ended. Choose one by the id that the message lists.',
  },
  'login.unanswered': {
    http: 500,
    rpc: -32603,
    exit: 1,
    expose: true,
    means:
      'A gateway that runs did not answer a question about its logins. Try again; if it was asked to end logins, look with `sally auth sessions` which are left.',
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
  'workload.image_missing': {
    http: 500,
    rpc: -32603,
    exit: 5,
    expose: true,
    means: 'The container image cannot be fetched. The message has the words of the engine, the hint what to do.',
  },
  'workload.image_unverified': {
    http: 500,
    rpc: -32603,
    exit: 5,
    expose: true,
    means:
      'The container image has no good signature by the signer that its registry entry names, or that cannot be found out, and `--image-verification enabled` runs nothing else.',
  },
  'workload.build_failed': {
    http: 500,
    rpc: -32603,
    exit: 5,
    expose: true,
    means:
      'An image could not be built from a package. The last lines of the build are shown; the name or version may be wrong, or the network of the engine does not reach the package index.',
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
  'workload.unknown': {
    http: 500,
    rpc: -32603,
    exit: 1,
    expose: true,
    means: 'There is no workload of that name. `sally list --all` shows those there are.',
  },
  'workload.exists': {
    http: 500,
    rpc: -32603,
    exit: 1,
    expose: true,
    means:
      'There is a workload of that name already. Choose another one with `--name`, start the one that is there with `sally start`, change it with `sally update`, or remove it with `sally rm`.',
  },
  'workload.not_answering': {
    http: 500,
    rpc: -32603,
    exit: 1,
    expose: true,
    means:
      'The process that keeps a workload running ended before the server was ready, or does not answer. `sally logs --supervisor` shows what it said last.',
  },
  'group.unknown': {
    http: 500,
    rpc: -32603,
    exit: 1,
    expose: true,
    means: 'There is no group of that name. `sally group list` shows those there are, `sally group create` makes one.',
  },
  'group.exists': {
    http: 500,
    rpc: -32603,
    exit: 1,
    expose: true,
    means: 'There is a group of that name already, or it cannot be removed because it is the default one.',
  },
  'state.unreadable': {
    http: 500,
    rpc: -32603,
    exit: 1,
    expose: true,
    means:
      'A file in which Sallyport keeps its state was damaged, or was written by a newer version. The message names it; nothing was changed.',
  },
  'state.unwritable': {
    http: 500,
    rpc: -32603,
    exit: 5,
    expose: true,
    means:
      'The folder in which Sallyport keeps its state cannot be written. Check its permissions and the disk, or choose another folder with `SALLYPORT_HOME`.',
  },
  'usage.cancelled': {
    http: 500,
    rpc: -32603,
    exit: 1,
    expose: true,
    means: 'Somebody ended the command at a question, with Ctrl-C or by closing the input. Nothing was changed.',
  },
  'file.busy': {
    http: 500,
    rpc: -32603,
    exit: 1,
    expose: true,
    means:
      'Another `sally` command is changing the same file and did not finish in time. Try again; the message names the file.',
  },
  'secret.missing': {
    http: 500,
    rpc: -32603,
    exit: 2,
    expose: true,
    means:
      'The store of secrets has no value under that name. `sally secret list` shows the names, `sally secret set NAME` adds one.',
  },
  'secret.locked': {
    http: 500,
    rpc: -32603,
    exit: 4,
    expose: true,
    means:
      'The encrypted file of secrets cannot be opened: there is no password for it, or it is the wrong one. The message says where the password came from.',
  },
  'secret.damaged': {
    http: 500,
    rpc: -32603,
    exit: 1,
    expose: true,
    means:
      'The encrypted file of secrets is not one that Sallyport wrote, or is of a newer version. Put a backup in its place.',
  },
  'secret.read_only': {
    http: 500,
    rpc: -32603,
    exit: 2,
    expose: true,
    means:
      'The provider of secrets gives values out and takes none. Store the value where the provider keeps it, or choose another with `sally secret provider NAME`.',
  },
  'secret.unavailable': {
    http: 500,
    rpc: -32603,
    exit: 5,
    expose: true,
    means:
      'The provider of secrets does not work on this machine: no keyring answers, or the `op` program is missing or refuses.',
  },
  'registry.unavailable': {
    http: 500,
    rpc: -32603,
    exit: 1,
    expose: true,
    means:
      'The registry that is configured cannot be read, so nothing can be said about the name. `sally config get-registry` shows it.',
  },
  'registry.invalid': {
    http: 500,
    rpc: -32603,
    exit: 2,
    expose: true,
    means:
      'What the registry holds is not in a format that Sallyport reads, or breaks a limit. The message names the place.',
  },
  'registry.unknown_server': {
    http: 500,
    rpc: -32603,
    exit: 2,
    expose: true,
    means: 'The registry has no server of that name, or none that runs here. `sally search WORD` finds names.',
  },
  'registry.ambiguous': {
    http: 500,
    rpc: -32603,
    exit: 2,
    expose: true,
    means: 'Several servers of the registry end in that name. Write one of the full names that the message lists.',
  },
  'registry.variable_missing': {
    http: 500,
    rpc: -32603,
    exit: 2,
    expose: true,
    means:
      'The server needs values that were not given. Pass each with `-e NAME=VALUE` or `--secret`, or run the command on a terminal, which asks.',
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
