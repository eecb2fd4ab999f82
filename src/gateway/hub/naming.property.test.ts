import { it } from 'vitest';
import { naming } from '../../../test/fuzz/properties/naming.ts';
import { check } from '../../../test/fuzz/properties/property.ts';

it.each(naming)('$says', async (property) => {
  await check(property);
});
