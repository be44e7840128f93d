/** Text as a terminal shows it on one line: control characters would move the cursor. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, '\ufffd');
}
