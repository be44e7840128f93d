/** Text as a terminal shows it on one line: control characters would move the cursor. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, '\ufffd');
}

/** Characters of a line for people at most: what is quoted in it may come from anywhere. */
const LONGEST_LINE = 2000;

/** Text of several lines as a terminal shows it, each of bounded length. */
export function printableLines(text: string): string {
  const lines = text.split('\n').map((line) => {
    const rest = line.length - LONGEST_LINE;
    return printable(rest > 0 ? `${line.slice(0, LONGEST_LINE)}... (${rest} characters more)` : line);
  });
  return lines.join('\n');
}
