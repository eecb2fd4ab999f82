import { createSocket } from 'node:dgram';
import { createServer as createSite } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';

/** What a server says when one of its tools is called; an error of it begins with `ERR`. */
export type Call = (tool: string, args?: Record<string, unknown>) => Promise<string>;

/** What is on this machine for a server to reach, none of it meant for it. */
export interface Surroundings extends AsyncDisposable {
  readonly site: number;
  readonly otherSite: number;
  /** Listens on an address of this machine that others reach too. */
  readonly address: string;
  readonly udp: number;
  readonly abstract: string;
}

/** A way that a server may try. `closed` is about the profile that allows addresses but not this machine; `open` about the one that does. */
export interface Way {
  readonly way: string;
  readonly server: 'closed' | 'open';
  readonly reached: boolean;
  /** Whether a plain process gets there. Only what lies on this machine can be told for sure. */
  readonly plain?: boolean;
  try(call: Call, around: Surroundings): Promise<boolean>;
}

const connected = async (call: Call, host: string, port: number): Promise<boolean> =>
  (await call('connect', { host, port })) === 'connected';

/** No way at all, as opposed to one on which nobody answered today. */
async function routed(call: Call, tool: 'connect' | 'udp', host: string, port: number): Promise<boolean> {
  const said = await call(tool, { host, port });
  // The second where there is no IPv6 at all.
  if (/ENETUNREACH|EADDRNOTAVAIL/.test(said)) return false;
  if (said.startsWith('ERR')) throw new Error(`${host} was not kept out of reach, it did not answer: ${said}`);
  return true;
}

/** Our proxy says no. Any other failure proves nothing. */
async function letThrough(call: Call, tool: 'get' | 'tunnel', args: Record<string, unknown>): Promise<boolean> {
  const said = await call(tool, args);
  const { status } = JSON.parse(said.startsWith('ERR') ? '{}' : said) as { status?: number };
  if (status !== 200 && status !== 403 && status !== 400) throw new Error(`the proxy did not decide: ${said}`);
  return status === 200;
}
const answered = (call: Call, url: string): Promise<boolean> => letThrough(call, 'get', { url });
const tunnelled = (call: Call, target: string): Promise<boolean> => letThrough(call, 'tunnel', { target });

/** Through the proxy means: as a program that honours HTTP_PROXY. A socket means: as one that does not. */
export const WAYS: readonly Way[] = [
  {
    way: 'an allowed host and port, through the proxy',
    server: 'open',
    reached: true,
    try: (call, { site }) => answered(call, `http://127.0.0.1:${site}/`),
  },
  {
    way: 'the same with a tunnel (`CONNECT`)',
    server: 'open',
    reached: true,
    try: (call, { site }) => tunnelled(call, `127.0.0.1:${site}`),
  },
  {
    way: 'an allowed host, but another port',
    server: 'open',
    reached: false,
    try: (call, { otherSite }) => answered(call, `http://127.0.0.1:${otherSite}/`),
  },
  {
    way: 'another host',
    server: 'open',
    reached: false,
    try: (call, { address, site }) => answered(call, `http://${address}:${site}/`),
  },
  {
    way: 'an allowed host and port, with a socket',
    server: 'open',
    reached: false,
    plain: true,
    try: (call, { site }) => connected(call, '127.0.0.1', site),
  },
  {
    way: 'a public address, with a socket',
    server: 'closed',
    reached: false,
    try: (call) => routed(call, 'connect', '1.1.1.1', 443),
  },
  {
    way: 'a public IPv6 address, with a socket',
    server: 'closed',
    reached: false,
    try: (call) => routed(call, 'connect', '2606:4700:4700::1111', 443),
  },
  {
    way: 'an address of this machine, with a socket',
    server: 'closed',
    reached: false,
    plain: true,
    try: (call, { address, site }) => connected(call, address, site),
  },
  {
    way: 'the loopback of this machine, with a socket',
    server: 'closed',
    reached: false,
    plain: true,
    try: (call, { site }) => connected(call, '127.0.0.1', site),
  },
  {
    way: 'the loopback of this machine over IPv6, with a socket',
    server: 'closed',
    reached: false,
    plain: true,
    try: (call, { site }) => connected(call, '::1', site),
  },
  {
    way: 'the loopback of this machine, through the proxy, though `allow_host` names it',
    server: 'closed',
    reached: false,
    try: (call, { site }) => answered(call, `http://127.0.0.1:${site}/`),
  },
  {
    way: 'the same over IPv6',
    server: 'closed',
    reached: false,
    try: (call, { site }) => tunnelled(call, `[::1]:${site}`),
  },
  {
    way: 'the same in another spelling (`2130706433`)',
    server: 'closed',
    reached: false,
    try: (call, { site }) => tunnelled(call, `2130706433:${site}`),
  },
  {
    way: 'the gateway (`host.docker.internal`), through the proxy',
    server: 'closed',
    reached: false,
    try: (call, { site }) => answered(call, `http://host.docker.internal:${site}/`),
  },
  {
    way: 'the gateway of the bridge of an engine, with a socket',
    server: 'closed',
    reached: false,
    try: (call, { site }) => routed(call, 'connect', '172.17.0.1', site),
  },
  {
    way: 'the metadata address, with a socket',
    server: 'closed',
    reached: false,
    try: (call) => routed(call, 'connect', '169.254.169.254', 80),
  },
  {
    way: 'the metadata address, through the proxy, though `allow_host` names it',
    server: 'closed',
    reached: false,
    try: (call) => answered(call, 'http://169.254.169.254/'),
  },
  {
    way: 'a resolver of this machine, with UDP',
    server: 'closed',
    reached: false,
    plain: true,
    try: async (call, { udp }) => (await call('udp', { host: '127.0.0.1', port: udp })) === 'answered',
  },
  {
    way: 'a public resolver, with UDP',
    server: 'closed',
    reached: false,
    try: (call) => routed(call, 'udp', '1.1.1.1', 53),
  },
  {
    way: 'a public resolver, with TCP',
    server: 'closed',
    reached: false,
    try: (call) => routed(call, 'connect', '1.1.1.1', 53),
  },
  {
    way: 'a name, looked up',
    server: 'closed',
    reached: false,
    try: async (call) => !(await call('resolve', { host: 'data.attacker.example' })).startsWith('ERR'),
  },
  {
    way: 'an abstract unix socket of this machine',
    server: 'closed',
    reached: false,
    plain: true,
    try: async (call, { abstract }) => (await call('abstract', { name: abstract })) === 'connected',
  },
];

