/** Marks text for a terminal, or leaves it alone. */
export interface Colours {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
}

const mark =
  (start: number, end: number) =>
  (text: string): string =>
    `\x1b[${start}m${text}\x1b[${end}m`;
const same = (text: string): string => text;

const ON: Colours = /* @__PURE__ */ Object.freeze({
  bold: mark(1, 22),
  dim: mark(2, 22),
  red: mark(31, 39),
  green: mark(32, 39),
  yellow: mark(33, 39),
  cyan: mark(36, 39),
});
const OFF: Colours = /* @__PURE__ */ Object.freeze({
  bold: same,
  dim: same,
  red: same,
  green: same,
  yellow: same,
  cyan: same,
});

/** ANSI colours, or none. */
export function colours(isOn: boolean): Colours {
  return isOn ? ON : OFF;
}
