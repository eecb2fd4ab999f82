import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromiumProgram } from './browser.ts';
import { ensurePrograms } from './programs.ts';
import { ROOT } from './sally.ts';

/** Before the integration tests: what they start is the built program, and what it starts is on this machine. */
export function setup(): () => void {
  ensurePrograms();
  chromiumProgram();
  execFileSync(process.execPath, ['scripts/build.ts'], { cwd: ROOT, stdio: 'inherit' });
  // Workers are ended from outside and cannot clean up, so what commands remember lies in one folder that we remove.
  const homes = mkdtempSync(join(tmpdir(), 'sally-test-homes-'));
  process.env.TEST_HOMES = homes;
  return () => rmSync(homes, { recursive: true, force: true });
}
