/** Text in columns, two spaces apart. Numbers lean to the right. */
export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => String(row[column] ?? '').length)),
  );
  const line = (cells: readonly (string | number)[]): string =>
    cells
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return typeof cell === 'number' ? String(cell).padStart(width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd();
  const titles = head.map((title, column) =>
    typeof rows[0]?.[column] === 'number' ? title.padStart(widths[column] ?? 0) : title,
  );
  return `${[titles, ...rows].map(line).join('\n')}\n`;
}

export type OutputFormat = 'text' | 'json';

/** Machines get one JSON value, people get text. */
export function json(value: unknown): string {
  const text = JSON.stringify(value, undefined, 2);
  return `${text.replaceAll(OBEYED, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`)}\n`;
}

/** JSON leaves these as they are and a terminal obeys them. They stand in texts only, where an escape means the same. */
const OBEYED = /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;
