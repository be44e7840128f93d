/**
 * A fault of a source, stage or sink, for as long as it lasts. The collector gathers the states. `/health`, the
 * terminal and the metrics show them.
 */
export interface DegradedState {
  /** What it is, in a word that programs can rely on: one of {@link DEGRADED}, or a part's own. */
  readonly name: string;
  /** When it began, in milliseconds since the epoch. */
  readonly since: number;
  /** One line for people: the fault, its extent and the remedy. */
  readonly text: string;
}

/** A degraded state, and the part that is in it. */
export interface DegradedPart extends DegradedState {
  /** The name of the source, stage or sink; `collector` for the pipeline itself. */
  readonly where: string;
}

/** The names of states that mean the same wherever they come up. */
export const DEGRADED = {
  /** Input or records are dropped, because room or time is short. */
  SHEDDING: 'shedding',
  /** There are more switches, queues or reporters than rows. Those without a row are counted together. */
  UNTRACKED: 'untracked',
  /** Input or stored data cannot be read. */
  DAMAGED: 'damaged',
  /** Input comes after the results that it belongs to. */
  LATE: 'late',
  /** Records wait on disk. */
  SPOOLING: 'spooling',
  /**
   * The destination of a sink is away or takes nothing, the origin of a source is away, or the input of a processor is
   * silent.
   */
  OUTAGE: 'outage',
  /** A part throws at some of its input. */
  FAULTY: 'faulty',
  /** A part has ended with an error, and does not come back by itself. */
  FAILED: 'failed',
  /** The thread of the pipeline does not answer. */
  STALLED: 'stalled',
  /** Requests of strangers are turned away. */
  REFUSING: 'refusing',
  /** Many frames come from senders that may not send. */
  UNKNOWN_SOURCE: 'unknown-source',
  /** Frames name switches that there are not. */
  UNKNOWN_SWITCH: 'unknown-switch',
} as const;

/**
 * States in which the process does not do its work. The others come from load or attacks, which a restart does not
 * cure.
 */
const UNHEALTHY: ReadonlySet<string> = /* @__PURE__ */ new Set([DEGRADED.OUTAGE, DEGRADED.FAILED, DEGRADED.STALLED]);

/** The answer to a probe of the process. */
export interface HealthReport {
  /** `failing`: a part does not do its work. `degraded`: something is lost or delayed. */
  readonly status: 'ok' | 'degraded' | 'failing';
  /** False only if `failing`: load and attacks are no reason to restart a process. */
  readonly healthy: boolean;
  readonly degraded: readonly DegradedPart[];
}

/** Sums up the degraded states of a process. */
export function healthOf(degraded: readonly DegradedPart[]): HealthReport {
  const isFailing = degraded.some(({ name }) => UNHEALTHY.has(name));
  const status = isFailing ? 'failing' : degraded.length > 0 ? 'degraded' : 'ok';
  return { status, healthy: !isFailing, degraded };
}
