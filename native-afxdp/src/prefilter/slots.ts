/** Detectors that keep state in the kernel. */
export const STATEFUL_KINDS = ['perHop', 'perFlow', 'movingAverage'] as const;
export type StatefulKind = (typeof STATEFUL_KINDS)[number];

/** Maps of the state, by the kind of detector. */
export const STATE_MAPS = {
  perHop: 'switch_state',
  perFlow: 'flow_state',
  movingAverage: 'average_state',
} as const satisfies Record<StatefulKind, string>;

/**
 * Which part of a state map belongs to which metric: a slot for each metric that a kind of detector has been given, the
 * same for ever, so that a rule that comes back finds its state.
 */
export class StateSlots {
  /** Slots of each kind. */
  readonly size: Readonly<Record<StatefulKind, number>>;
  readonly #metrics: Readonly<Record<StatefulKind, string[]>> = { perHop: [], perFlow: [], movingAverage: [] };

  constructor(size: Readonly<Record<StatefulKind, number>>) {
    this.size = size;
  }

  /** The slot of a metric, the next free one for a metric that has none. @throws RangeError if all are taken */
  take(kind: StatefulKind, metric: string): number {
    const known = this.find(kind, metric);
    if (known >= 0) return known;
    const metrics = this.#metrics[kind];
    if (metrics.length >= this.size[kind]) {
      throw new RangeError(
        `the filter was made for ${kind} on ${this.size[kind]} metrics (${metrics.join(', ')}), and ${metric} is one more: ` +
          'make it with a larger metricsPerDetector',
      );
    }
    return metrics.push(metric) - 1;
  }

  /** The slot of a metric, or -1. */
  find(kind: StatefulKind, metric: string): number {
    return this.#metrics[kind].indexOf(metric);
  }

  /** Slots taken. */
  used(kind: StatefulKind): number {
    return this.#metrics[kind].length;
  }

  /** A copy, for a change that may fail half-way. */
  clone(): StateSlots {
    const copy = new StateSlots(this.size);
    for (const kind of STATEFUL_KINDS) copy.#metrics[kind].push(...this.#metrics[kind]);
    return copy;
  }
}
