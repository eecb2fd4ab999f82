import { Secret } from '../../../base/index.ts';
import type { Environment, Launch } from '../../launch.ts';

/** What a program and the package tools need to find their way. Everything else of ours stays with us. */
const PASSED_ON = new Set([
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR', 'LANG', 'TZ', 'TERM'],
  ...['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'],
  // Named one by one: the prefix GO would let GOOGLE_APPLICATION_CREDENTIALS through.
  ...['GO111MODULE', 'GOAMD64', 'GOARCH', 'GOARM', 'GOARM64', 'GOAUTH', 'GOBIN', 'GOCACHE', 'GODEBUG', 'GOENV'],
  ...['GOEXPERIMENT', 'GOFLAGS', 'GOGC', 'GOINSECURE', 'GOMAXPROCS', 'GOMEMLIMIT', 'GOMODCACHE', 'GONOPROXY'],
  ...['GONOSUMDB', 'GOOS', 'GOPATH', 'GOPRIVATE', 'GOPROXY', 'GOROOT', 'GOSUMDB', 'GOTELEMETRYDIR', 'GOTMPDIR'],
  ...['GOTOOLCHAIN', 'GOVCS', 'GOWORK'],
]);

/** Settings of the package tools. What publishes packages is no business of a server. */
const PASSED_ON_FAMILIES = /^(LC_|XDG_|npm_config_|NPM_CONFIG_|UV_(?!PUBLISH_)|PIP_)/;

/** The whole environment of a server: the little it may know of ours, then what its own configuration says. */
export function serverEnvironment(ours: Environment, own: Launch['env']): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(ours)) {
    if (value !== undefined && (PASSED_ON.has(name) || PASSED_ON_FAMILIES.test(name))) environment[name] = value;
  }
  for (const [name, value] of Object.entries(own)) {
    environment[name] = value instanceof Secret ? value.reveal() : value;
  }
  return environment;
}
