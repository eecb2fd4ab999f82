import { codeOf, SallyError } from '../errors.ts';

const UNTRUSTED = {
  says: (url: URL): string => `the certificate of ${url.host} is signed by nobody who is trusted here`,
  hint: 'trust its authority with --ca-bundle, or with caBundleRef where a resource names the server',
};

/** What the codes of Node, OpenSSL and undici mean to somebody who has to repair it. */
const KNOWN: Readonly<Record<string, { readonly says: (url: URL) => string; readonly hint?: string }>> = {
  ECONNREFUSED: { says: ({ origin }) => `nothing listens at ${origin}` },
  ENOTFOUND: { says: ({ hostname }) => `the name ${hostname} is not known` },
  EAI_AGAIN: { says: ({ hostname }) => `the name ${hostname} could not be looked up, the resolver does not answer` },
  ECONNRESET: { says: ({ origin }) => `${origin} closed the connection` },
  UND_ERR_SOCKET: { says: ({ origin }) => `${origin} closed the connection` },
  EPROTO: {
    says: ({ origin }) => `${origin} does not speak TLS as we do`,
    hint: 'check whether the address is an http:// one',
  },
  CERT_HAS_EXPIRED: { says: ({ host }) => `the certificate of ${host} has expired` },
  ERR_TLS_CERT_ALTNAME_INVALID: { says: ({ host }) => `the certificate at ${host} is made out to another name` },
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
};

/** Why a request brought no answer. */
export function explain(error: unknown, url: URL): SallyError {
  if (error instanceof SallyError) return error;
  const code = codeOf(error)?.replace(/^ERR_SSL_.*/, 'EPROTO') ?? '';
  if (code === 'UND_ERR_CONNECT_TIMEOUT')
    return new SallyError('fetch.timeout', `${url.origin} did not answer in time`, { cause: error });
  const known = Object.hasOwn(KNOWN, code) ? KNOWN[code] : undefined;
  const message = known?.says(url) ?? `the connection to ${url.origin} failed`;
  return new SallyError('fetch.unreachable', message, { cause: error, ...(known?.hint ? { hint: known.hint } : {}) });
}
