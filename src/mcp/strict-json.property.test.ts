import { it } from 'vitest';
import { check } from '../../test/fuzz/properties/property.ts';
import { strictJson } from '../../test/fuzz/properties/strict-json.ts';

it.each(strictJson)('$says', async (property) => {
  await check(property);
});
