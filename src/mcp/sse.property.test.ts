import { it } from 'vitest';
import { check } from '../../test/fuzz/properties/property.ts';
import { sse } from '../../test/fuzz/properties/sse.ts';

it.each(sse)('$says', async (property) => {
  await check(property);
});
