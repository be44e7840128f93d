/** Incidents against the truth: each incident counts once, however long it lasts. */
import type { Incident } from '@int/knowledge';

/** An incident may be raised so much later than the attack is over. */
const LATE_MS = 10_000;

/** An incident that opened, and when. */
export interface Raised {
  readonly kind: Incident['kind'];
  readonly entity: string;
  readonly timeMs: number;
}

/** What is true, and what an incident must say of it. */
export interface Attack {
  readonly kind: string;
  readonly entity: string;
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Score {
  /** Attacks, and those for which an incident was raised. */
  readonly attacks: number;
  readonly found: number;
  /** Incidents, and those that no attack explains. */
  readonly incidents: number;
  readonly falseAlarms: number;
  /** From the first packet of an attack to its incident, milliseconds, ascending. */
  readonly delaysMs: readonly number[];
}

/** An incident is explained by an attack of its kind on, or by, its host, that had begun and was not over long before. */
export function scoreOf(raised: readonly Raised[], truth: readonly Attack[]): Score {
  const firsts = new Map<Attack, number>();
  let falseAlarms = 0;
  for (const { kind, entity, timeMs } of raised) {
    const attack = truth.find(
      (each) => each.kind === kind && each.entity === entity && each.fromMs <= timeMs && timeMs <= each.toMs + LATE_MS,
    );
    if (attack === undefined) falseAlarms++;
    else if (!firsts.has(attack)) firsts.set(attack, timeMs);
  }
  return {
    attacks: truth.length,
    found: firsts.size,
    incidents: raised.length,
    falseAlarms,
    delaysMs: [...firsts].map(([{ fromMs }, timeMs]) => timeMs - fromMs).sort((a, b) => a - b),
  };
}

/** The scores of several runs as one. */
export function sumOf(scores: readonly Score[]): Score {
  const total = (of: (score: Score) => number): number => scores.reduce((sum, score) => sum + of(score), 0);
  return {
    attacks: total(({ attacks }) => attacks),
    found: total(({ found }) => found),
    incidents: total(({ incidents }) => incidents),
    falseAlarms: total(({ falseAlarms }) => falseAlarms),
    delaysMs: scores.flatMap(({ delaysMs }) => delaysMs).sort((a, b) => a - b),
  };
}

/** Share of the attacks that were found; `null` without attacks. */
export const recallOf = ({ attacks, found }: Score): number | null => (attacks === 0 ? null : found / attacks);

/** Share of the incidents that tell of an attack; `null` without incidents. */
export const precisionOf = ({ incidents, falseAlarms }: Score): number | null =>
  incidents === 0 ? null : (incidents - falseAlarms) / incidents;
