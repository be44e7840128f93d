/** A chart of delays, as SVG text: a row of marks for each kind of event. */
import type { KindResult } from './measure.js';

const WIDTH = 760;
const LEFT = 170;
const RIGHT = WIDTH - 30;
const TOP = 56;
const ROW = 46;
/** Decades of milliseconds: 1 ms to 10 s. */
const DECADES = 4;
const TICKS = ['1 ms', '10 ms', '100 ms', '1 s', '10 s'] as const;

const STYLE = `
    svg { color-scheme: light dark; }
    .back { fill: #ffffff; }
    text { fill: #1f2328; font: 13px system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; }
    .title { font-size: 15px; font-weight: 600; }
    .tick { font-size: 12px; }
    .grid { stroke: #d1d9e0; }
    .mark { fill: #0a6ab6; opacity: 0.35; }
    .median { stroke: #b94a00; stroke-width: 2.5; }
    @media (prefers-color-scheme: dark) {
    .back { fill: #0d1117; }
    text { fill: #e6edf3; }
    .grid { stroke: #30363d; }
    .mark { fill: #63b3f5; }
    .median { stroke: #f59e5b; }
    }
`;

function column(delayMs: number): string {
  const decade = Math.min(DECADES, Math.max(0, Math.log10(delayMs)));
  return (LEFT + ((RIGHT - LEFT) * decade) / DECADES).toFixed(1);
}

/** Draws how long each event took, on a logarithmic axis, with the median of each kind: a whole SVG document. */
export function drawDelays(kinds: readonly KindResult[]): string {
  const bottom = TOP + ROW * kinds.length;
  const parts: string[] = [];
  for (const [decade, text] of TICKS.entries()) {
    const x = column(10 ** decade);
    parts.push(
      `<line class="grid" x1="${x}" y1="${TOP}" x2="${x}" y2="${bottom}"/>`,
      `<text class="tick" x="${x}" y="${bottom + 20}" text-anchor="middle">${text}</text>`,
    );
  }
  for (const [row, { kind, delaysMs, delayMedianMs }] of kinds.entries()) {
    const middle = TOP + ROW * (row + 0.5);
    parts.push(`<text x="${LEFT - 14}" y="${middle + 4}" text-anchor="end">${kind}</text>`);
    for (const [index, delayMs] of delaysMs.entries()) {
      // Seven heights in turn, so that equal delays do not cover each other.
      const y = middle + (((index * 3) % 7) - 3) * 4;
      parts.push(`<circle class="mark" cx="${column(delayMs)}" cy="${y}" r="3"/>`);
    }
    if (delayMedianMs === null) continue;
    const x = column(delayMedianMs);
    parts.push(`<line class="median" x1="${x}" y1="${middle - 18}" x2="${x}" y2="${middle + 18}"/>`);
  }
  const medians = kinds.map(({ kind, delayMedianMs }) => `${kind} ${Math.round(delayMedianMs ?? 0)} ms`).join(', ');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${bottom + 34}" role="img" aria-labelledby="t d">
  <title id="t">From a fault to its event</title>
  <desc id="d">Delays of each kind of immediate event, on a logarithmic axis; medians: ${medians}.</desc>
  <style>${STYLE}  </style>
  <rect class="back" width="${WIDTH}" height="${bottom + 34}"/>
  <text class="title" x="${LEFT}" y="30">From a fault to its event; the line is the median</text>
  ${parts.join('\n  ')}
</svg>
`;
}
