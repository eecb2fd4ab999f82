import { type ErrorCode, SallyError } from '../../base/index.ts';
import type { FieldPath } from '../walk.ts';

/** Counted from 1, as editors do. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Where a resource was written, and how to find a field of it. A field that is missing is where its parent is. */
export interface Origin {
  readonly file: string;
  locate(path: FieldPath): Position;
}

/** What a source read, before anybody looked at it. */
export interface RawResource {
  readonly value: unknown;
  readonly origin: Origin;
}

export interface Problem extends Position {
  readonly file: string;
  /** `MCPServer/notes`, when the document says so much. */
  readonly resource?: string;
  /** `spec.env[0].name`; empty for the document itself. */
  readonly path: string;
  readonly message: string;
  /** What to write instead, in one phrase. */
  readonly hint?: string;
}

/** A problem before it knows its file: what is wrong at which field of a resource. */
export interface Finding {
  readonly path: FieldPath;
  readonly message: string;
  readonly hint?: string;
}

export function problemAt(origin: Origin, resource: string | undefined, finding: Finding): Problem {
  return {
    file: origin.file,
    ...origin.locate(finding.path),
    ...(resource === undefined ? {} : { resource }),
    path: formatPath(finding.path),
    message: finding.message,
    ...(finding.hint === undefined ? {} : { hint: finding.hint }),
  };
}

/** `spec.env[0].name`; a key that is not a plain word is quoted: `data["ca.crt"]`. */
export function formatPath(path: FieldPath): string {
  let text = '';
  for (const key of path) {
    if (typeof key === 'number') text += `[${key}]`;
    else if (/^[A-Za-z_][\w-]*$/.test(key)) text += text === '' ? key : `.${key}`;
    else text += `[${quoted(key)}]`;
  }
  return text;
}

/** One line: `desk.yaml:12:5: MCPServer/notes: spec.image: is required (hint)`. */
export function formatProblem(problem: Problem): string {
  const place = `${printable(problem.file)}:${problem.line}:${problem.column}`;
  const words = [place, problem.resource, problem.path, problem.message].filter((part) => part);
  return `${words.join(': ')}${problem.hint === undefined ? '' : ` (${problem.hint})`}`;
}

/** `desk.yaml:12:5`, for a message about one field that names another. */
export function formatPlace(origin: Origin, path: FieldPath): string {
  const { line, column } = origin.locate(path);
  return `${printable(origin.file)}:${line}:${column}`;
}

/** A file may have any name; one that would write on the terminal or start a new line is quoted. */
function printable(file: string): string {
  return file.search(UNSEEN) < 0 ? file : quoted(file);
}

/** A text in quotes, with nothing in it that a terminal obeys: JSON leaves C1 controls and changes of direction in. */
export function quoted(text: string): string {
  return JSON.stringify(text).replaceAll(UNSEEN, (unseen) => `\\u{${unseen.codePointAt(0)?.toString(16)}}`);
}

const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Everything that is wrong with a set of resources. */
export class ConfigError extends SallyError {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[], code: ErrorCode = 'config.invalid') {
    super(code, problems.length === 1 ? '1 problem in the resources' : `${problems.length} problems in the resources`);
    this.name = 'ConfigError';
    this.problems = problems;
  }

  override get details(): readonly string[] {
    return this.problems.map(formatProblem);
  }
}
