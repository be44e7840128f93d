/** Events against labels: what was found, what was not, what is not true, and how long it took. */
import type { Flow } from '@int/codec';
import { type DrainedLink, LABEL_KINDS, type Label, type LabelKind } from '@int/netsim';
import type { ImmediateEvent } from '@int/stream';

/** An event may come so much later than what it tells of is over. */
const LATE_NS = 4e9;

/** How one kind of event did. */
export interface Score {
  readonly kind: LabelKind;
  readonly labels: number;
  /** Labels for which there was an event. */
  readonly found: number;
  /** Events that no label explains. */
  readonly falseAlarms: number;
  /** Of these, events `linkFailure` about links that were silent because flows had been moved off them. */
  readonly drained: number;
  /** Further events for a label that has one. */
  readonly repeats: number;
  /** From the beginning of each label found to its first event, milliseconds, ascending. */
  readonly delaysMs: readonly number[];
}

/** What was observed of a scenario, as far as it is scored. */
export interface Scored {
  readonly events: readonly ImmediateEvent[];
  readonly labels: readonly Label[];
  readonly drained: readonly DrainedLink[];
}

function isSameFlow(a: Flow | null, b: Flow | undefined): boolean {
  if (a === null || b === undefined) return false;
  const hasPorts = a.sourcePort === b.sourcePort && a.destinationPort === b.destinationPort;
  return hasPorts && a.source === b.source && a.destination === b.destination && a.protocol === b.protocol;
}

/** Whether an event tells of what a label says, whenever. */
function isAbout(event: ImmediateEvent, label: Label): boolean {
  if (event.kind !== label.kind) return false;
  switch (event.kind) {
    case 'linkFailure':
      return Math.min(...event.link) === label.link?.[0] && Math.max(...event.link) === label.link[1];
    case 'persistentCongestion':
      return event.nodeId === label.nodeId && event.queueId === label.queueId;
    case 'reportLoss':
      return event.nodeId === label.nodeId && event.hwId === label.hwId;
    default:
      return isSameFlow(event.flow, label.flow);
  }
}

function isDrained(event: ImmediateEvent, { link, fromNs }: DrainedLink): boolean {
  if (event.kind !== 'linkFailure' || event.link[0] !== link[0] || event.link[1] !== link[1]) return false;
  const timeNs = Number(event.timeNs);
  return timeNs >= fromNs && timeNs <= fromNs + LATE_NS;
}

/**
 * Scores one scenario. An event is explained by the latest label that it is about, that began before the event was raised and
 * was not over long before. Ends of events are not scored.
 */
export function scoreOf({ events, labels, drained }: Scored): Map<LabelKind, Score> {
  const firsts = new Map<Label, number>();
  const falseAlarms = new Map<LabelKind, number>();
  const repeats = new Map<LabelKind, number>();
  let onDrained = 0;
  const count = (counts: Map<LabelKind, number>, kind: LabelKind): void => {
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  };
  for (const event of events) {
    if (event.ended === true) continue;
    const timeNs = Number(event.timeNs);
    const label = labels.findLast((one) => isAbout(event, one) && one.fromNs <= timeNs && timeNs <= one.toNs + LATE_NS);
    if (label === undefined) {
      count(falseAlarms, event.kind);
      if (drained.some((one) => isDrained(event, one))) onDrained++;
    } else if (firsts.has(label)) count(repeats, event.kind);
    else firsts.set(label, timeNs);
  }
  return new Map(
    LABEL_KINDS.map((kind) => {
      const own = labels.filter((label) => label.kind === kind);
      const found = own.filter((label) => firsts.has(label));
      const score: Score = {
        kind,
        labels: own.length,
        found: found.length,
        falseAlarms: falseAlarms.get(kind) ?? 0,
        drained: kind === 'linkFailure' ? onDrained : 0,
        repeats: repeats.get(kind) ?? 0,
        delaysMs: found.map((label) => (firsts.get(label)! - label.fromNs) / 1e6).sort((a, b) => a - b),
      };
      return [kind, score];
    }),
  );
}

/** The scores of several scenarios as one. */
export function sumOf(scores: readonly Score[], kind: LabelKind): Score {
  const total = (of: (score: Score) => number): number => scores.reduce((sum, score) => sum + of(score), 0);
  return {
    kind,
    labels: total(({ labels }) => labels),
    found: total(({ found }) => found),
    falseAlarms: total(({ falseAlarms }) => falseAlarms),
    drained: total(({ drained }) => drained),
    repeats: total(({ repeats }) => repeats),
    delaysMs: scores.flatMap(({ delaysMs }) => delaysMs).sort((a, b) => a - b),
  };
}

/** The value below which so much of an ascending list is; null if it is empty. */
export function quantile(ascending: readonly number[], share: number): number | null {
  return ascending[Math.min(ascending.length - 1, Math.floor(share * ascending.length))] ?? null;
}
