/** Text for one line of a terminal; control characters, which would move the cursor, are replaced. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, '\ufffd');
}

/** Most characters of a line for people, because it may quote untrusted text. */
const LONGEST_LINE = 2000;

/** Text for several lines of a terminal, each of bounded length. */
export function printableLines(text: string): string {
  const lines = text.split('\n').map((line) => {
    const rest = line.length - LONGEST_LINE;
    return printable(rest > 0 ? `${line.slice(0, LONGEST_LINE)}... (${rest} characters more)` : line);
  });
  return lines.join('\n');
}
