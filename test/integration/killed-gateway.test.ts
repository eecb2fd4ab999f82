import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { groupYaml, installServers } from '../support/mcp-servers.ts';
import { eventually, processesWith } from '../support/processes.ts';
import { startSally, tempFolder } from '../support/sally.ts';

it('takes its servers along within 5 s when it is killed with SIGKILL, even those that ignore everything', async () => {
  const mark = `killed-${process.pid}`;
  await using folder = await tempFolder();
  await installServers(folder.path, ['good', 'deaf']);
  await writeFile(join(folder.path, 'group.yaml'), groupYaml(['good', 'deaf']));
  await using sally = await startSally(['vmcp', 'serve', '-f', folder.path, '--port', '0'], {
    env: { XDG_TEST_MARK: mark },
  });

  // sally, good, deaf and deaf's child; the guardian has an environment of its own.
  await eventually(
    () => processesWith('XDG_TEST_MARK', mark),
    (found) => found.length === 4,
  );
  await sally.stop('SIGKILL');
  await eventually(
    () => processesWith('XDG_TEST_MARK', mark),
    (left) => left.length === 0,
    5_000,
  );
});

it('ends deaf servers too when it is asked to end', async () => {
  const mark = `asked-${process.pid}`;
  await using folder = await tempFolder();
  await installServers(folder.path, ['deaf']);
  await writeFile(join(folder.path, 'group.yaml'), groupYaml(['deaf']));
  await using sally = await startSally(['vmcp', 'serve', '-f', folder.path, '--port', '0'], {
    env: { XDG_TEST_MARK: mark },
  });
  expect(await sally.stop('SIGTERM')).toBe(0);
  expect(processesWith('XDG_TEST_MARK', mark)).toEqual([]);
});
