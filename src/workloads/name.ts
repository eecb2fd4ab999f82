import { isIP } from 'node:net';
import { SallyError } from '../base/index.ts';

const LONGEST = 100;
const NAMELESS = 'sallyport-workload';

/** Second-level labels under which countries register names: in `mcp.acme.co.uk` the name is `acme`, not `co`. */
const REGISTRY_LABELS = new Set(['ac', 'co', 'com', 'edu', 'gov', 'go', 'ne', 'net', 'or', 'org']);

/** The name of a workload whose author gave none: `npx://@acme/notes@2.1.0` is `acme-notes-2-1-0`, `https://mcp.acme.dev/mcp` is `acme`, `ghcr.io/acme/notes:1.4` is `acme-notes`. */
export function workloadNameFor(reference: string): string {
  const remote = /^https?:\/\//i.test(reference) ? URL.parse(reference) : null;
  const isImage = !/^[a-z]+:\/\//i.test(reference);
  const name = remote
    ? hostName(remote.hostname)
    : isImage
      ? imageName(reference)
      : packageName(reference.replace(/^[a-z]+:\/\//, ''));
  // What the grammars allow beyond our alphabet (`pkg[extra]`, `v1.0.0+meta`, IPv6) becomes a dash as well.
  const plain = name.replace(/[^A-Za-z0-9_-]+/g, '-').slice(0, LONGEST);
  return plain.replace(/^[-_]+|-+$/g, '') || NAMELESS;
}

/** A name ends up in file names, labels, log lines and on command lines, and must be harmless in all of them. */
export function checkWorkloadName(name: string): void {
  const problem = whyNoName(name);
  if (problem === undefined) return;
  throw new SallyError('usage.invalid', `${JSON.stringify(shortened(name))} cannot name a workload: ${problem}`, {
    hint: 'use letters, digits, dots, dashes and underscores',
  });
}

function whyNoName(name: string): string | undefined {
  if (name === '') return 'it is empty';
  if (name.length > LONGEST) return `it has more than ${LONGEST} characters`;
  const stranger = /[^A-Za-z0-9._-]/u.exec(name);
  if (stranger) return `${JSON.stringify(stranger[0])} is not allowed`;
  if (/^\.+$/.test(name)) return 'it means a folder';
  if (name.startsWith('-')) return 'it starts like a flag';
  return undefined;
}

/** The last two parts of its path, without host, tag and digest. */
function imageName(text: string): string {
  const path = text
    .replace(/@.*$/, '')
    .replace(/:[^/:]*$/, '')
    .split('/');
  const isHost = path.length > 1 && /[.:]|^localhost$/.test(path[0] ?? '');
  return (isHost ? path.slice(1) : path).slice(-2).join('-');
}

function packageName(text: string): string {
  return text.replace(/^(\.{1,2}\/)+/, '').replace(/[/@.]/g, '-');
}

function hostName(host: string): string {
  const address = host.replace(/^\[|\]$/g, '');
  if (isIP(address)) return address;
  const labels = host.split('.').filter((label) => label !== '');
  const [name = host] = labels.slice(-2);
  const country = (labels.at(-1) ?? '').length === 2;
  const underRegistry = country && labels.length > 2 && REGISTRY_LABELS.has(name);
  return underRegistry ? (labels.at(-3) ?? name) : name;
}

function shortened(name: string): string {
  return name.length > LONGEST ? `${name.slice(0, LONGEST)}…` : name;
}
