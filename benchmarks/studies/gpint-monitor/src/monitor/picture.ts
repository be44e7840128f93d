/** A network and what its monitor knows of it, as SVG text for light and dark surroundings. */
import type { Graph, Paths } from '@int/gpint';
import type { LinkVerdict } from './evidence.js';
import type { Layout } from './layout.js';
import { linksOf } from './network.js';
import { coloursOf, PATH_COLOURS } from './path-colours.js';

export interface Picture {
  readonly title: string;
  /** What the picture shows, in words, for those who cannot see it. */
  readonly description: string;
  /** Figures, one line each, beneath the title. */
  readonly notes: readonly string[];
  readonly graph: Graph;
  readonly layout: Layout;
  readonly paths: Paths;
  /** 1 for each switch whose telemetry the monitor has. */
  readonly collected: Uint8Array;
  /** Links and switches that really do not work, by number. */
  readonly failedLinks: ReadonlySet<number>;
  readonly failedSwitches: ReadonlySet<number>;
  /** What the monitor has deduced, by number of the link. */
  readonly verdicts: ReadonlyMap<number, LinkVerdict>;
  /** Switches that the monitor is attached to; empty: to all, by links of its own. */
  readonly attached: readonly number[];
}

const WIDTH = 960;
const MARGIN = 40;
const HEAD = 44;
const NOTE = 19;
const LEGEND_ROW = 24;
const LEGEND_COLUMNS = 3;

const rules = (index: 0 | 1): string =>
  PATH_COLOURS.map((pair, c) => `.p${c} { stroke: ${pair[index]}; } .n${c} { fill: ${pair[index]}; }`).join(' ');

const STYLE = `
    svg { color-scheme: light dark; }
    .back { fill: #ffffff; }
    text { fill: #1f2328; font: 13px system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; }
    .title { font-size: 17px; font-weight: 600; }
    .note { fill: #59636e; }
    .rule { stroke: #d1d9e0; }
    .link { stroke: #c4ccd4; stroke-width: 1; fill: none; }
    .path { fill: none; stroke-width: 4; stroke-linecap: round; }
    .dead { stroke: #cf222e; stroke-width: 2.5; stroke-dasharray: 6 5; fill: none; }
    .hidden { stroke: #cf222e; stroke-width: 1.25; stroke-dasharray: 2 4; fill: none; }
    .wrong { stroke: #9a6700; stroke-width: 2.5; stroke-dasharray: 6 5; fill: none; }
    .lossy { stroke: #bf8700; stroke-width: 9; stroke-opacity: 0.4; fill: none; stroke-linecap: round; }
    .congested { stroke: #bf8700; stroke-width: 9; stroke-opacity: 0.6; fill: none; stroke-dasharray: 2 3; }
    .cross { stroke: #cf222e; stroke-width: 2.25; stroke-linecap: round; fill: none; }
    .badge { fill: #ffffff; stroke: #cf222e; stroke-width: 1.5; }
    .badge.doubt { stroke: #9a6700; }
    .doubt-mark { fill: #9a6700; font-weight: 700; text-anchor: middle; }
    .switch { stroke: #ffffff; stroke-width: 1.5; }
    .empty { fill: #ffffff; stroke-width: 2; }
    .gone { fill: #ffffff; stroke: #cf222e; stroke-width: 2; }
    .start { fill: none; stroke-width: 1.75; }
    .attached { fill: none; stroke: #1f2328; stroke-width: 1.5; }
    .key { fill: #8c959f; } .key-line { stroke: #8c959f; }
    .name { font-weight: 600; text-anchor: middle; fill: #ffffff; }
    .beside { font-size: 11px; fill: #59636e; text-anchor: middle; stroke: #ffffff; stroke-width: 4px; paint-order: stroke; stroke-linejoin: round; }
    ${rules(0)}
    @media (prefers-color-scheme: dark) {
      .back, .badge, .empty, .gone { fill: #0d1117; }
      text { fill: #e6edf3; }
      .note, .beside { fill: #9198a1; } .beside { stroke: #0d1117; }
      .rule { stroke: #30363d; }
      .link { stroke: #3d444d; }
      .dead, .hidden, .cross, .badge, .gone { stroke: #ff6b63; }
      .wrong, .badge.doubt { stroke: #e3b341; }
      .lossy, .congested { stroke: #e3b341; }
      .doubt-mark { fill: #e3b341; }
      .switch { stroke: #0d1117; }
      .attached { stroke: #e6edf3; }
      .name { fill: #0d1117; }
      ${rules(1)}
    }
`;

