import type { Content, Found } from './files.ts';

/**
 * Whether a file is meant for us. YAML always is. Servers keep their own `.json` next to it (state, caches), so JSON that
 * lies in a folder counts when it is an object with `kind` or `apiVersion`, which a list of `kubectl` has too. A text that
 * is not JSON counts when it mentions one of the two: a broken resource must be reported, half of somebody's state must
 * not stop a reload. One that is too large to tell is not ours. A file that was named by its own path always counts.
 */
export function isMeantForUs(file: Found, content: Content): boolean {
  if (!isDoubtful(file)) return true;
  if (content.is !== 'text') return content.is === 'unreadable';
  try {
    const value: unknown = JSON.parse(content.text);
    if (typeof value !== 'object' || value === null) return false;
    return Object.hasOwn(value, 'kind') || Object.hasOwn(value, 'apiVersion');
  } catch {
    return /"(kind|apiVersion)"\s*:/.test(content.text);
  }
}

/** Only its content tells whether it is meant for us. */
export function isDoubtful({ path, named }: Found): boolean {
  return !named && path.toLowerCase().endsWith('.json');
}
