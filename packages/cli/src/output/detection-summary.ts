import type { DetectionTotals, RuleFigures } from '@int/collector';
import type { AdaptationState } from '@int/detect';
import type { Colours } from './colour.js';
import { counted, factor, grouped, percent } from './numbers.js';

export interface Detected {
  readonly totals: DetectionTotals;
  /** Events with a beginning and an end: those that go on, and findings for which there was no room; `null`: no rule has them. */
  readonly tracked: { readonly open: number; readonly untracked: number } | null;
  /** Adaptive thresholds, with their present values. */
  readonly adaptation: readonly AdaptationState[];
  /** Reports dropped by a pre-filter because no rule found an event in them; not part of `totals`. */
  readonly filtered: number;
}

function fraction(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}

const ruleJson = ({ reports, events }: RuleFigures) => ({ reports, events });

/**
 * The members of a `summary` line after its type. `survivors` is the fraction of reports with at least one event, among
 * all reports including those dropped by a pre-filter; 0 without reports.
 */
export function detectionJson({ totals, tracked, adaptation, filtered }: Detected) {
  const { reports, events, survivors, byRule, byDefault, removed, ...rest } = totals;
  const { notOk, unmatched, unsampled, withoutFlow, beyondPositions, aged, evicted } = rest;
  return {
    reports,
    events,
    survivors: fraction(survivors, reports + filtered),
    byRule: Object.fromEntries([...byRule].map(([name, figures]) => [name, ruleJson(figures)])),
    default: ruleJson(byDefault),
    removed: ruleJson(removed),
    survivorsByRule: Object.fromEntries([...byRule].map(([name, one]) => [name, fraction(one.survivors, one.reports)])),
    ...(tracked !== null && tracked),
    ...{ notOk, unmatched, unsampled, withoutFlow, beyondPositions, aged, evicted },
    adaptation: adaptation.map((state) => ({ ...state, rate: Math.round(state.rate * 100) / 100 })),
  };
}

/** In how many reports one has an event: `12.6`. */
function oneInText(survivors: number, reports: number): string {
  return survivors === 0 ? '-' : factor(reports / survivors);
}

/** `7.91 % of reports have events: 1 in 12.6`. */
export function survivorsText({ totals, filtered }: Detected): string {
  const { survivors } = totals;
  const all = totals.reports + filtered;
  if (all === 0) return 'no reports';
  if (survivors === 0) return 'no report has an event';
  return `${percent(survivors / all)} of reports have events: 1 in ${factor(all / survivors)}`;
}

/** The other counters as text, without zeros. */
function otherText(totals: DetectionTotals): string {
  const counts: readonly (readonly [string, number])[] = [
    ['could not be decoded', totals.notOk],
    ['matched no rule', totals.unmatched],
    ['passed over by sampling', totals.unsampled],
    ['without flow', totals.withoutFlow],
    ['hops beyond the positions followed', totals.beyondPositions],
    ['of removed rules', totals.removed.reports],
  ];
  return counts
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${grouped(count)} ${name}`)
    .join(', ');
}

/** Narrowest and widest column of names. */
const MIN_NAME = 10;
const MAX_NAME = 40;

/** A rule's name, truncated or padded to a width. */
function named(name: string, width: number): string {
  return name.length <= width ? name.padEnd(width) : `${name.slice(0, width - 1)}…`;
}

/** The rules as plain text: a heading, then one line each; the default is last, if it matched any report. */
export function ruleTable(totals: DetectionTotals): string[] {
  const rows: [string, RuleFigures][] = [...totals.byRule];
  if (totals.byDefault.reports > 0) rows.push(['(no rule)', totals.byDefault]);
  const width = Math.min(MAX_NAME, Math.max(MIN_NAME, ...rows.map(([name]) => name.length)));
  const line = (name: string, ...cells: string[]): string =>
    [named(name, width), ...cells.map((cell) => cell.padStart(12))].join(' ');
  return [
    line('rule', 'reports', 'events', 'with events', '1 report in'),
    ...rows.map(([name, { reports, events, survivors }]) =>
      line(
        name,
        grouped(reports),
        grouped(events),
        percent(fraction(survivors, reports)),
        oneInText(survivors, reports),
      ),
    ),
  ];
}

export function adaptationLines(states: readonly AdaptationState[]): string[] {
  return states.map(({ rule, target, rate, status, threshold }) => {
    const at = rule === null ? `${factor(threshold)} times the thresholds` : `threshold ${grouped(threshold)}`;
    return `${rule ?? 'all rules'}: ${grouped(rate)} of ${grouped(target)} events/s at ${at}, ${status}`;
  });
}

/** The text at the end of a run: totals, then the rules. */
export function detectionTable(detected: Detected, colour: Colours): string[] {
  const { totals, adaptation } = detected;
  const head = `${counted(totals.reports, 'report')}, ${counted(totals.events, 'event')}`;
  const lines = [`${colour.bold(head)}: ${survivorsText(detected)}`];
  const other = otherText(totals);
  if (other !== '') lines.push(colour.dim(`not counted by a rule's detector: ${other}`));
  const state = [
    ['aged', totals.aged],
    ['evicted', totals.evicted],
  ] as const;
  if (state.some(([, count]) => count > 0)) {
    lines.push(colour.dim(`state: ${state.map(([name, count]) => `${grouped(count)} ${name}`).join(', ')}`));
  }
  const [heading, ...rows] = ruleTable(totals);
  return [...lines, colour.bold(heading!), ...rows, ...adaptationLines(adaptation)];
}
