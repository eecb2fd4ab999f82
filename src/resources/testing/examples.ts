import { KINDS, kindOf } from '../kinds/all.ts';
import { formatProblem, type Problem, type RawResource } from '../validate/problem.ts';
import { type Validation, type ValidationOptions, validateResources } from '../validate/validate.ts';

/** The examples of all kinds' pages, which together are a set that works, and the Secrets they refer to. */
export const EXAMPLES = `${KINDS.map((kind) => kindOf(kind).example).join('---\n')}---
apiVersion: v1
kind: Secret
metadata: {name: desk-keys}
data: {es256.pem: a2V5, hmac: aG1hYw==}
---
apiVersion: v1
kind: Secret
metadata: {name: tickets}
stringData: {webhook-secret: hush}
`;

interface TextValidator {
  validateText(text: string, options?: ValidationOptions): Validation;
  /** Problems without their places: what is wrong where. */
  problemsOf(text: string, options?: ValidationOptions): string[];
}

/** The reader is in `sources`, which this folder may not know; the tests hand it in. */
export function textValidator(
  read: (file: string, text: string) => { readonly raw: readonly RawResource[]; readonly problems: readonly Problem[] },
): TextValidator {
  const validateText: TextValidator['validateText'] = (text, options) => {
    const { raw, problems } = read('desk.yaml', text);
    if (problems.length > 0) throw new Error(problems.map(formatProblem).join('\n'));
    return validateResources(raw, options);
  };
  return { validateText, problemsOf: (text, options) => validateText(text, options).problems.map(short) };
}

/** The examples with one text replaced by another, which must occur. */
export function changed(...replacements: readonly (readonly [from: string, to: string])[]): string {
  let text = EXAMPLES;
  for (const [from, to] of replacements) {
    if (!text.includes(from)) throw new Error(`not in the examples: ${from}`);
    text = text.replace(from, () => to);
  }
  return text;
}

function short({ resource, path, message, hint }: Problem): string {
  return `${resource ?? '?'}: ${path}: ${message}${hint === undefined ? '' : ` (${hint})`}`;
}
