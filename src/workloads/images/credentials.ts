import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../launch.ts';
import { parseImageName } from './distribution/image-name.ts';

/** What an engine needs to fetch from a private registry. */
export interface RegistryCredential {
  readonly username?: string;
  readonly password?: string;
  readonly identitytoken?: string;
  readonly serveraddress: string;
}

const HUB = 'https://index.docker.io/v1/';
const ASK_WITHIN = 10_000;

/** What `docker login` or `podman login` left for the registry of an image. Nothing when there is nothing: then nobody logs in. */
export async function credentialFor(reference: string, env: Environment): Promise<RegistryCredential | undefined> {
  const host = registryOf(reference);
  const home = env.HOME || homedir();
  const files = [
    join(env.DOCKER_CONFIG || join(home, '.docker'), 'config.json'),
    ...(env.REGISTRY_AUTH_FILE ? [env.REGISTRY_AUTH_FILE] : []),
    ...(env.XDG_RUNTIME_DIR ? [join(env.XDG_RUNTIME_DIR, 'containers/auth.json')] : []),
    join(home, '.config/containers/auth.json'),
  ];
  for (const file of files) {
    const found = await lookIn(file, host, env);
    if (found) return found;
  }
  return undefined;
}

/** The host part of an image reference; Docker Hub where it has none. */
export function registryOf(reference: string): string {
  const { registry } = parseImageName(reference);
  return registry === 'docker.io' ? HUB : registry;
}

interface AuthFile {
  readonly auths?: Readonly<Record<string, { readonly auth?: string; readonly identitytoken?: string }>>;
  readonly credHelpers?: Readonly<Record<string, string>>;
  readonly credsStore?: string;
}

async function lookIn(file: string, host: string, env: Environment): Promise<RegistryCredential | undefined> {
  const said = await readFile(file, 'utf8').then(
    (text) => parse(text),
    () => undefined,
  );
  if (!said) return undefined;
  const names = host === HUB ? [HUB, 'docker.io', 'index.docker.io'] : [host, `https://${host}`, `https://${host}/v2/`];
  for (const name of names) {
    const { auth, identitytoken } = said.auths?.[name] ?? {};
    const [, username, password] = /^([^:]*):(.*)$/s.exec(Buffer.from(auth ?? '', 'base64').toString()) ?? [];
    if (identitytoken) return { identitytoken, serveraddress: host };
    if (username && password) return { username, password, serveraddress: host };
    const helper = said.credHelpers?.[name] ?? said.credsStore;
    const answer = helper === undefined ? undefined : await askHelper(helper, name, env);
    if (answer) return { ...answer, serveraddress: host };
  }
  return undefined;
}

function parse(text: string): AuthFile | undefined {
  try {
    return JSON.parse(text) as AuthFile;
  } catch {
    return undefined; // the engines' own commands say what is wrong with it
  }
}

/** The program that keeps the password, as the engines' own commands ask it: the name on stdin, JSON on stdout. */
function askHelper(
  helper: string,
  name: string,
  env: Environment,
): Promise<Omit<RegistryCredential, 'serveraddress'> | undefined> {
  if (!/^[A-Za-z0-9_.-]+$/.test(helper)) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const child = execFile(
      `docker-credential-${helper}`,
      ['get'],
      { timeout: ASK_WITHIN, env: { PATH: env.PATH, HOME: env.HOME } },
      (error, stdout) => {
        if (error) return resolve(undefined); // it has none for this registry, or is not here
        try {
          const { Username, Secret } = JSON.parse(stdout) as { Username?: string; Secret?: string };
          if (!Username || !Secret) return resolve(undefined);
          resolve(Username === '<token>' ? { identitytoken: Secret } : { username: Username, password: Secret });
        } catch {
          resolve(undefined);
        }
      },
    );
    child.stdin?.on('error', () => {}); // it ended early, and says so
    child.stdin?.end(name);
  });
}
