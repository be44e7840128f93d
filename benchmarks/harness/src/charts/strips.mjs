// @ts-check
// A row of marks for each name, on a logarithmic scale, with the median of each.
import { COLOURS } from './theme.mjs';

/**
 * @typedef {object} Strips
 * @property {string} title
 * @property {string} description
 * @property {readonly [number, number]} domain
 * @property {readonly { value: number, text: string }[]} ticks
 * @property {readonly { name: string, values: readonly number[], median: number | null }[]} rows
 */

/** Heights in turn, so that equal values do not cover each other. */
const HEIGHTS = 7;

/** @param {Strips} chart @returns {import('../charts.mjs').Chart} */
export function strips({ title, description, domain, ticks, rows }) {
  /** @param {number} value */
  const within = (value) => Math.min(domain[1], Math.max(domain[0], value));
  const y = {
    field: 'name',
    type: 'nominal',
    sort: null,
    title: null,
    scale: { domain: rows.map(({ name }) => name) },
    axis: { ticks: false, domain: false },
  };
  const labels = Object.fromEntries(ticks.map(({ value, text }) => [value, text]));
  const x = {
    field: 'value',
    type: 'quantitative',
    title: null,
    scale: { type: 'log', domain, nice: false },
    axis: { values: ticks.map(({ value }) => value), labelExpr: `${JSON.stringify(labels)}[datum.value]` },
  };
  const spec = {
    width: 560,
    height: { step: 46 },
    layer: [
      {
        data: {
          values: rows.flatMap(({ name, values }) =>
            values.map((value, at) => ({ name, value: within(value), height: (at * 3) % HEIGHTS })),
          ),
        },
        mark: { type: 'circle', size: 28, opacity: 0.35, color: COLOURS[0] },
        encoding: {
          x,
          y,
          yOffset: { field: 'height', type: 'quantitative', scale: { domain: [-1, HEIGHTS] } },
        },
      },
      {
        data: {
          values: rows.flatMap(({ name, median }) => (median === null ? [] : [{ name, value: within(median) }])),
        },
        mark: { type: 'tick', orient: 'vertical', size: 36, thickness: 2.5, color: COLOURS[1] },
        encoding: { x, y },
      },
    ],
  };
  return { title, description, spec };
}
