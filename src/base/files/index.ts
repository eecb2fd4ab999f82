/** Files of ours that several commands share: replaced whole, and changed by one at a time. A door of its own, since it does I/O. */
export { birthOf, isSameProcess, type ProcessIdentity, selfIdentity } from './identity.ts';
export { type LockOptions, withLock } from './lock.ts';
export { readBounded, replaceFile } from './replace.ts';
