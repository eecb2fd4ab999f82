import { expect, it } from 'vitest';
import { createBreaker } from './breaker.ts';

function breaker(enabled = true) {
  let time = 0;
  const made = createBreaker({ enabled, threshold: 3, timeout: 100 }, () => time);
  return { breaker: made, pass: (ms: number) => (time += ms) };
}

it('opens after so many failures in a row, and a success in between starts the count anew', () => {
  const { breaker: one } = breaker();
  one.failed();
  one.failed();
  one.succeeded();
  one.failed();
  one.failed();
  expect(one.admits()).toBe(true);
  one.failed();
  expect(one.admits()).toBe(false);
});

it('lets one call through after a while, and closes when that one succeeds', () => {
  const { breaker: one, pass } = breaker();
  for (let count = 0; count < 3; count++) one.failed();
  pass(100);
  expect(one.admits()).toBe(true);
  expect(one.admits()).toBe(false);
  one.succeeded();
  expect(one.admits()).toBe(true);
  expect(one.open).toBe(false);
});

it('stays open when the trial fails', () => {
  const { breaker: one, pass } = breaker();
  for (let count = 0; count < 3; count++) one.failed();
  pass(100);
  expect(one.admits()).toBe(true);
  one.failed();
  expect(one.admits()).toBe(false);
  pass(100);
  expect(one.admits()).toBe(true);
});

it('does nothing when it is switched off', () => {
  const { breaker: one } = breaker(false);
  for (let count = 0; count < 10; count++) one.failed();
  expect(one.admits()).toBe(true);
});
