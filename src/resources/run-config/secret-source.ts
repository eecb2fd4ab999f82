import { z } from 'zod';

/** A value that is read when the workload starts, and never stands in the file itself. */
const SECRET_SOURCE = /^(?:env:[A-Za-z_][A-Za-z0-9_]*|file:\/.+|secret:[^,\s]+)$/;

export const SecretSource = z
  .string()
  .max(4096)
  .regex(SECRET_SOURCE, 'must be env:VARIABLE, file:/PATH or secret:NAME; a value of its own has no place here');
