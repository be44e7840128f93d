/** The live view of a collector as lines: a pure function of the state, what the user has chosen, and the size. */

import type { Colours } from '../output/colour.js';
import { degradedText } from '../output/health-watch.js';
import { clock, dropText, type LiveState, sumDropped } from '../output/live-state.js';
import { grouped } from '../output/numbers.js';
import { sinkLines } from '../output/sink-text.js';
import type { Controls, Extent, Extents, PanelName } from './controls.js';
import { eventPanel } from './event-panel.js';
import { HELP } from './help.js';
import { drawPanel, type Line, type Panel, shareLines } from './panel.js';
import { queuePanel } from './queue-panel.js';
import { rulePanel } from './rule-panel.js';
import { switchPanel } from './switch-panel.js';
import { fit, inLines, left } from './text-width.js';

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** What is on the screen. */
export interface Frame {
  /** At most `rows`, each at most `columns` wide. */
  readonly lines: readonly string[];
  readonly extents: Extents;
}

/** Most degraded states shown. */
const MAX_DEGRADED = 3;
/** From this width on, the parts stand in two columns. */
const TWO_COLUMNS = 200;
const RIGHT: ReadonlySet<PanelName> = /* @__PURE__ */ new Set(['events', 'queues', 'sinks']);
const BETWEEN = ' │ ';

function head(state: LiveState, title: string, { isPaused }: Controls, width: number): Line[] {
  const { totals, filtered } = state;
  const dropped = sumDropped(totals);
  const kernel = totals.kernelDropped === null ? 'unknown' : grouped(totals.kernelDropped);
  const first = [title, clock(state.elapsedMs), ...(isPaused ? ['PAUSED'] : [])].join('  ');
  const figures = [
    `${grouped(state.reportsPerSecond)} reports/s`,
    `received ${grouped(totals.received)}`,
    `decoded ${grouped(totals.decoded)}`,
    `dropped ${grouped(dropped)}`,
    `kernel drops ${kernel}`,
    ...(filtered == null ? [] : [`filtered ${grouped(filtered)}`]),
  ];
  const lines: Line[] = [{ text: first, mark: isPaused ? 'yellow' : 'bold' }];
  lines.push(...inLines(figures, width).map((text) => ({ text })));
  if (dropped > 0 || (totals.kernelDropped ?? 0) > 0) lines.push({ text: `dropped: ${dropText(totals)}`, mark: 'red' });
  for (const part of state.degraded.slice(0, MAX_DEGRADED)) {
    lines.push({ text: `degraded: ${degradedText(part)}`, mark: 'yellow' });
  }
  const more = state.degraded.length - MAX_DEGRADED;
  if (more > 0) lines.push({ text: `degraded: and ${more} more`, mark: 'yellow' });
  if (state.hint != null) lines.push({ text: state.hint, mark: 'yellow' });
  if (state.notice != null) lines.push({ text: state.notice.text, mark: state.notice.isProblem ? 'red' : 'dim' });
  // Problems with the rules belong where they are seen.
  const notice = state.detection?.notice;
  if (notice?.isProblem === true) lines.push({ text: notice.text, mark: 'red' });
  return lines;
}

function foot({ filter, isEditing, isHelp, sort }: Controls, hasKeys: boolean, width: number): Line {
  if (isEditing) return { text: `/${filter}_  Enter keeps the filter, Esc shows all`, mark: 'cyan' };
  if (!hasKeys) return { text: 'Ctrl-C stops', mark: 'dim' };
  const keys = isHelp
    ? ['? back', 'q quit']
    : ['? keys', 'q quit', 'Tab next part', '/ filter', `s sort (${sort})`, 'p pause'];
  const given = filter === '' || isHelp ? [] : [`filter: ${filter} (Esc shows all)`];
  return { text: inLines([...given, ...keys], width)[0]!, mark: given.length > 0 ? 'cyan' : 'dim' };
}

function panelsOf(state: LiveState, controls: Controls, widthOf: (name: PanelName) => number): Panel[] {
  const { metrics, detection, statistics, recentEvents } = state;
  const { filter } = controls;
  const sinks = sinkLines(state.totals.sinks);
  return [
    switchPanel(statistics, recentEvents, controls, metrics, widthOf('switches')),
    ...(detection === null
      ? []
      : [eventPanel(detection, filter, metrics, widthOf('events')), rulePanel(detection, filter)]),
    queuePanel(statistics.congested, filter, metrics, widthOf('queues')),
    ...(sinks.length === 0
      ? []
      : [
          {
            name: 'sinks' as const,
            title: `Sinks ${sinks.length}  records by sink and kind`,
            heading: null,
            entries: sinks.map((text) => [{ text: `  ${text}`, mark: 'dim' as const }]),
            urgent: 0,
            nothing: '',
          },
        ]),
  ];
}

