import { it } from 'vitest';
import { headers } from '../../test/fuzz/properties/headers.ts';
import { check } from '../../test/fuzz/properties/property.ts';

it.each(headers)('$says', async (property) => {
  await check(property);
});
