import { spawn } from 'node:child_process';

/** Asks the system to open an address. It may have no browser: whoever calls prints the address as well. */
export function openBrowser(url: URL): void {
  const [program, ...args] = opener(process.platform);
  const child = spawn(program, [...args, url.href], { stdio: 'ignore', detached: true });
  child.on('error', () => {}); // no such program; the address is on the screen
  child.unref();
}

/** The address is an argument of its own and never passes through a shell. */
function opener(platform: NodeJS.Platform): readonly [string, ...string[]] {
  if (platform === 'darwin') return ['open'];
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  return ['xdg-open'];
}
