// @ts-check
// Tables: in texts, and on a terminal.

/**
 * A table in Markdown: names to the left, numbers to the right.
 *
 * @param {readonly string[]} head
 * @param {readonly (readonly (string | number)[])[]} rows
 * @param {number} [names] how many columns, from the first one on, are not numbers
 * @returns {string}
 */
export function markdownTable(head, rows, names = 1) {
  const line = (/** @type {readonly (string | number)[]} */ cells) => `| ${cells.join(' | ')} |`;
  return [
    line(head),
    `|${head.map((_, column) => (column < names ? '---' : '---:')).join('|')}|`,
    ...rows.map(line),
  ].join('\n');
}

/**
 * A text with its tables as a terminal shows them well: cells of a column are as wide as the widest.
 *
 * @param {string} markdown
 * @returns {string}
 */
export function aligned(markdown) {
  return markdown.replace(/(?:^\|.*\|$\n?)+/gm, (table) => {
    const [head = [], marks = [], ...rows] = table
      .trimEnd()
      .split('\n')
      .map((row) =>
        row
          .slice(1, -1)
          .split('|')
          .map((cell) => cell.trim()),
      );
    const widths = head.map((_, column) => Math.max(3, ...[head, ...rows].map((row) => (row[column] ?? '').length)));
    const isNumber = marks.map((mark) => mark.endsWith(':'));
    /** @param {readonly string[]} cells */
    const line = (cells) => {
      const padded = widths.map((width, column) => {
        const cell = cells[column] ?? '';
        return isNumber[column] ? cell.padStart(width) : cell.padEnd(width);
      });
      return `| ${padded.join(' | ')} |`;
    };
    const dashes = widths.map((width, column) => (isNumber[column] ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width)));
    return `${[head, dashes, ...rows].map(line).join('\n')}${table.endsWith('\n') ? '\n' : ''}`;
  });
}

/**
 * Prints a table: the first column to the left, the others to the right.
 *
 * @param {string} title
 * @param {readonly string[]} head
 * @param {readonly (readonly string[])[]} rows
 */
export function printTable(title, head, rows) {
  const widths = head.map((_, column) => 2 + Math.max(...[head, ...rows].map((row) => (row[column] ?? '').length)));
  console.log(`\n${title}`);
  for (const row of [head, ...rows]) {
    const cells = widths.map((width, column) =>
      column === 0 ? (row[column] ?? '').padEnd(width) : (row[column] ?? '').padStart(width),
    );
    console.log(`  ${cells.join('')}`);
  }
}
