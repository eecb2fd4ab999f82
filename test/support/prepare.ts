import { execFileSync } from 'node:child_process';
import { chromiumProgram } from './browser.ts';
import { ensurePrograms } from './programs.ts';
import { ROOT } from './sally.ts';

/** Before the integration tests: what they start is the built program, and what it starts is on this machine. */
export function setup(): void {
  ensurePrograms();
  chromiumProgram();
  execFileSync(process.execPath, ['scripts/build.ts'], { cwd: ROOT, stdio: 'inherit' });
}
