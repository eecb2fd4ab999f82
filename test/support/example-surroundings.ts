/**
 * What each example of the help needs around it, so that it can be run as it stands. Everything starts in a home of its own, with the
 * package `good` installed beside it; what stands in for something outside is said here.
 */
export interface Surroundings {
  /** Commands that went before. */
  readonly before?: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
  /** Folders of this repository, copied under the names that the example uses. */
  readonly folders?: Readonly<Record<string, string>>;
  /** What is piped in. */
  readonly fed?: string;
  /** Asked at a terminal, and answered so. */
  readonly asked?: readonly (readonly [question: string, typed: string])[];
  /** The example stays until it has said this, and then gets Ctrl-C. */
  readonly until?: RegExp;
  /** What it says when all is well; silence otherwise. */
  readonly says?: RegExp;
  /** What a name of the outside is here. */
  readonly standIn?: Readonly<Record<string, 'remote' | 'registry' | 'free port'>>;
  readonly on?: 'engine' | 'logins';
}

const STORE = 'secret setup --key file';
const NOTES = 'run npx://good --name notes';
const TOOLS = ['group create tools', 'run npx://good --name notes --group tools'];
const FOLDER = { folders: { 'my-tools': 'examples/quickstart-anonymous' } };
const REMOTE = { 'https://mcp.example.com/mcp': 'remote' } as const;
const RUNS = /^\w[\w-]* runs at http:/;

