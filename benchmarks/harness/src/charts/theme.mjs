// @ts-check
// Colours and marks of charts. Each colour has one for dark surroundings.

/** Of series, by their look. */
export const COLOURS = ['#0a6ab6', '#b94a00', '#00795a', '#9a3c86', '#59636f', '#7a6a00', '#b3261e', '#4b5bd6'];
const DARK_COLOURS = ['#63b3f5', '#f59e5b', '#43cfa4', '#e58fd2', '#a3adb8', '#d8c84a', '#ff8a80', '#a5b0ff'];
export const SHAPES = [
  'circle',
  'square',
  'triangle-up',
  'diamond',
  'triangle-down',
  'cross',
  'triangle-left',
  'triangle-right',
];
export const TEXT = ['#1f2328', '#e6edf3'];
export const GRID = ['#d1d9e0', '#30363d'];
export const AXIS = ['#59636e', '#9198a1'];
export const BACK = ['#ffffff', '#0d1117'];
/** Pixels of a label, whose width Vega guesses without a browser, and guesses high. */
export const LABEL_LIMIT = 600;
export const FONT = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif";

/** Rules for dark surroundings: colours are found by what they are, since the marks have no classes of their own. */
export function darkStyle() {
  const pairs = [TEXT, GRID, AXIS, BACK, ...COLOURS.map((colour, look) => [colour, DARK_COLOURS[look]])];
  const rules = pairs.flatMap(([light, dark]) => [
    `[fill="${light}"]{fill:${dark}}`,
    `[stroke="${light}"]{stroke:${dark}}`,
  ]);
  return `<style>svg{color-scheme:light dark}@media (prefers-color-scheme:dark){${rules.join('')}}</style>`;
}
