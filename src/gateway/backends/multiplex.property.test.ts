import { it } from 'vitest';
import { multiplex } from '../../../test/fuzz/properties/multiplex.ts';
import { check } from '../../../test/fuzz/properties/property.ts';

it.each(multiplex)('$says', async (property) => {
  await check(property);
});
