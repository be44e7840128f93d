// @ts-check
// Charts as SVG texts, drawn by Vega without a browser.
import { AXIS, BACK, darkStyle, FONT, GRID, LABEL_LIMIT, TEXT } from './charts/theme.mjs';

/** @typedef {import('vega-lite').TopLevelSpec} TopLevelSpec */

/**
 * @typedef {object} Chart
 * @property {string} title
 * @property {string} description what the chart shows, for those who cannot see it
 * @property {Record<string, unknown>} spec Vega-Lite: data and marks, without what all charts have in common
 */

/** @param {string} text */
function markup(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** @param {Chart} chart @returns {TopLevelSpec} */
function wholeSpec({ title, spec }) {
  const whole = {
    $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
    title: { text: title, anchor: 'start', offset: 14 },
    background: BACK[0],
    padding: 14,
    ...spec,
    config: {
      font: FONT,
      title: { color: TEXT[0], fontSize: 15, fontWeight: 600 },
      axis: {
        labelColor: TEXT[0],
        titleColor: TEXT[0],
        domainColor: AXIS[0],
        tickColor: AXIS[0],
        gridColor: GRID[0],
        labelFontSize: 12,
        titleFontSize: 13,
        titleFontWeight: 400,
        labelLimit: LABEL_LIMIT,
      },
      legend: { labelColor: TEXT[0], labelFontSize: 12, symbolSize: 70, labelLimit: LABEL_LIMIT },
      header: { labelColor: TEXT[0], labelFontSize: 12 },
      view: { stroke: null },
    },
  };
  return /** @type {TopLevelSpec} */ (/** @type {unknown} */ (whole));
}

/**
 * Vega counts clips through all charts of a process: here each chart begins anew, so that the same chart is the same text.
 * @param {string} svg
 */
function withOwnClips(svg) {
  /** @type {Map<string, string>} */
  const names = new Map();
  return svg.replace(/(?<=url\(#|id=")clip\d+/g, (name) => {
    const own = names.get(name) ?? `clip${names.size}`;
    names.set(name, own);
    return own;
  });
}

/**
 * Draws a chart, for light and dark surroundings.
 *
 * @param {Chart} chart
 * @returns {Promise<string>} a whole SVG document
 */
export async function drawChart(chart) {
  // They take their time to load, and most processes of a program draw nothing.
  const [{ parse, View }, { compile }] = await Promise.all([import('vega'), import('vega-lite')]);
  const view = new View(parse(compile(wholeSpec(chart)).spec), { renderer: 'none' });
  const svg = withOwnClips(await view.toSVG());
  view.finalize();
  const head = `<title>${markup(chart.title)}</title><desc>${markup(chart.description)}</desc>${darkStyle()}`;
  return `${svg.replace(/<svg ([^>]*)>/, `<svg role="img" $1>${head}`)}\n`;
}
