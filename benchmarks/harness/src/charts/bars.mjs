// @ts-check
// Charts of bars: groups on a logarithmic scale, and parts one above the other.
import { COLOURS, LABEL_LIMIT, TEXT } from './theme.mjs';

/** @typedef {import('../charts.mjs').Chart} Chart */

/**
 * @typedef {object} GroupedBars
 * @property {string} title
 * @property {string} description
 * @property {string} unit of the axis
 * @property {readonly string[]} series names of the bars of a group
 * @property {readonly { name: string, values: readonly (number | null)[] }[]} groups one value per series; null: not measured
 */

/** @param {number} value */
const shown = (value) => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(2));

/** Groups of bars that lie, on a logarithmic scale. @param {GroupedBars} chart @returns {Chart} */
export function groupedBars({ title, description, unit, series, groups }) {
  const all = groups.flatMap(({ values }) => values.filter((value) => value !== null));
  const low = 10 ** Math.floor(Math.log10(Math.min(...all)));
  const high = 10 ** Math.ceil(Math.log10(Math.max(...all)));
  const values = groups.flatMap(({ name, values: own }) =>
    own.flatMap((value, at) => (value === null ? [] : [{ name, series: series[at], value, low, text: shown(value) }])),
  );
  const y = {
    field: 'name',
    type: 'nominal',
    sort: null,
    title: null,
    axis: { ticks: false, domain: false, labelLimit: LABEL_LIMIT },
  };
  const yOffset = { field: 'series', sort: [...series] };
  const x = {
    field: 'value',
    type: 'quantitative',
    title: unit,
    scale: { type: 'log', domain: [low, high], nice: false },
    axis: { tickCount: Math.round(Math.log10(high / low)), format: ',' },
  };
  const legend = series.length > 1 ? { orient: 'top', title: null } : null;
  const scale = { domain: [...series], range: COLOURS.slice(0, series.length) };
  const spec = {
    data: { values },
    width: 480,
    height: { step: series.length > 1 ? 18 : 26 },
    layer: [
      {
        mark: { type: 'bar' },
        encoding: { y, yOffset, x, x2: { field: 'low' }, color: { field: 'series', type: 'nominal', scale, legend } },
      },
      {
        mark: { type: 'text', align: 'left', dx: 5, fontSize: 12, fill: TEXT[0] },
        encoding: { y, yOffset, x, text: { field: 'text' } },
      },
    ],
  };
  return { title, description, spec };
}

/**
 * @typedef {object} StackedBars
 * @property {string} title
 * @property {string} description
 * @property {string} unit of the axis
 * @property {readonly { name: string, parts: readonly { name: string, value: number }[] }[]} bars parts from the bottom;
 *   names are the same in all bars where they mean the same. A part below 0 takes no place.
 */

/** Bars of parts, with their sums above. @param {StackedBars} chart @returns {Chart} */
export function stackedBars({ title, description, unit, bars }) {
  const parts = [...new Set(bars.flatMap(({ parts: own }) => own.map(({ name }) => name)))];
  const values = bars.flatMap(({ name, parts: own }) =>
    own.map((part) => ({
      bar: name,
      part: part.name,
      order: parts.indexOf(part.name),
      value: Math.max(part.value, 0),
    })),
  );
  const x = { field: 'bar', type: 'nominal', sort: null, title: null, axis: { labelAngle: 0, ticks: false } };
  const y = { field: 'value', type: 'quantitative', title: unit, stack: 'zero', axis: { tickCount: 8 } };
  const spec = {
    data: { values },
    width: { step: 130 },
    height: 320,
    layer: [
      {
        mark: { type: 'bar', width: 90 },
        encoding: {
          x,
          y,
          order: { field: 'order' },
          color: {
            field: 'part',
            type: 'nominal',
            sort: parts,
            title: null,
            scale: { domain: parts, range: COLOURS.slice(0, parts.length) },
          },
        },
      },
      {
        mark: { type: 'text', baseline: 'bottom', dy: -4, fontSize: 12, fill: TEXT[0] },
        encoding: {
          x,
          y: { aggregate: 'sum', field: 'value', type: 'quantitative', title: unit, stack: null },
          text: { aggregate: 'sum', field: 'value', format: '.0f' },
        },
      },
    ],
  };
  return { title, description, spec };
}
