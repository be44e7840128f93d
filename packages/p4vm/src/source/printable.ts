// Control characters but the tab, and those that change the direction in which text is shown.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about
const UNPRINTABLE = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** Text of a program as one line that a terminal shows as it is: what would move its cursor is replaced. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, '\ufffd');
}

/** Whether a terminal shows a text as it is. */
export function isPrintable(text: string): boolean {
  return text.search(UNPRINTABLE) === -1;
}
