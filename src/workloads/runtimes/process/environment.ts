import { Secret } from '../../../base/index.ts';
import type { Environment, ProcessLaunch } from '../../launch.ts';

type Tool = NonNullable<ProcessLaunch['tool']>;

/**
 * What any program needs to find its way. Everything else of ours stays with us. A proxy is passed on as it is, with the
 * user and password it may name: without them the server would reach nothing. They are masked in what it says.
 */
const PASSED_ON = new Set([
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR', 'LANG', 'TZ', 'TERM'],
  ...['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'],
]);
const PASSED_ON_FAMILIES = /^(LC_|XDG_)/;

/** Named one by one: the prefix GO would let GOOGLE_APPLICATION_CREDENTIALS through. None of them holds a secret. */
const GO_SETTINGS = new Set([
  ...['GO111MODULE', 'GOAMD64', 'GOARCH', 'GOARM', 'GOARM64', 'GOAUTH', 'GOBIN', 'GOCACHE', 'GODEBUG', 'GOENV'],
  ...['GOEXPERIMENT', 'GOFLAGS', 'GOGC', 'GOINSECURE', 'GOMAXPROCS', 'GOMEMLIMIT', 'GOMODCACHE', 'GONOPROXY'],
  ...['GONOSUMDB', 'GOOS', 'GOPATH', 'GOPRIVATE', 'GOPROXY', 'GOROOT', 'GOSUMDB', 'GOTELEMETRYDIR', 'GOTMPDIR'],
  ...['GOTOOLCHAIN', 'GOVCS', 'GOWORK'],
]);

const LOOKS_SECRET = /token|secret|password|passwd|api[-_]?key|private|credential|auth/i;

/** The one variable of ours that a server sees: by it everything that it started is found again. No secret. */
export const MARK_VARIABLE = 'SALLYPORT_GUARDED';

/** The whole environment of a server: the little it may know of ours, what its own configuration says, and our mark. */
export function serverEnvironment(ours: Environment, launch: ProcessLaunch, mark: string): Record<string, string> {
  const own = Object.entries(launch.env).map(([name, value]) => [
    name,
    value instanceof Secret ? value.reveal() : value,
  ]);
  return { ...passedOn(ours, launch.tool), ...Object.fromEntries(own), [MARK_VARIABLE]: mark };
}

/** What a package tool gets of our environment when we call it ourselves. */
export function toolEnvironment(ours: Environment, tool: Tool): Record<string, string> {
  return passedOn(ours, tool);
}

/** The values in a server's environment that must not be seen in what it says. */
export function secretsOf(ours: Environment, launch: Pick<ProcessLaunch, 'env' | 'tool'>): readonly string[] {
  return Object.entries({ ...passedOn(ours, launch.tool), ...launch.env }).flatMap(([name, value]) => {
    if (value instanceof Secret) return [value.reveal()];
    return LOOKS_SECRET.test(name) && !GO_SETTINGS.has(name) ? [value] : passwordsIn(value);
  });
}

function passedOn(ours: Environment, tool: Tool | undefined): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const [name, value] of Object.entries(ours)) {
    if (value === undefined) continue;
    const common = (PASSED_ON.has(name) || PASSED_ON_FAMILIES.test(name)) && !LOOKS_SECRET.test(name);
    if (common || (tool !== undefined && isSettingOf(tool, name))) passed[name] = value;
  }
  return passed;
}

/** A tool needs its settings to get the package, the login to a private registry too. The server then inherits them from it. */
function isSettingOf(tool: Tool, name: string): boolean {
  switch (tool) {
    case 'npm':
      return /^npm_config_/i.test(name);
    case 'uv':
      // What publishes packages is no business of a server. The PIP_ variables mean nothing to uv.
      return /^UV_(?!PUBLISH_)/.test(name);
    case 'go':
      return GO_SETTINGS.has(name);
  }
}

/** `postgres://notes:hunter2@db/notes`, or a proxy. */
function passwordsIn(value: string): string[] {
  return [...value.matchAll(/:\/\/([^/?#\s@:]*:([^/?#\s@]+))@/g)].flatMap(([, login = '', password = '']) => [
    login,
    password,
  ]);
}