/** Says `reached` or `stopped` for a way. */
export async function outcome(way: Way, call: Call, around: Surroundings): Promise<'reached' | 'stopped'> {
  return (await way.try(call, around)) ? 'reached' : 'stopped';
}

/** The table of the documents, made from what the tests expect. */
export function isolationTable(): string {
  const row = (...cells: string[]): string => `| ${cells.join(' | ')} |`;
  const word = (reached: boolean | undefined): string =>
    reached === undefined ? '' : reached ? '**reached**' : 'stopped';
  return [
    row('What a server tries to reach', 'process without a profile', 'process, bubblewrap', 'Docker', 'Podman'),
    row('---', '---', '---', '---', '---'),
    ...WAYS.map(({ way, reached, plain }) => row(way, word(plain), ...Array(3).fill(word(reached)))),
  ].join('\n');
}

/** Listeners that answer whoever finds them. */
export async function startSurroundings(): Promise<Surroundings> {
  const page = createSite((_request, response) => void response.end('hello'));
  const other = createSite((_request, response) => void response.end('hello'));
  const abstract = `sally-test-${process.pid}-${Date.now()}`;
  const named = createServer((socket) => void socket.on('error', () => {}).destroy());
  const udp = createSocket('udp4').on('message', (_text, from) => udp.send('yes', from.port, from.address));
  // Every address, IPv6 included.
  await Promise.all([listening(page, { port: 0, host: '::' }), listening(other, { port: 0, host: '::' })]);
  await listening(named, { path: `\0${abstract}` });
  await new Promise<void>((resolve) => udp.bind(0, '127.0.0.1', resolve));
  return {
    site: (page.address() as AddressInfo).port,
    otherSite: (other.address() as AddressInfo).port,
    address: ownAddress(),
    udp: udp.address().port,
    abstract,
    async [Symbol.asyncDispose]() {
      udp.close();
      const closed = [page, other, named].map((server) => new Promise((resolve) => server.close(resolve)));
      for (const site of [page, other]) site.closeAllConnections();
      await Promise.all(closed);
    },
  };
}

function listening(server: Server, where: object): Promise<void> {
  return new Promise((resolve, reject) => server.once('error', reject).listen(where, resolve));
}

/** An address that is not loopback; where a machine has none, there is nothing to keep a server from. */
function ownAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.2';
}