interface Stack {
  readonly lines: Line[];
  readonly extents: { [Name in PanelName]?: Extent };
}

/** Parts below each other. Blank lines stand between them if there is room. */
function stack(panels: readonly Panel[], controls: Controls, lines: number, width: number): Stack {
  const shares = shareLines(panels, controls.panel, lines);
  const drawn = panels.flatMap((panel, index) => {
    if (shares[index] === 0) return [];
    const isChosen = panel.name === controls.panel;
    return [{ panel, ...drawPanel(panel, shares[index]!, width, controls.scroll[panel.name], isChosen) }];
  });
  const used = drawn.reduce((sum, one) => sum + one.lines.length, 0);
  const isLoose = lines - used >= drawn.length - 1;
  return {
    lines: drawn.flatMap((one, index) => (isLoose && index > 0 ? [{ text: '' }, ...one.lines] : [...one.lines])),
    // One can go to parts without room: they get some when they are chosen.
    extents: Object.fromEntries(
      panels.map((panel) => [
        panel.name,
        drawn.find((one) => one.panel === panel)?.extent ?? { total: panel.entries.length, shown: 0, most: 0 },
      ]),
    ),
  };
}

function helpStack(controls: Controls, lines: number): { lines: Line[]; extents: Extents } {
  const most = Math.max(0, HELP.length - lines);
  const first = Math.min(controls.scroll.help, most);
  const shown = HELP.slice(first, first + lines);
  return {
    lines: shown.map((text) => (text !== '' && !text.startsWith(' ') ? { text, mark: 'bold' } : { text })),
    extents: { help: { total: HELP.length, shown: shown.length, most } },
  };
}

const painted = ({ text, mark }: Line, colour: Colours): string =>
  mark === undefined || text === '' ? text : colour[mark](text);

/** The lines between head and foot, painted. */
function middle(state: LiveState, controls: Controls, lines: number, width: number, colour: Colours) {
  const paint = (line: Line): string => painted({ ...line, text: fit(line.text, width) }, colour);
  if (controls.isHelp) {
    const help = helpStack(controls, lines);
    return { lines: help.lines.map(paint), extents: help.extents };
  }
  if (width < TWO_COLUMNS) {
    const one = stack(
      panelsOf(state, controls, () => width),
      controls,
      lines,
      width,
    );
    return { lines: one.lines.map(paint), extents: one.extents };
  }
  const leftWidth = Math.floor((width - BETWEEN.length) / 2);
  const rightWidth = width - BETWEEN.length - leftWidth;
  const panels = panelsOf(state, controls, (name) => (RIGHT.has(name) ? rightWidth : leftWidth));
  const side = (isRight: boolean): Stack =>
    stack(
      panels.filter(({ name }) => RIGHT.has(name) === isRight),
      controls,
      lines,
      isRight ? rightWidth : leftWidth,
    );
  const [west, east] = [side(false), side(true)];
  const rows = Math.max(west.lines.length, east.lines.length);
  const joined = Array.from({ length: rows }, (_, row) => {
    const a = west.lines[row] ?? { text: '' };
    const b = east.lines[row] ?? { text: '' };
    return painted({ ...a, text: left(a.text, leftWidth) }, colour) + colour.dim(BETWEEN) + painted(b, colour);
  });
  return { lines: joined, extents: { ...west.extents, ...east.extents } };
}

/**
 * The whole screen.
 * @param title name of the command and its source
 * @param hasKeys whether the terminal gives keys to the view
 */
export function liveView(
  state: LiveState,
  title: string,
  controls: Controls,
  { columns, rows }: Size,
  hasKeys: boolean,
  colour: Colours,
): Frame {
  const width = Math.max(1, columns);
  const paint = (line: Line): string => painted({ ...line, text: fit(line.text, width) }, colour);
  const top = head(state, title, controls, width);
  const foots = rows < 3 && !controls.isEditing ? [] : [paint(foot(controls, hasKeys, width))];
  // A short screen gives at least half of its lines to the parts.
  const heads = top.slice(0, Math.max(1, Math.ceil((rows - foots.length) / 2))).map(paint);
  const room = Math.max(0, rows - heads.length - foots.length);
  const { lines, extents } = middle(state, controls, room, width, colour);
  const filled = Array.from({ length: room }, (_, row) => lines[row] ?? '');
  return { lines: [...heads, ...filled, ...foots].slice(0, Math.max(0, rows)), extents };
}
