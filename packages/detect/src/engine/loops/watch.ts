import type { Loop } from './context.js';

/** A detector that looks at time. It writes no events of reports: see Watches. */
export const watch: Loop = ({ view, times, firstRow }, rule, from, to) => {
  rule.watch?.look(view, times, firstRow, from, to);
};
