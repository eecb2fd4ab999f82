import { expect, it } from 'vitest';
import { createMemoryBroadcast } from './broadcast.ts';

function ear() {
  const words: string[] = [];
  return {
    words,
    heard: (text: string) => words.push(text),
    listening: (is: boolean) => words.push(`listening ${is}`),
  };
}

it('everybody who listens to a channel hears what is said there, until he leaves', async () => {
  const broadcast = createMemoryBroadcast();
  const [one, two, elsewhere] = [ear(), ear(), ear()];
  const leave = broadcast.subscribe('revoked', one);
  broadcast.subscribe('revoked', two);
  broadcast.subscribe('other', elsewhere);
  await broadcast.publish('revoked', 'a');
  leave();
  leave();
  await broadcast.publish('revoked', 'b');
  expect(one.words).toEqual(['listening true', 'a']);
  expect(two.words).toEqual(['listening true', 'a', 'b']);
  expect(elsewhere.words).toEqual(['listening true']);
});
