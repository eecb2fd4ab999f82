import { describe, expect, it } from 'vitest';
import { pastDoors } from '../scripts/doors.ts';

const DOORS = new Map([
  ['one', { file: '/src/other/one.ts', name: 'one' }],
  ['two', { file: '/src/other/inner/two.ts', name: 'zwei' }],
]);
const straight = (text: string): Promise<string> => pastDoors(text, '/src/here/file.ts', async () => DOORS);

describe('a door, in the build', () => {
  it('leads straight to the file behind it', async () => {
    expect(await straight(`import { one, two as other, type Three } from '../other/index.ts';\nuse(one);\n`)).toBe(
      `import { one as one } from './../other/one.ts'; import { zwei as other } from './../other/inner/two.ts';\nuse(one);\n`,
    );
    expect(await straight(`export { one } from '../other/index.ts';`)).toBe(
      `export { one as one } from './../other/one.ts';`,
    );
  });

  it('moves no line', async () => {
    const text = `import {\n  one,\n  type Three,\n} from '../other/index.ts';\nimport x from 'y';\nuse(one);\n`;
    const lines = (await straight(text)).split('\n');
    expect(lines.indexOf('use(one);')).toBe(text.split('\n').indexOf('use(one);'));
  });

  it('stays where it is when it makes what it hands out itself, and for whoever takes all of it', async () => {
    expect(await straight(`import { own } from '../other/index.ts';`)).toBe(
      `import { own as own } from './../other/index.ts';`,
    );
    const all = `import * as other from '../other/index.ts';\nconst { one } = await import('../other/index.ts');\n`;
    expect(await straight(all)).toBe(all);
  });
});
