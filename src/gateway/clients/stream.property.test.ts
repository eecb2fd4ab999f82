import { it } from 'vitest';
import { check } from '../../../test/fuzz/properties/property.ts';
import { stream } from '../../../test/fuzz/properties/stream.ts';

it.each(stream)('$says', async (property) => {
  await check(property);
});
