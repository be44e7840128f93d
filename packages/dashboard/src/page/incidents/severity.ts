import type { IncidentRow } from '../../client/index.js';

export const SEVERITIES = ['critical', 'warning', 'info'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** Phases in which harm is done, or is about to be. */
const LATE: ReadonlySet<string> = new Set(['lateral-movement', 'command-and-control', 'exfiltration', 'impact']);
const SURE = 0.7;

/** How urgent an incident is. */
export function severityOf({ phase, confidence }: Pick<IncidentRow, 'phase' | 'confidence'>): Severity {
  const isSure = confidence >= SURE;
  if (phase !== null && LATE.has(phase)) return isSure ? 'critical' : 'warning';
  return isSure ? 'warning' : 'info';
}

export const SEVERITY_TEXT =
  'critical: a late phase of an attack (lateral movement, command and control, exfiltration, impact) with a confidence of 0.7 or more; warning: one of both; info: neither';

/** Open ones first, the most urgent of them first, and of these the newest. */
export function inOrder(rows: readonly IncidentRow[]): readonly IncidentRow[] {
  const rank = (row: IncidentRow): number =>
    (row.state === 'open' ? 0 : SEVERITIES.length) + (row.state === 'open' ? SEVERITIES.indexOf(severityOf(row)) : 0);
  return [...rows].sort((a, b) => rank(a) - rank(b) || b.from - a.from || (a.id < b.id ? -1 : 1));
}
