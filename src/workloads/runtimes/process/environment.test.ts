import { describe, expect, it } from 'vitest';
import { Secret } from '../../../base/index.ts';
import type { Environment, ProcessLaunch } from '../../launch.ts';
import { secretsOf, serverEnvironment } from './environment.ts';

const launch = (own: ProcessLaunch['env'] = {}, tool?: ProcessLaunch['tool']): ProcessLaunch => ({
  ...{ name: 'notes', command: 'notes-server', args: [], env: own },
  ...(tool === undefined ? {} : { tool }),
});

/** Without the mark, which is always there. */
function seen(ours: Environment, server: ProcessLaunch): Record<string, string> {
  const { SALLYPORT_GUARDED: _, ...rest } = serverEnvironment(ours, server, 'mark');
  return rest;
}

const SETTINGS = {
  npm: { npm_config_registry: 'https://npm.example', NPM_CONFIG_CACHE: '/npm', npm_config__authToken: 'npm-token' },
  uv: { UV_INDEX_URL: 'https://u:uv-pass@pypi.example', UV_INDEX_CORP_PASSWORD: 'uv-password' },
  go: { GOPROXY: 'https://u:go-pass@go.example,direct', GOPRIVATE: 'acme.dev/private', GOAUTH: 'netrc;git /here' },
};
const ALL_SETTINGS = { ...SETTINGS.npm, ...SETTINGS.uv, ...SETTINGS.go, PIP_INDEX_URL: 'https://u:pw@pypi.example' };

describe('the environment of a server', () => {
  it('has what programs need', () => {
    const ours = {
      PATH: '/bin',
      HOME: '/home/alice',
      LC_ALL: 'C.UTF-8',
      XDG_CACHE_HOME: '/cache',
      https_proxy: 'http://alice:pw@proxy',
      NO_PROXY: 'localhost',
    };
    expect(seen(ours, launch())).toEqual(ours);
  });

  it('has nothing else of ours', () => {
    const ours = {
      SALLYPORT_SECRET_X: 'x',
      SALLYPORT_HOME: '/x',
      AWS_SECRET_ACCESS_KEY: 'x',
      GOOGLE_APPLICATION_CREDENTIALS: '/x',
      GITHUB_TOKEN: 'x',
      NODE_OPTIONS: '--inspect',
      LD_PRELOAD: 'x.so',
      PATHOLOGY: 'x',
      XDG_VAULT_TOKEN: 'x',
      UNSET: undefined,
    };
    for (const tool of [undefined, 'npm', 'uv', 'go'] as const) expect(seen(ours, launch({}, tool))).toEqual({});
  });

  it('has no settings of package tools when it is started directly', () => {
    expect(seen(ALL_SETTINGS, launch())).toEqual({});
  });

  it.each(['npm', 'uv', 'go'] as const)(
    'has the settings of %s, and of no other tool, when that one starts it',
    (tool) => {
      const ours = { ...ALL_SETTINGS, UV_PUBLISH_TOKEN: 'x' };
      expect(seen(ours, launch({}, tool))).toEqual(SETTINGS[tool]);
    },
  );

  it('takes the own variables of the server last, and reveals its secrets', () => {
    const own = { PATH: '/opt/bin', TOKEN: new Secret('t'), SALLYPORT_SECRET_MINE: 'asked for' };
    expect(seen({ PATH: '/bin' }, launch(own))).toEqual({
      PATH: '/opt/bin',
      TOKEN: 't',
      SALLYPORT_SECRET_MINE: 'asked for',
    });
  });

  it('has our mark, whatever its own variables say', () => {
    const own = { SALLYPORT_GUARDED: 'nobody' };
    expect(serverEnvironment({ SALLYPORT_GUARDED: 'ours' }, launch(own), 'mark')).toEqual({
      SALLYPORT_GUARDED: 'mark',
    });
  });
});

describe('the secrets of a server', () => {
  it('are its own, by their type or by their name', () => {
    const own = {
      ANYTHING: new Secret('one'),
      GITHUB_TOKEN: 'two',
      apiKey: 'three',
      API_KEY: 'four',
      DB_PASSWD: 'five',
      MODE: 'plain',
    };
    expect(secretsOf({ GITHUB_TOKEN: 'ours', PATH: '/bin' }, launch(own))).toEqual([
      'one',
      'two',
      'three',
      'four',
      'five',
    ]);
  });

  it('are also passwords inside of URLs', () => {
    const own = { DATABASE_URL: 'postgres://notes:hunter2@db/notes', HOMEPAGE: 'https://example.com:80/@alice' };
    expect(secretsOf({ HTTPS_PROXY: 'http://alice:hunter3@proxy:8080' }, launch(own))).toEqual(
      expect.arrayContaining(['notes:hunter2', 'hunter2', 'alice:hunter3', 'hunter3']),
    );
    expect(secretsOf({}, launch({ HOMEPAGE: own.HOMEPAGE }))).toEqual([]);
  });

  it('are those that its package tool needs, and none of the others', () => {
    expect(secretsOf(ALL_SETTINGS, launch())).toEqual([]);
    expect(secretsOf(ALL_SETTINGS, launch({}, 'npm'))).toEqual(['npm-token']);
    expect(secretsOf(ALL_SETTINGS, launch({}, 'uv'))).toEqual(['u:uv-pass', 'uv-pass', 'uv-password']);
    expect(secretsOf(ALL_SETTINGS, launch({}, 'go'))).toEqual(['u:go-pass', 'go-pass']);
  });
});
