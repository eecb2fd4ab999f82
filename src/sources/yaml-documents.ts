import {
  type Document,
  type ErrorCode,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  type ParsedNode,
  parseAllDocuments,
  visit,
  type YAMLMap,
} from 'yaml';
import type { FieldPath, Origin, Position, Problem, RawResource } from '../resources/index.ts';

/** What a source found: documents to be checked, and texts that are none. */
export interface Read {
  readonly raw: readonly RawResource[];
  readonly problems: readonly Problem[];
}

/** A few anchors are handy; a tree of them that unfolds to gigabytes is an attack. */
const MAX_UNFOLDED = 100;
/** Each alias is a search through the document. */
const MAX_ALIASES = 1_000;

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
    for (const { pos, code, message } of faults) refuse(pos[0], WORDS[code] ?? withoutSource(message));
    if (faults.length > 0 || !document.contents) continue;
    const indexes = new WeakMap<YAMLMap, PairIndex>();
    const locate = (path: FieldPath): Position => positionIn(lines, offsetOf(document, indexes, path));
    try {
      const repeated = indexKeys(document, indexes);
      for (const offset of repeated) refuse(offset, 'map keys must be unique');
      const value: unknown = repeated.length > 0 ? null : document.toJS({ maxAliasCount: MAX_UNFOLDED });
      if (value !== null) raw.push(...unpack(value, { file, locate }));
    } catch (error) {
      refuse(startOf(document.contents) ?? 0, why(error));
    }
  }
  return { raw, problems };
}

function parse(text: string, lines: LineCounter, refuse: (offset: number, why: string) => void): Document.Parsed[] {
  try {
    return parseAllDocuments(text, {
      lineCounter: lines,
      version: '1.2',
      schema: 'core',
      prettyErrors: false,
      logLevel: 'error', // what it would print, it also returns
      stringKeys: true, // a list as a key would become a text nobody wrote
      uniqueKeys: false, // it compares every pair, which takes minutes for the keys of 1 MiB; see indexKeys
    });
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

type PairIndex = ReadonlyMap<string, Pair>;

/** Fills the index of each map, so that keys are found without a search. Returns where a key is repeated; throws for too many aliases. */
function indexKeys(document: Document.Parsed, indexes: WeakMap<YAMLMap, PairIndex>): number[] {
  const repeated: number[] = [];
  let aliases = 0;
  visit(document, {
    Alias() {
      aliases += 1;
      if (aliases > MAX_ALIASES) throw new Error(`it has more than ${MAX_ALIASES} aliases`);
    },
    Map(_, map) {
      const pairs = new Map<string, Pair>();
      for (const pair of map.items) {
        const key = nameOf(pair);
        if (pairs.has(key)) repeated.push(startOf(pair.key) ?? 0);
        else pairs.set(key, pair);
      }
      indexes.set(map, pairs);
    },
  });
  return repeated;
}

function nameOf({ key }: Pair): string {
  return String((isScalar(key) ? key.value : key) ?? '');
}

/** Where the key of a field stands, or the entry of a list; for a field that is not there, its nearest parent. */
function offsetOf(document: Document.Parsed, indexes: WeakMap<YAMLMap, PairIndex>, path: FieldPath): number {
  let node: unknown = document.contents;
  let offset = startOf(node) ?? 0;
  for (const step of path) {
    const target: unknown = isAlias(node) ? node.resolve(document) : node;
    if (isMap(target)) {
      const pair = indexes.get(target)?.get(String(step));
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

/** Where the words of the parser are about its options, or repeat what was written. */
const WORDS: Readonly<Partial<Record<ErrorCode, string>>> = {
  NON_STRING_KEY: 'a key must be a plain text, not a list, a mapping or an alias',
  TAG_RESOLVE_FAILED: 'it has a tag that is not known here',
  BAD_DQ_ESCAPE: 'it has an escape sequence that does not exist',
  BAD_DIRECTIVE: 'it has a directive that is not known here',
};

/** The parser quotes the text it stumbled over, which may be half a secret; the place says enough. */
function withoutSource(message: string): string {
  return message.replace(/: .*$/s, '');
}

function why(error: unknown): string {
  if (error instanceof RangeError) return 'it is nested too deeply';
  return error instanceof Error ? withoutSource(error.message) : 'it cannot be read';
}
