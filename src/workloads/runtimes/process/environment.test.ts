import { describe, expect, it } from 'vitest';
import { Secret } from '../../../base/index.ts';
import { serverEnvironment } from './environment.ts';

describe('the environment of a server', () => {
  it('has what programs and package tools need', () => {
    const ours = {
      PATH: '/bin',
      HOME: '/home/alice',
      LC_ALL: 'C.UTF-8',
      XDG_CACHE_HOME: '/cache',
      https_proxy: 'http://proxy',
      NO_PROXY: 'localhost',
      npm_config_registry: 'https://npm.example',
      UV_INDEX_URL: 'https://pypi.example',
      GOPROXY: 'direct',
    };
    expect(serverEnvironment(ours, {})).toEqual(ours);
  });

  it('has nothing else of ours', () => {
    const ours = {
      SALLYPORT_SECRET_X: 'x',
      SALLYPORT_HOME: '/x',
      AWS_SECRET_ACCESS_KEY: 'x',
      GOOGLE_APPLICATION_CREDENTIALS: '/x',
      GITHUB_TOKEN: 'x',
      NODE_OPTIONS: '--inspect',
      UV_PUBLISH_TOKEN: 'x',
      LD_PRELOAD: 'x.so',
      PATHOLOGY: 'x',
      UNSET: undefined,
    };
    expect(serverEnvironment(ours, {})).toEqual({});
  });

  it('takes the own variables of the server last, and reveals its secrets', () => {
    const own = { PATH: '/opt/bin', TOKEN: new Secret('t'), SALLYPORT_SECRET_MINE: 'asked for' };
    expect(serverEnvironment({ PATH: '/bin' }, own)).toEqual({
      PATH: '/opt/bin',
      TOKEN: 't',
      SALLYPORT_SECRET_MINE: 'asked for',
    });
  });
});
