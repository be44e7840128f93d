// @ts-check
// Charts of lines and points over an axis: of categories, of numbers, or of their logarithms.
import { COLOURS, SHAPES, TEXT } from './theme.mjs';

/**
 * @typedef {object} Point
 * @property {number | string} x
 * @property {number | null} y null: a gap in the line
 * @property {number} [halfWidth] of the interval around it
 * @property {string} [facet] which of the charts side by side
 */

/**
 * @typedef {object} Series
 * @property {string} label those of one label have one entry in the legend
 * @property {number} look which colour and mark, so that a series looks the same in all charts
 * @property {boolean} [isDashed]
 * @property {'line' | 'marks' | 'both'} [kind] by default both
 * @property {readonly Point[]} points
 */

/**
 * @typedef {object} Axis
 * @property {string} label
 * @property {'linear' | 'log' | 'categories'} scale
 * @property {readonly (number | string)[]} [ticks] by default some that suit the scale; those of categories are the categories
 * @property {string} [format] of ticks, as in d3-format
 * @property {readonly [number, number]} [domain] by default such that all is in it
 */

/**
 * @typedef {object} Band part of the background
 * @property {number} from
 * @property {number} to
 * @property {string} label
 * @property {number} look
 */

/**
 * @typedef {object} LineChart
 * @property {string} title
 * @property {string} description
 * @property {Axis} x
 * @property {Axis} y
 * @property {readonly Series[]} series in the order of the legend
 * @property {readonly string[]} [facets] heads of the charts side by side; none for one chart
 * @property {readonly Band[]} [bands]
 * @property {string} [note] below the title
 */

/** @typedef {import('../charts.mjs').Chart} Chart */

const DASHES = /** @type {const} */ ([
  [1, 0],
  [6, 4],
]);

/** @param {Axis} axis @param {string} field */
function channel({ label, scale, ticks, format, domain }, field) {
  const axis = {
    grid: field === 'y',
    ...(ticks !== undefined && scale !== 'categories' && { values: ticks, labelOverlap: false }),
    ...(format !== undefined && { format }),
  };
  if (scale === 'categories') {
    return {
      field,
      type: /** @type {const} */ ('ordinal'),
      title: label,
      sort: null,
      scale: { type: 'point', padding: 0.5, ...(ticks !== undefined && { domain: ticks }) },
      axis: { ...axis, labelAngle: 0 },
    };
  }
  return {
    field,
    type: /** @type {const} */ ('quantitative'),
    title: label,
    axis: { tickCount: 6, ...axis },
    scale: {
      ...(scale === 'log' ? { type: 'log' } : { zero: field === 'y' && domain === undefined }),
      ...(domain === undefined ? (field === 'x' ? { padding: 12 } : {}) : { domain, nice: false }),
    },
  };
}

/** @param {LineChart} chart @returns {Chart} */
export function lineChart({ title, description, x, y, series, facets = [], bands = [], note }) {
  const points = series.flatMap(({ label, look, kind = 'both', points: own }) =>
    own.map(({ halfWidth = 0, facet = '', ...point }) => ({
      ...point,
      series: label,
      shape: SHAPES[look],
      kind,
      facet,
      ...(halfWidth > 0 && point.y !== null && intervalOf(point.y, halfWidth, y)),
    })),
  );
  const labels = [...new Map(series.map((each) => [each.label, each])).values()];
  const domain = labels.map(({ label }) => label);
  const hasDashes = series.some(({ isDashed }) => isDashed === true);
  // Dashes show in the legend as lines that are long enough.
  const symbols = hasDashes && { legend: { symbolType: 'stroke', symbolSize: 900, symbolStrokeWidth: 2 } };
  const legend = { field: 'series', type: 'nominal', sort: domain, title: null, ...symbols };
  const color = { ...legend, scale: { domain, range: labels.map(({ look }) => COLOURS[look]) } };
  const shape = { ...legend, scale: { domain, range: labels.map(({ look }) => SHAPES[look]) } };
  const strokeDash = hasDashes && {
    strokeDash: {
      ...legend,
      scale: { domain, range: labels.map(({ isDashed }) => DASHES[isDashed === true ? 1 : 0]) },
    },
  };
  // Where lines make the legend, marks have their shapes without a scale, which would go into it.
  const plainShape = { field: 'shape', type: 'nominal', scale: null };
  const at = { x: channel(x, 'x'), y: channel(y, 'y') };
  /** @param {string} kind */
  const having = (kind) => [{ filter: `datum.kind === 'both' || datum.kind === '${kind}'` }];
  const layers = [
    ...bandLayers(bands, at.x),
    {
      transform: having('line'),
      // A clip keeps what is outside of a given domain from being drawn over axes.
      mark: { type: 'line', strokeWidth: 1.5, clip: true },
      encoding: { ...at, color, ...strokeDash },
    },
    ...(points.some((point) => 'low' in point)
      ? [
          {
            transform: [{ filter: 'isValid(datum.low)' }],
            mark: { type: 'rule', strokeWidth: 1 },
            encoding: { x: at.x, y: { ...at.y, field: 'low' }, y2: { field: 'high' }, color },
          },
        ]
      : []),
    ...(series.some(({ kind }) => kind !== 'line')
      ? [
          {
            transform: [...having('marks'), { filter: 'datum.y !== null' }],
            mark: { type: 'point', filled: true, size: 55, opacity: 1, clip: true },
            encoding: { ...at, color, shape: hasDashes ? plainShape : shape },
          },
        ]
      : []),
  ];
  const spec = {
    data: { values: points },
    ...(note !== undefined && {
      title: { text: title, subtitle: note, subtitleColor: TEXT[0], subtitleFontSize: 12, anchor: 'start', offset: 14 },
    }),
  };
  if (facets.length === 0) return { title, description, spec: { ...spec, width: 520, height: 320, layer: layers } };
  const column = { field: 'facet', type: 'nominal', sort: [...facets], title: null };
  return {
    title,
    description,
    spec: { ...spec, facet: { column }, spec: { width: 210, height: 260, layer: layers } },
  };
}

/**
 * An interval, as far as the axis goes.
 * @param {number} y
 * @param {number} halfWidth
 * @param {Axis} axis
 */
function intervalOf(y, halfWidth, { domain, scale }) {
  const [least, most] = domain ?? [scale === 'log' ? Number.MIN_VALUE : 0, Number.POSITIVE_INFINITY];
  return { low: Math.max(least, y - halfWidth), high: Math.min(most, y + halfWidth) };
}

/** @param {readonly Band[]} bands @param {Record<string, unknown>} x */
function bandLayers(bands, x) {
  if (bands.length === 0) return [];
  const values = bands.map((band) => ({ ...band, middle: Math.sqrt(band.from * band.to) }));
  const sorted = [...new Set(bands.map(({ look }) => look))];
  return [
    {
      data: { values },
      mark: { type: 'rect', opacity: 0.1 },
      encoding: {
        x: { ...x, field: 'from' },
        x2: { field: 'to' },
        fill: {
          field: 'look',
          type: 'nominal',
          legend: null,
          scale: { domain: sorted, range: sorted.map((look) => COLOURS[look]) },
        },
      },
    },
    {
      data: { values },
      mark: { type: 'text', baseline: 'bottom', fontSize: 12, fill: TEXT[0], dy: -6 },
      encoding: { x: { ...x, field: 'middle' }, y: { value: 'height' }, text: { field: 'label' } },
    },
  ];
}
