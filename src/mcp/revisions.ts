/** The stateful revisions we speak, newest first. They open with `initialize` and differ little in what a gateway touches. */
export const REVISIONS = ['2025-11-25', '2025-06-18', '2025-03-26'] as const;
export type Revision = (typeof REVISIONS)[number];

export const LATEST_REVISION: Revision = REVISIONS[0];

export function isRevision(text: unknown): text is Revision {
  return (REVISIONS as readonly unknown[]).includes(text);
}

/** The lifecycle rule of MCP: answer the revision that was asked for if we speak it, else our newest. */
export function agreeOnRevision(asked: unknown): Revision {
  return isRevision(asked) ? asked : LATEST_REVISION;
}
