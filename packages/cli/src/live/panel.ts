/** The parts of the live view as lines, and the room that each gets. */
import type { Colours } from '../output/colour.js';
import type { Extent, PanelName } from './controls.js';
import { fit, left } from './text-width.js';

/** A line, and how it is marked. */
export interface Line {
  readonly text: string;
  readonly mark?: keyof Colours;
}

/** What is scrolled as one: a switch, an event with its flow. */
export type Entry = readonly Line[];

export interface Panel {
  readonly name: PanelName;
  readonly title: string;
  /** The heads of the columns, if there are any. */
  readonly heading: string | null;
  readonly entries: readonly Entry[];
  /** Entries at the beginning that should be seen before anything else. */
  readonly urgent: number;
  /** What is said if there are no entries. */
  readonly nothing: string;
}

/** Most lines that urgent entries of a part get before other parts have their least. */
const LEAST_ENTRIES: Readonly<Record<PanelName, number>> = { switches: 1, events: 2, rules: 2, queues: 2, sinks: 1 };

const headLines = ({ heading }: Panel): number => (heading === null ? 1 : 2);

function linesOf(panel: Panel, entries: number): number {
  const lines = panel.entries.slice(0, entries).reduce((sum, entry) => sum + entry.length, 0);
  return headLines(panel) + Math.max(1, lines);
}

/**
 * Shares out the lines of the screen. The chosen part gets what it needs up to half of them. Then come, in this order, the
 * first events, the switches that have trouble, the first entries of every part, and everything else from the top.
 * @returns lines of each part, 0 for one without room
 */
export function shareLines(panels: readonly Panel[], chosen: PanelName, lines: number): number[] {
  const shares = panels.map(() => 0);
  let free = lines;
  const give = (name: PanelName, upTo: (panel: Panel) => number): void => {
    const at = panels.findIndex((panel) => panel.name === name);
    const panel = panels[at];
    if (panel === undefined) return;
    const wanted = Math.min(upTo(panel), linesOf(panel, panel.entries.length)) - shares[at]!;
    const given = Math.max(0, Math.min(wanted, free));
    // A title without an entry tells nothing.
    if (shares[at] === 0 && given < headLines(panel) + 1) return;
    shares[at]! += given;
    free -= given;
  };
  const least = (panel: Panel): number => linesOf(panel, LEAST_ENTRIES[panel.name]);
  const urgent = (panel: Panel): number => linesOf(panel, panel.urgent);
  const all = (panel: Panel): number => linesOf(panel, panel.entries.length);
  give(chosen, (panel) => Math.max(headLines(panel) + 1, Math.floor(lines / 2)));
  give('switches', (panel) => headLines(panel) + 1);
  give('events', least);
  give('switches', urgent);
  for (const { name } of panels) give(name, least);
  give('events', () => Math.floor(lines / 3));
  give(chosen, all);
  for (const { name } of panels) give(name, all);
  return shares;
}

/** Draws a part into its lines. @param lines at least the head and one more */
export function drawPanel(
  panel: Panel,
  lines: number,
  width: number,
  scroll: number,
  isChosen: boolean,
): { readonly lines: readonly Line[]; readonly extent: Extent } {
  const { entries, heading, title, nothing } = panel;
  const room = lines - headLines(panel);
  const total = entries.length;
  // From the end backwards: how far one can scroll.
  let fromEnd = 0;
  for (let used = 0; fromEnd < total; fromEnd++) {
    used += entries[total - 1 - fromEnd]!.length;
    if (used > room) break;
  }
  const most = Math.max(0, total - Math.max(1, fromEnd));
  const first = Math.min(scroll, most);
  const body: Line[] = [];
  let shown = 0;
  for (const entry of entries.slice(first)) {
    if (shown > 0 && body.length + entry.length > room) break;
    body.push(...entry.slice(0, room - body.length));
    shown++;
    if (body.length >= room) break;
  }
  if (total === 0) body.push({ text: `  ${nothing}`, mark: 'dim' });
  const more = shown < total ? `  ${first + 1}-${first + shown} of ${total}` : '';
  // The place in the list is said even where the title is cut.
  const head = left(`${isChosen ? '>' : ' '} ${title}`, Math.max(2, width - more.length)).trimEnd();
  const drawn: Line[] = [{ text: fit(head + more, width), mark: isChosen ? 'cyan' : 'bold' }];
  if (heading !== null) drawn.push({ text: fit(heading, width), mark: 'dim' });
  for (const { text, mark } of body) drawn.push({ text: fit(text, width), ...(mark !== undefined && { mark }) });
  return { lines: drawn.slice(0, lines), extent: { total, shown, most } };
}
