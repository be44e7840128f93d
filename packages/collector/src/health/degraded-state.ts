/**
 * Something that is not as it should be, for as long as it lasts. Sources, stages and sinks name what they suffer from;
 * the collector gathers it, and `/health`, the terminal and the metrics tell it.
 */
export interface DegradedState {
  /** What it is, in a word that programs can rely on: one of {@link DEGRADED}, or a part's own. */
  readonly name: string;
  /** When it began, in milliseconds since the epoch. */
  readonly since: number;
  /** For people, one line: what happens, how much of it, and what can be done. */
  readonly text: string;
}

/** A degraded state, and the part that is in it. */
export interface DegradedPart extends DegradedState {
  /** The name of the source, stage or sink; `collector` for the pipeline itself. */
  readonly where: string;
}

/** The names of states that mean the same wherever they come up. */
export const DEGRADED = {
  /** Input or records are dropped, for want of room or of time. */
  SHEDDING: 'shedding',
  /** There are more switches, queues or reporters than rows for them: what has no row is counted together. */
  UNTRACKED: 'untracked',
  /** What arrives, or what was stored, cannot be read. */
  DAMAGED: 'damaged',
  /** Input comes after the results that it belongs to. */
  LATE: 'late',
  /** Records wait on disk. */
  SPOOLING: 'spooling',
  /** What a sink writes to is away, or takes nothing; what a source receives from is away; what a processor reads from is silent. */
  OUTAGE: 'outage',
  /** A part throws at some of its input. */
  FAULTY: 'faulty',
  /** A part has ended with an error, and does not come back by itself. */
  FAILED: 'failed',
  /** The thread of the pipeline does not answer. */
  STALLED: 'stalled',
  /** Requests of strangers are turned away. */
  REFUSING: 'refusing',
} as const;

/** States in which the process does not do its work. The others are signs of load or of an attack: a restart cures neither. */
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
