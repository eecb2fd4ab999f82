import { chmod, mkdtemp, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { askSupervisor } from './ask-supervisor.ts';
import { openControl, socketPath } from './control-socket.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sally-ctl-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('the control socket', () => {
  it('tells its owner how it is, and stops when it is asked to', async () => {
    const socket = await socketPath(folder, 'a1');
    let stopped = 0;
    const control = await openControl(socket, {
      report: () => ({ instance: 'a1', phase: 'running', endpoints: [] }),
      stop: () => {
        stopped += 1;
      },
    });
    expect((await stat(socket)).mode & 0o777).toBe(0o600);
    expect(await askSupervisor({ socket, instance: 'a1' })).toMatchObject({ phase: 'running' });
    expect(await askSupervisor({ socket, instance: 'another' })).toBeUndefined();
    expect(stopped).toBe(0);
    await askSupervisor({ socket, instance: 'a1' }, 'stop');
    expect(stopped).toBe(1);
    await control.close();
    expect(await askSupervisor({ socket, instance: 'a1' })).toBeUndefined();
    await expect(stat(socket)).rejects.toThrow();
  });

  it('is not believed when it talks nonsense, or without end', async () => {
    const socket = join(folder, 'x.sock');
    let body = 'nonsense';
    const server = createServer((_request, response) => void response.end(body));
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    expect(await askSupervisor({ socket, instance: 'a1' })).toBeUndefined();
    body = `"${'x'.repeat(6 * 1024 * 1024)}"`;
    expect(await askSupervisor({ socket, instance: 'a1' })).toBeUndefined();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('has a path that the system takes, however deep the state lies, in a folder that is ours alone', async () => {
    const deep = join(folder, 'x'.repeat(120));
    const path = await socketPath(deep, 'a'.repeat(24));
    expect(Buffer.byteLength(path)).toBeLessThanOrEqual(100);
    const control = await openControl(path, {
      report: () => ({ instance: 'x', phase: 'running', endpoints: [] }),
      stop() {},
    });
    await control.close();
    const shared = dirname(path);
    const { mode } = await stat(shared);
    expect(mode & 0o077).toBe(0);
    await chmod(shared, 0o777);
    try {
      await expect(socketPath(deep, 'b')).rejects.toMatchObject({ code: 'state.unwritable' });
    } finally {
      await chmod(shared, 0o700);
    }
  });
});