function markup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** Coordinates with one decimal. */
function at(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** Names of a path, for a tooltip: not hundreds of them. */
function listed(names: readonly string[]): string {
  return names.length <= 12 ? names.join(' > ') : `${names.slice(0, 11).join(' > ')} > ... (${names.length} visits)`;
}

interface Drawing {
  readonly picture: Picture;
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly radius: number;
  /** How far apart neighbouring switches are. */
  readonly distance: number;
  readonly colours: Uint8Array;
}

/** How far apart neighbouring switches usually are. */
function distanceOf(x: Float64Array, y: Float64Array): number {
  const nearest: number[] = [];
  for (let a = 0; a < x.length && nearest.length < 600; a++) {
    let least = Number.POSITIVE_INFINITY;
    for (let b = 0; b < x.length; b++) {
      if (b !== a) least = Math.min(least, (x[a]! - x[b]!) ** 2 + (y[a]! - y[b]!) ** 2);
    }
    nearest.push(Math.sqrt(least));
  }
  nearest.sort((a, b) => a - b);
  return nearest[Math.floor(nearest.length / 5)] ?? 100;
}

function line({ x, y }: Drawing, a: number, b: number, kind: string): string {
  return `<line class="${kind}" x1="${at(x[a]!)}" y1="${at(y[a]!)}" x2="${at(x[b]!)}" y2="${at(y[b]!)}"/>`;
}

function cross(x: number, y: number, size: number): string {
  const [l, r, t, b] = [x - size, x + size, y - size, y + size].map(at);
  return `<path class="cross" d="M${l} ${t}L${r} ${b}M${l} ${b}L${r} ${t}"/>`;
}

/** A cross, or a question mark, in a small disc on a link. */
function badge(x: number, y: number, isDoubt: boolean): string {
  const disc = `<circle class="badge${isDoubt ? ' doubt' : ''}" cx="${at(x)}" cy="${at(y)}" r="8"/>`;
  return disc + (isDoubt ? `<text class="doubt-mark" x="${at(x)}" y="${at(y + 4.5)}">?</text>` : cross(x, y, 3.2));
}

function drawPaths(drawing: Drawing): string[] {
  const { picture, x, y, colours } = drawing;
  const { graph, paths, failedLinks, verdicts } = picture;
  const named = paths.named(graph);
  return named.flatMap((names, p) => {
    const visits = paths.path(p);
    const steps: string[] = [];
    let isDown = false;
    for (const [i, node] of visits.entries()) {
      const link = i === 0 ? -1 : graph.linkBetween(visits[i - 1]!, node);
      // A link that does not work, or is said not to, is drawn as such instead.
      const isBroken = i > 0 && (failedLinks.has(link) || verdicts.get(link) === 'unavailable');
      if (isBroken) isDown = false;
      const from = visits[i - 1];
      if (i > 0 && !isBroken) {
        if (!isDown) steps.push(`M${at(x[from!]!)} ${at(y[from!]!)}`);
        steps.push(`L${at(x[node]!)} ${at(y[node]!)}`);
        isDown = true;
      }
    }
    if (steps.length === 0) return [];
    const text = markup(`path ${p + 1}: ${listed(names)}`);
    return [`<path class="path p${colours[p]!}" d="${steps.join('')}"><title>${text}</title></path>`];
  });
}

function drawMarks(drawing: Drawing): string[] {
  const { picture, x, y } = drawing;
  const { graph, failedLinks, verdicts } = picture;
  const lines: string[] = [];
  const badges: string[] = [];
  for (const [link, [a, b]] of linksOf(graph).entries()) {
    const verdict = verdicts.get(link);
    const isDead = failedLinks.has(link);
    if (verdict !== 'unavailable') {
      if (isDead) lines.push(line(drawing, a, b, 'hidden'));
      continue;
    }
    lines.push(line(drawing, a, b, isDead ? 'dead' : 'wrong'));
    const says = `${graph.names[a]!} to ${graph.names[b]!}: the monitor says unavailable; it ${isDead ? 'is' : 'works'}`;
    const mark = badge((x[a]! + x[b]!) / 2, (y[a]! + y[b]!) / 2, !isDead);
    badges.push(`<g><title>${markup(says)}</title>${mark}</g>`);
  }
  return [...lines, ...badges];
}

function drawSwitches(drawing: Drawing): string[] {
  const { picture, x, y, radius, colours } = drawing;
  const { graph, paths, collected, failedSwitches, attached } = picture;
  const pathOf = new Int32Array(graph.nodeCount).fill(-1);
  const isStart = new Uint8Array(graph.nodeCount);
  for (let p = 0; p < paths.count; p++) {
    const path = paths.path(p);
    for (const node of path) if (pathOf[node] === -1) pathOf[node] = p;
    isStart[path[0]!] = 1;
  }
  const isAttached = new Set(attached);
  const labels = labelling(drawing);
  const names: string[] = [];
  const discs = Array.from({ length: graph.nodeCount }, (_, node) => {
    const [cx, cy, p] = [at(x[node]!), at(y[node]!), pathOf[node]!];
    const isCollected = collected[node] === 1;
    const isFailed = failedSwitches.has(node);
    const state = `${isFailed ? 'failed, ' : ''}${isCollected ? 'collected' : 'not collected'}`;
    const where = p < 0 ? 'on no path' : `path ${p + 1}`;
    const c = p < 0 ? 0 : colours[p]!;
    const parts = [`<title>${markup(`${graph.names[node]!}: ${state}, ${where}`)}</title>`];
    if (isStart[node] === 1) parts.push(`<circle class="start p${c}" cx="${cx}" cy="${cy}" r="${at(radius + 3)}"/>`);
    if (isAttached.has(node)) {
      const side = radius + 6;
      const corner = `x="${at(x[node]! - side)}" y="${at(y[node]! - side)}"`;
      parts.push(`<rect class="attached" ${corner} width="${at(2 * side)}" height="${at(2 * side)}" rx="4"/>`);
    }
    const kind = isFailed || p < 0 ? 'gone' : isCollected ? `switch n${c}` : `empty p${c}`;
    parts.push(`<circle class="${kind}" cx="${cx}" cy="${cy}" r="${at(radius)}"/>`);
    if (!isCollected) parts.push(cross(x[node]!, y[node]!, radius * 0.45));
    const name = markup(graph.names[node]!);
    if (labels.inside > 0 && isCollected) {
      const place = `x="${cx}" y="${at(y[node]! + labels.inside * 0.36)}"`;
      parts.push(`<text class="name" style="font-size: ${at(labels.inside)}px" ${place}>${name}</text>`);
    } else if (labels.lines > 0) {
      const below = radius + 14 + (node % labels.lines) * 12;
      names.push(`<text class="beside" x="${cx}" y="${at(y[node]! + below)}">${name}</text>`);
    }
    return `<g>${parts.join('')}</g>`;
  });
  // No switch hides a name.
  return [...discs, ...names];
}

/** Where names go: into the switches (size of the letters), or below them (in so many lines by turns); 0: not there. */
function labelling({ picture, radius, distance }: Drawing): { readonly inside: number; readonly lines: number } {
  const { graph, layout } = picture;
  const lengths = graph.names.map((name) => name.length);
  const longest = lengths.reduce((most, length) => Math.max(most, length), 0);
  const fitting = Math.min(12, (1.75 * radius) / (0.62 * longest));
  const inside = fitting >= 7 ? fitting : 0;
  const width = 6.3 * (layout.inRows ? longest : lengths.reduce((sum, length) => sum + length, 0) / lengths.length);
  const lines = Math.max(1, Math.ceil((width + 4) / distance));
  // Names in a row that do not fit side by side stand in two lines by turns. Elsewhere there is mostly room between rows.
  const most = layout.inRows ? 2 : 1.5 * distance > width ? lines : 0;
  if (radius < 5 || lines > most) return { inside, lines: 0 };
  return { inside, lines: layout.inRows ? lines : 1 };
}

/** The marks that occur, each with what it means. */
function legendOf({ picture }: Drawing): (readonly [draw: (x: number, y: number) => string, text: string])[] {
  const { graph, collected, failedLinks, verdicts, failedSwitches, attached } = picture;
  const stroke = (kind: string, x: number, y: number): string =>
    `<line class="${kind}" x1="${x}" y1="${y}" x2="${x + 40}" y2="${y}"/>`;
  const disc = (kind: string, x: number, y: number, r = 7): string =>
    `<circle class="${kind}" cx="${x + 20}" cy="${y}" r="${r}"/>`;
  const named = [...verdicts].filter(([, verdict]) => verdict === 'unavailable').map(([link]) => link);
  const found = named.filter((link) => failedLinks.has(link)).length;
  const unseen = [...failedLinks].filter((link) => verdicts.get(link) !== 'unavailable').length;
  const has = collected.reduce((sum, each) => sum + each, 0);
  const count = (wanted: LinkVerdict): number => [...verdicts.values()].filter((each) => each === wanted).length;
  const [lossy, congested] = [count('lossy'), count('congested')];
  const rows: (readonly [boolean, (x: number, y: number) => string, string])[] = [
    [true, (x, y) => stroke('path key-line', x, y), 'path of a probe'],
    [true, (x, y) => disc('start key-line', x, y, 8) + disc('switch key', x, y, 5), 'first switch of a path'],
    [true, (x, y) => disc('switch key', x, y), `collected: ${has} of ${graph.nodeCount} switches`],
    [
      has < graph.nodeCount,
      (x, y) => disc('empty key-line', x, y) + cross(x + 20, y, 3),
      `not collected: ${graph.nodeCount - has}`,
    ],
    [
      failedSwitches.size > 0,
      (x, y) => disc('gone', x, y) + cross(x + 20, y, 3),
      `failed switch: ${failedSwitches.size}`,
    ],
    [
      attached.length > 0,
      (x, y) => `<rect class="attached" x="${x + 11}" y="${y - 9}" width="18" height="18" rx="4"/>`,
      'the monitor is attached here',
    ],
    [
      found > 0,
      (x, y) => stroke('dead', x, y) + badge(x + 20, y, false),
      `failed link, named by the monitor: ${found}`,
    ],
    [unseen > 0, (x, y) => stroke('hidden', x, y), `failed link, not named: ${unseen}`],
    [
      named.length > found,
      (x, y) => stroke('wrong', x, y) + badge(x + 20, y, true),
      `named, but it works: ${named.length - found}`,
    ],
    [lossy > 0, (x, y) => stroke('lossy', x, y), `lossy, as the monitor says: ${lossy}`],
    [congested > 0, (x, y) => stroke('congested', x, y), `congested, as it says: ${congested}`],
  ];
  return rows.filter(([isThere]) => isThere).map(([, draw, text]) => [draw, text] as const);
}

/** Draws a network; the same text for the same input. Returns a whole SVG document. */
export function drawPicture(picture: Picture): string {
  const { title, description, notes, graph, layout, verdicts } = picture;
  const top = HEAD + notes.length * NOTE + MARGIN;
  const inner = WIDTH - 2 * MARGIN;
  const areaHeight = Math.round(Math.min(680, inner / layout.aspect));
  // What is narrower than the page stands in its middle.
  const areaWidth = Math.min(inner, areaHeight * layout.aspect);
  const left = (WIDTH - areaWidth) / 2;
  const x = layout.x.map((value) => left + value * areaWidth);
  const y = layout.y.map((value) => top + value * areaHeight);
  const distance = distanceOf(x, y);
  const radius = Math.min(15, Math.max(2, 0.38 * distance));
  const drawing: Drawing = { picture, x, y, radius, distance, colours: coloursOf(graph, picture.paths) };
  const parts: string[] = [];
  for (const [link, [a, b]] of linksOf(graph).entries()) {
    if (!picture.failedLinks.has(link)) parts.push(line(drawing, a, b, 'link'));
  }
  for (const [link, [a, b]] of linksOf(graph).entries()) {
    const verdict = verdicts.get(link);
    if (verdict === 'lossy' || verdict === 'congested') parts.push(line(drawing, a, b, verdict));
  }
  parts.push(...drawPaths(drawing), ...drawMarks(drawing), ...drawSwitches(drawing));
  const legend = legendOf(drawing);
  const legendTop = top + areaHeight + MARGIN + 10;
  const rowCount = Math.ceil(legend.length / LEGEND_COLUMNS);
  const height = legendTop + rowCount * LEGEND_ROW + 24;
  parts.push(`<line class="rule" x1="${MARGIN}" y1="${legendTop}" x2="${WIDTH - MARGIN}" y2="${legendTop}"/>`);
  for (const [i, [draw, text]] of legend.entries()) {
    const lx = MARGIN + Math.floor(i / rowCount) * (inner / LEGEND_COLUMNS);
    const ly = legendTop + LEGEND_ROW * ((i % rowCount) + 1);
    parts.push(
      `<g>${draw(Math.round(lx), ly)}<text x="${Math.round(lx) + 52}" y="${ly + 4.5}">${markup(text)}</text></g>`,
    );
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title description">`,
    `  <title id="title">${markup(title)}</title>`,
    `  <desc id="description">${markup(description)}</desc>`,
    `  <style>${STYLE}  </style>`,
    `  <rect class="back" width="${WIDTH}" height="${height}"/>`,
    `  <text class="title" x="${MARGIN}" y="36">${markup(title)}</text>`,
    ...notes.map((note, i) => `  <text class="note" x="${MARGIN}" y="${HEAD + 14 + i * NOTE}">${markup(note)}</text>`),
    ...parts.map((part) => `  ${part}`),
    '</svg>',
    '',
  ].join('\n');
}
