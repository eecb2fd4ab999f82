interface Extras {
  readonly retryAfter?: number;
  readonly incident?: string;
}

/** An error as OAuth knows it: one of the codes of its RFCs, and a sentence for the developer of the client. */
export class OAuthError extends Error {
  readonly status: number;
  readonly code: string;
  /** Seconds after which it is worth another try. */
  readonly retryAfter: number | undefined;
  /** Under this id the log knows more. */
  readonly incident: string | undefined;

  constructor(status: number, code: string, description: string, { retryAfter, incident }: Extras = {}) {
    super(description);
    this.status = status;
    this.code = code;
    this.retryAfter = retryAfter;
    this.incident = incident;
  }
}