export const SURROUNDINGS: Readonly<Record<string, Surroundings>> = {
  'vmcp serve -f my-tools --port 8080': {
    ...FOLDER,
    standIn: { 8080: 'free port' },
    until: /quickstart is served at http:\/\/127\.0\.0\.1:\d+\/mcp.*Ctrl-C/s,
  },
  'vmcp serve -f my-tools --port 0 --format json': { ...FOLDER, until: /^\{"event":"ready"/ },
  'vmcp status': { says: /^Nothing runs/ },
  'vmcp init my-tools': { says: /Next: sally vmcp serve -f my-tools/ },
  'vmcp validate -f my-tools': { ...FOLDER, says: /my-tools: \d resources, no problems/ },
  'vmcp validate -f my-tools --format json': { ...FOLDER, says: /"valid": true/ },
  'validate -f my-tools': { ...FOLDER, says: /my-tools: \d resources, no problems/ },
  'validate -f my-tools --format json': { ...FOLDER, says: /"valid": true/ },

  'run npx://@modelcontextprotocol/server-everything': { says: RUNS },
  'run uvx://mcp-server-time --name time -- --local-timezone UTC': { says: RUNS },
  'run https://mcp.example.com/mcp --tools search,fetch': { standIn: REMOTE, says: RUNS },
  'run https://mcp.example.com/mcp --remote-forward-headers-secret X-Key=notes-key': {
    standIn: REMOTE,
    before: [STORE, 'secret set notes-key < key.txt'],
    files: { 'key.txt': 'hunter2\n' },
    says: RUNS,
  },
  'run ghcr.io/acme/notes:1.4 --name notes --permission-profile none': { on: 'engine', says: RUNS },
  'run -f go://./server -e LEVEL=debug': { folders: { server: 'test/fixtures/go-server' }, until: /Ctrl-C stops/ },
  'run --from-config notes.json': { before: [NOTES, 'export notes notes.json', 'rm notes'], says: RUNS },

  'list --all': { before: [NOTES, 'stop notes'], says: /^notes +npx:\/\/good +stopped/m },
  'list --group tools --format mcpservers': { before: TOOLS, says: /"mcpServers": \{\s+"notes"/ },
  'status notes': { before: [NOTES], says: /^Status: +running$/m },
  'status notes --format json': { before: [NOTES], says: /"status": "running"/ },
  'logs notes': { before: [NOTES] },
  'logs -f notes': { before: [NOTES], until: /^/ },
  'logs --supervisor notes': { before: [NOTES], says: /workload runs/ },
  'stop notes': { before: [NOTES] },
  'stop --group tools': { before: TOOLS },
  'start notes': { before: [NOTES, 'stop notes'], says: /^notes +http:/m },
  'start --all': { before: [NOTES], says: /^notes +http:.* ran already/m },
  'restart notes': { before: [NOTES], says: /^notes +http:/m },
  'restart --group tools': { before: TOOLS, says: /^notes +http:/m },
  'update notes -e LEVEL=debug': { before: [NOTES], says: RUNS },
  'update notes --proxy-port 9000': { before: [NOTES], standIn: { 9000: 'free port' }, says: RUNS },
  'update notes -- --read-only': { before: [NOTES], says: RUNS },
  'rm notes': { before: [NOTES] },
  'rm --all': { before: [NOTES] },
  'export notes notes.json': { before: [NOTES] },
  'group create tools': {},
  'group list --format json': { before: TOOLS, says: /"tools"/ },
  'group rm tools --keep-workloads': { before: TOOLS },
  'group run tools': { before: [...TOOLS, 'stop --group tools'], says: /^notes +http:/m },
  'net test notes api.example.com:443': { before: [NOTES], says: /^allowed: api\.example\.com:443/ },
  'build npx://@modelcontextprotocol/server-everything': { on: 'engine', says: /^sha256:/ },
  'build uvx://mcp-server-time@2026.10.19 -t registry.example.com/time:1': { on: 'engine', says: /^registry\.example/ },

  'search web search': { says: /Run one with: sally run NAME/ },
  'search github --format json': { says: /"github"/ },
  'registry list': { says: /^fetch /m },
  'registry list --refresh --format json': { says: /"name": "fetch"/ },
  'registry info github': { says: /^As a container: ghcr\.io\/github/m },
  'config set-registry https://registry.example.net': {
    standIn: { 'https://registry.example.net': 'registry' },
    says: /^Servers are looked up in/,
  },
  'config set-registry ./servers.json': { files: { 'servers.json': '{"servers":[]}' }, says: /, which has 0\./ },
  'config get-registry': { says: /^the built-in catalogue$/m },
  'config unset-registry': {},

  'secret set notes-key': {
    before: [STORE],
    asked: [['Value of notes-key: ', 'hunter2\r']],
    says: /Value of notes-key/,
  },
  'secret set notes-key < key.txt': { before: [STORE], files: { 'key.txt': 'hunter2\n' } },
  'secret get notes-key': {
    before: [STORE, 'secret set notes-key < key.txt'],
    files: { 'key.txt': 'hunter2\n' },
    says: /^hunter2$/m,
  },
  'secret list': { before: [STORE, 'secret set notes-key < key.txt'], files: { 'key.txt': 'x' }, says: /^notes-key$/m },
  'secret delete notes-key': { before: [STORE, 'secret set notes-key < key.txt'], files: { 'key.txt': 'x' } },
  'secret provider': { says: /^encrypted: / },
  'secret provider environment': { says: /^Secrets are kept in variables of the environment/ },
  'secret setup': {
    asked: [
      ['Where to keep secrets', '\r'],
      ['New password for the secrets: ', 'correct horse battery\r'],
      ['The same once more: ', 'correct horse battery\r'],
    ],
    says: /Secrets are kept in/,
  },
  'secret setup --provider encrypted --key file': { says: /^Secrets are kept in/ },

  'auth sessions --user alice@example.com': { on: 'logins', says: /^[0-9a-f]{16} +alice@/m },
  'auth status alice@example.com': { on: 'logins', says: /alice@example\.\w+ +corp +connected/ },
  'auth revoke --user alice@example.com': { on: 'logins', says: /^1 login ended$/m },

  'schema MCPServer': { says: /"title": "MCPServer"/ },
  'schema > sallyport.schema.json': {},
  'crds > crds.yaml': {},
};
