import { describe, expect, it } from 'vitest';
import { BUILT_IN } from './profile.ts';
import { parseVolume, volumesOf } from './volumes.ts';

describe('a volume', () => {
  it.each([
    ['/srv/data:/data', { source: '/srv/data', target: '/data', readOnly: false }],
    ['/srv/data:/data:ro', { source: '/srv/data', target: '/data', readOnly: true }],
    ['/srv/data:/data:rw', { source: '/srv/data', target: '/data', readOnly: false }],
    ['/srv/data', { source: '/srv/data', target: '/srv/data', readOnly: false }],
    ['./here:/a/../data/', { source: '/from/here', target: '/data', readOnly: false }],
  ])('%s', (text, volume) => {
    expect(parseVolume(text, '/from')).toEqual(volume);
  });

  it.each([
    '',
    ':/data',
    '/a:/b:/c',
    '/a:b',
    '/a:/',
    '/a:/proc',
    '/a:/sys/fs',
    '/a:/dev',
    '/a:/x/../proc/1',
    '/a:/b:z',
    '/a\n:/b',
  ])('is not %j', (text) => {
    expect(() => parseVolume(text, '/')).toThrow('cannot be mounted');
  });

  it('has a place of its own, and a source that is there', async () => {
    await expect(volumesOf(BUILT_IN.none, ['/tmp:/data', '/etc:/data'], '/')).rejects.toThrow(
      'the place of /tmp already',
    );
    await expect(volumesOf(BUILT_IN.none, ['/nowhere-at-all:/data'], '/')).rejects.toThrow('there is nothing');
    await expect(volumesOf({ ...BUILT_IN.none, read: ['/tmp:/data'] }, [], '/')).resolves.toEqual([
      { source: '/tmp', target: '/data', readOnly: true },
    ]);
  });
});
