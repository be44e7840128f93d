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

/** As wide as texts of this repository. */
const WIDTH = 128;

/** Words, of which code and the names of links are not broken. */
const WORDS = /(?:`[^`]*`|\[[^\]]*\]|\S)+/g;

/**
 * A paragraph of Markdown, broken into lines.
 *
 * @param {...string} sentences
 * @returns {string}
 */
export function paragraph(...sentences) {
  const lines = [''];
  for (const word of sentences.join(' ').match(WORDS) ?? []) {
    const line = lines[lines.length - 1] ?? '';
    if (line === '') lines[lines.length - 1] = word;
    else if (line.length + 1 + word.length <= WIDTH) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines.join('\n');
}
