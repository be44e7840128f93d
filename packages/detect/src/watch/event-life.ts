/** What is told of an event with a beginning and an end, beside what its finding says. */
import type { Severity } from './config.js';
import type { TrackedEvent } from './event-tracker.js';

/** The life of an event of a rule with a lifecycle, as sinks write it beside the event. */
export interface EventLife {
  /** The same from the beginning to the end: `<instance>-<n>`; n counts the events of the detector that have begun, from 1. */
  readonly eventId: string;
  readonly rule: string;
  /** `open`: it begins or goes on. */
  readonly state: 'open' | 'close';
  readonly severity: Severity;
  /** What has the beginning and the end, for people: `switch 3`, `switch 3 queue 1`, a flow. */
  readonly key: string;
  /** Whether `open` tells of the beginning. */
  readonly isFirst: boolean;
  /** Time of the first finding, nanoseconds since 1970. */
  readonly beginNs: bigint;
  /**
   * Time of what is told, nanoseconds since 1970: of the finding, unless time alone has told of it. An end is at the last finding, or
   * at the value that ended the event.
   */
  readonly timeNs: bigint;
  /** Findings so far. */
  readonly findings: number;
}

/** Times of the tracker are in milliseconds, and exact to a microsecond. */
const nanoseconds = (timeMs: number): bigint => BigInt(Math.round(timeMs * 1000)) * 1000n;

/** {@link EventLife.timeNs} */
export function toldTimeNs({ state, timeMs, finding: { timeNs } }: TrackedEvent<{ timeNs: bigint }>): bigint {
  const isAtFinding = state === 'open' && Math.abs(timeMs - Number(timeNs) / 1e6) < 0.001;
  return isAtFinding ? timeNs : nanoseconds(timeMs);
}

/** @param instance 16 hexadecimal digits that no other detector's events have */
export function lifeOf(told: TrackedEvent<{ timeNs: bigint; key: string }>, instance: string): EventLife {
  const { id, rule, state, isFirst, beginMs, findings, finding } = told;
  return {
    eventId: `${instance}-${id}`,
    rule: rule.name,
    state,
    severity: rule.lifecycle.severity,
    key: finding.key,
    isFirst,
    beginNs: nanoseconds(beginMs),
    timeNs: toldTimeNs(told),
    findings,
  };
}
