import type { IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import { addressOf } from './source.ts';

it.each([
  ['8.8.8.8', '8.8.8.8'],
  ['::ffff:8.8.8.8', '8.8.8.8'],
  ['2606:4700::1111', '2606:4700:0:0'],
  ['2606:4700:1:2:3:4:5:6', '2606:4700:1:2'],
  ['2606:4700:1:2::9', '2606:4700:1:2'],
  ['127.0.0.1', undefined],
  ['::1', undefined],
  ['10.0.0.1', undefined],
  [undefined, undefined],
])('%s is counted as %s', (remoteAddress, source) => {
  const request = {
    socket: { remoteAddress },
    headers: { 'x-forwarded-for': '1.2.3.4' },
  } as unknown as IncomingMessage;
  expect(addressOf(request)).toBe(source);
});
