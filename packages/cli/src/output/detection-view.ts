import type { KnownNetwork } from '../network/known-network.js';
import { UNKNOWN_NETWORK } from '../network/unknown-network.js';
import type { Colours } from './colour.js';
import { adaptationLines, type Detected, ruleTable, survivorsText } from './detection-summary.js';
import { findingText, type PlacedEvent, ruleText } from './event-text.js';
import { grouped } from './numbers.js';
import { flowText } from './record-text.js';

export interface DetectionState extends Detected {
  /** Recent events, the most recent first. */
  readonly recent: readonly PlacedEvent[];
  /** Events not printed because the reader was too slow. */
  readonly notShown: number;
  /** Result of the last attempt to load rules; `null` if there was none. */
  readonly notice: { readonly text: string; readonly isProblem: boolean } | null;
}

/** Lines besides rules and events: a blank line, the title, the rules' heading. */
const FIXED_ROWS = 3;
const MIN_ROWS = FIXED_ROWS + 2;

function clockTime(timeNs: bigint): string {
  return new Date(Number(timeNs / 1_000_000n)).toISOString().slice(11, 23);
}

/**
 * The section about rules and events, truncated to the width by `fit`.
 * @param rows most lines; fewer than 5 leave no room
 */
export function detectionView(
  state: DetectionState,
  rows: number,
  fit: (text: string) => string,
  colour: Colours,
  network: KnownNetwork = UNKNOWN_NETWORK,
): string[] {
  if (rows < MIN_ROWS) return [];
  const { totals, adaptation, recent, notice } = state;
  const lines = ['', colour.bold(fit(`events ${grouped(totals.events)}  ${survivorsText(state)}`))];
  if (notice !== null) {
    const text = fit(notice.text);
    lines.push(notice.isProblem ? colour.red(text) : colour.dim(text));
  }
  const [heading, ...rules] = ruleTable(totals);
  lines.push(colour.dim(fit(`  ${heading!}`)));
  const room = rows - lines.length;
  const shown = Math.max(1, Math.min(rules.length, Math.floor(room / 2)));
  if (rules.length > shown) {
    for (const rule of rules.slice(0, shown - 1)) lines.push(fit(`  ${rule}`));
    lines.push(colour.dim(fit(`  and ${rules.length - shown + 1} more rules`)));
  } else for (const rule of rules) lines.push(fit(`  ${rule}`));
  for (const line of adaptationLines(adaptation).slice(0, Math.floor(room / 4))) {
    lines.push(colour.cyan(fit(`  ${line}`)));
  }
  for (const { timeNs, event } of recent.slice(0, rows - lines.length)) {
    const flow = event.flow === null ? '' : `  ${flowText(event.flow)}`;
    const line = fit(`  ${clockTime(timeNs)}  ${ruleText(event.rule)}  ${findingText(event, network)}${flow}`);
    lines.push(event.rule === null ? colour.dim(line) : colour.yellow(line));
  }
  return lines.slice(0, rows);
}
