import { type ErrorCode, FACES, type Face } from './faces.ts';

export interface ErrorDetails {
  readonly cause?: unknown;
  /** What the reader should do now, in one phrase without a full stop. */
  readonly hint?: string;
  /** What the protocol wants beside code and message. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/** The one error class. Code throws it and lets it rise; four edges translate it (HTTP, JSON-RPC, OAuth, exit code). */
export class SallyError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly data: Readonly<Record<string, unknown>> | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'SallyError';
    this.code = code;
    this.hint = details.hint;
    this.data = details.data;
  }

  get face(): Face {
    return FACES[this.code];
  }

  /** Lines that belong below the message where there is room for them. */
  get details(): readonly string[] {
    return [];
  }
}

/** Whatever was thrown, as a SallyError. An error that is not ours is a bug of ours until someone gives it a code. */
export function toSallyError(thrown: unknown): SallyError {
  if (thrown instanceof SallyError) return thrown;
  return new SallyError('internal.bug', 'something unexpected happened', { cause: thrown });
}

/** The `code` of a Node or library error ('ENOENT', 'UND_ERR_SOCKET'), if it has one. */
export function codeOf(thrown: unknown): string | undefined {
  if (typeof thrown !== 'object' || thrown === null || !('code' in thrown)) return undefined;
  return typeof thrown.code === 'string' ? thrown.code : undefined;
}
