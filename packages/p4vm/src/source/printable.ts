// Control characters but the tab, and those that change the direction in which text is shown.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about
const UNPRINTABLE = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** Text of a program as one line for a terminal. Characters that would move the cursor are replaced. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, '\ufffd');
}

/** Whether a terminal shows a text unchanged. */
export function isPrintable(text: string): boolean {
  return text.search(UNPRINTABLE) === -1;
}
