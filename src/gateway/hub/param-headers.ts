import { SallyError } from '../../base/index.ts';
import { decodeHeaderValue, type HeaderParam, mirroredText } from '../../mcp/index.ts';
import type { Call } from '../call.ts';

/** Arguments that a tool wants repeated as headers must be repeated truly: whoever decides by the header must not be deceived. */
export function checkParamHeaders(call: Call, params: readonly HeaderParam[]): void {
  if (call.client.era !== 'modern') return;
  for (const { header, path } of params) {
    const name = `mcp-param-${header.toLowerCase()}`;
    const expected = mirroredText(call.params, path);
    const value = call.paramHeaders?.[name];
    const said = value === undefined ? undefined : decodeHeaderValue(value);
    if (expected === undefined ? value === undefined : said !== undefined && equal(said, expected)) continue;
    throw new SallyError(
      'call.header_mismatch',
      `the header ${name} ${said === undefined ? 'is missing or malformed' : 'differs from the argument'}`,
    );
  }
}

/** `1.0` and `1` are one integer. */
function equal(said: string, expected: string): boolean {
  return said === expected || (/^-?[0-9]+$/.test(expected) && Number(said) === Number(expected));
}
