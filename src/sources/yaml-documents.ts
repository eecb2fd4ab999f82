import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type ParsedNode,
  parseAllDocuments,
} from 'yaml';
import type { FieldPath, Origin, Position, Problem, RawResource } from '../resources/index.ts';

/** What a source found: documents to be checked, and texts that are none. */
export interface Read {
  readonly raw: readonly RawResource[];
  readonly problems: readonly Problem[];
}

/** A few anchors are handy; a tree of them that unfolds to gigabytes is an attack. */
const MAX_ALIASES = 100;

/** The resources in one text: several documents, and lists as `kubectl get -o yaml` prints them. JSON is YAML too. */
export function readDocuments(file: string, text: string): Read {
  const lines = new LineCounter();
  const raw: RawResource[] = [];
  const problems: Problem[] = [];
  const refuse = (offset: number, why: string): void => {
    problems.push({ file, ...positionIn(lines, offset), path: '', message: `is not valid YAML: ${why}` });
  };

  for (const document of parse(text, lines, refuse)) {
    const faults = [...document.errors, ...document.warnings];
    for (const { pos, message } of faults) refuse(pos[0], withoutSource(message));
    if (faults.length > 0 || !document.contents) continue;
    const start = offsetOf(document, []);
    const locate = (path: FieldPath): Position => positionIn(lines, offsetOf(document, path));
    try {
      const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
      if (value !== null) raw.push(...unpack(value, { file, locate }));
    } catch (error) {
      refuse(start, why(error));
    }
  }
  return { raw, problems };
}

function parse(text: string, lines: LineCounter, refuse: (offset: number, why: string) => void): Document.Parsed[] {
  try {
    return parseAllDocuments(text, { lineCounter: lines, version: '1.2', schema: 'core', prettyErrors: false });
  } catch (error) {
    // The parser recurses: brackets nested a hundred thousand deep end its stack, not our process.
    refuse(0, why(error));
    return [];
  }
}

function unpack(value: unknown, origin: Origin): RawResource[] {
  const list = value as { readonly kind?: unknown; readonly items?: unknown };
  if (list.kind !== 'List' || !Array.isArray(list.items)) return [{ value, origin }];
  return list.items.map((item: unknown, index) => ({
    value: item,
    origin: { file: origin.file, locate: (path) => origin.locate(['items', index, ...path]) },
  }));
}

/** Where the key of a field stands, or the entry of a list; for a field that is not there, its nearest parent. */
function offsetOf(document: Document.Parsed, path: FieldPath): number {
  let node: unknown = document.contents;
  let offset = startOf(node) ?? 0;
  for (const step of path) {
    const target: unknown = isAlias(node) ? node.resolve(document) : node;
    if (isMap(target)) {
      const pair = target.items.find(({ key }) => String(isScalar(key) ? key.value : key) === String(step));
      if (!pair) return offset;
      offset = startOf(pair.key) ?? offset;
      node = pair.value;
    } else if (isSeq(target) && typeof step === 'number' && step < target.items.length) {
      node = target.items[step];
      offset = startOf(node) ?? offset;
    } else {
      return offset;
    }
  }
  return offset;
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? (node as ParsedNode).range?.[0] : undefined;
}

function positionIn(lines: LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset);
  // An empty text has no line; editors still show it as line 1.
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}

/** The parser quotes the text it stumbled over, which may be half a secret; the place says enough. */
function withoutSource(message: string): string {
  return message.replace(/: ".*$/s, '');
}

function why(error: unknown): string {
  if (error instanceof RangeError) return 'it is nested too deeply';
  return error instanceof Error ? error.message : 'it cannot be read';
}
