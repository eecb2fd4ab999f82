import { z } from 'zod';

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';

/** As text, for the CEL rule that holds `metadata.name`. */
export const DNS_LABEL_PATTERN = `^${LABEL}$`;

/** RFC 1123: a name that may become a host name, a container name or a Kubernetes label. */
export const DnsLabel = z
  .string()
  .max(63, 'must have at most 63 characters')
  .regex(
    new RegExp(DNS_LABEL_PATTERN),
    'must be a DNS label: lowercase letters, digits and hyphens, a letter or digit at both ends',
  )
  .meta({ title: 'DNS label' });

/** RFC 1123 labels with dots between them, as Kubernetes names most of its objects. */
export const DnsSubdomain = z
  .string()
  .max(253, 'must have at most 253 characters')
  .regex(
    new RegExp(`^${LABEL}(\\.${LABEL})*$`),
    'must be a DNS name: lowercase letters, digits, hyphens and dots, a letter or digit at both ends of each part',
  )
  .meta({ title: 'DNS name' });

export const EnvName = z
  .string()
  .max(256)
  .regex(
    /^[-._a-zA-Z][-._a-zA-Z0-9]*$/,
    'must be the name of an environment variable: letters, digits, `_`, `-`, `.`, not starting with a digit',
  )
  .meta({ title: 'variable name' });

/** A key of a Secret or a ConfigMap. */
export const DataKey = z
  .string()
  .min(1, 'must not be empty')
  .max(253)
  .regex(/^[-._a-zA-Z0-9]+$/, 'must be letters, digits, `-`, `_` and `.`')
  .meta({ title: 'key' });

/** Headers that frame the message or steer the connection; a manifest that sets one would break or smuggle requests. */
const FRAMING = [
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** RFC 9110 §5.6.2 token. */
export const HeaderName = z
  .string()
  .max(128)
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, { error: 'must be the name of an HTTP header', abort: true })
  .refine((name) => !FRAMING.includes(name.toLowerCase()), 'must not be a header that frames the HTTP message')
  .meta({ title: 'header name' });

/** Headers that MCP itself sets or reads, those that speak for a proxy, and those with which hops log in to each other. */
const PROTOCOL =
  /^(mcp-.*|accept|content-.*|last-event-id|proxy-.*|http2-settings|forwarded|x-forwarded-.*|x-real-ip)$/i;

/** A header that somebody adds to every request to a server. */
export const ForwardedHeaderName = HeaderName.refine(
  (name) => !PROTOCOL.test(name),
  'must not be a header of MCP, of the message or of a proxy',
).meta({ title: 'header name' });

/** RFC 9110 §5.5: visible characters, spaces and tabs; a line break would end the header and start another. */
export const HeaderValue = z
  .string()
  .max(8192)
  .regex(/^[\t -~]*$/, 'must be one line of printable ASCII characters')
  .meta({ title: 'header value' });
