// @ts-check
// Figures in texts. A text has marks, and what stands between them is made from files of results.

/** @param {string} name */
const open = (name) => `<!-- figures: ${name} -->`;
const CLOSE = '<!-- /figures -->';
const MARKED = /<!-- figures: (\S+) -->\n([\s\S]*?)<!-- \/figures -->/g;

/**
 * Names of the marks of a text, in order.
 * @param {string} text
 * @returns {string[]}
 */
export function marksOf(text) {
  return [...text.matchAll(MARKED)].map(([, name]) => /** @type {string} */ (name));
}

/**
 * Puts figures between the marks of a text.
 *
 * @param {string} text Markdown
 * @param {(name: string) => string} figures what belongs between the marks of a name
 * @returns {string}
 * @throws Error for a mark that has no end, and an end that has no mark
 */
export function withFigures(text, figures) {
  const marks = marksOf(text).length;
  const [opened, closed] = [text.split('<!-- figures: ').length - 1, text.split(CLOSE).length - 1];
  if (opened !== marks || closed !== marks) {
    throw new Error(`marks of figures do not pair: ${opened} open, ${closed} close, ${marks} of them in pairs`);
  }
  return text.replace(MARKED, (_, name) => `${open(name)}\n\n${figures(name).trim()}\n\n${CLOSE}`);
}

/**
 * A table in Markdown: the first column to the left, the others to the right.
 *
 * @param {readonly string[]} head
 * @param {readonly (readonly (string | number)[])[]} rows
 * @returns {string}
 */
export function markdownTable(head, rows) {
  const line = (/** @type {readonly (string | number)[]} */ cells) => `| ${cells.join(' | ')} |`;
  return [
    line(head),
    `|${head.map((_, column) => (column === 0 ? '---' : '---:')).join('|')}|`,
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
    const rows = table
      .trimEnd()
      .split('\n')
      .map((row) =>
        row
          .slice(1, -1)
          .split('|')
          .map((cell) => cell.trim()),
      );
    const widths = (rows[0] ?? []).map((_, column) =>
      Math.max(...rows.map((row, at) => (at === 1 ? 3 : (row[column] ?? '').length))),
    );
    const lines = rows.map((row, at) =>
      row.map((cell, column) => {
        const width = widths[column] ?? 0;
        if (at === 1) return column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`;
        return column === 0 ? cell.padEnd(width) : cell.padStart(width);
      }),
    );
    return `${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}${table.endsWith('\n') ? '\n' : ''}`;
  });
}
