import type { Admission } from '../admission/admission.js';
import type { FrameCounters } from '../counters.js';
import type { SourceCounts } from '../source/running-sources.js';
import type { Source } from '../source/source.js';
import type { Stage } from '../stage.js';
import { DEGRADED, type DegradedPart, type DegradedState } from './degraded-state.js';
import { DegradedStates } from './degraded-states.js';

/** The name of the pipeline itself among the parts. */
const PIPELINE = 'collector';

/** Frames of unknown senders that make a state: a single stray datagram is none. */
const MANY_REFUSED = 100;

/** Most different errors of a stage that are reported. */
const MOST_TOLD = 8;

/** A source or stage, and the faults that the pipeline sees in it. */
interface Part {
  readonly name: string;
  readonly states: DegradedStates;
  /** What it names itself. */
  readonly own: () => readonly DegradedState[];
}

interface SourcePart extends Part {
  readonly source: Source;
}

/** A stage, and what it has thrown. */
interface StagePart extends Part {
  readonly stage: Stage;
  thrown: number;
  /** What was thrown last. */
  last: string;
  readonly told: Set<string>;
}

function sourcePart(source: Source): SourcePart {
  const states = new DegradedStates();
  states.watch(
    DEGRADED.SHEDDING,
    () => source.overrun + (source.kernelDropped ?? 0),
    (frames) => `${frames} frames lost, because they come faster than they can be taken`,
  );
  const own = (): readonly DegradedState[] => {
    const reason = source.health?.() ?? null;
    if (reason === null) states.end(DEGRADED.OUTAGE);
    else states.begin(DEGRADED.OUTAGE, reason);
    return source.degraded?.() ?? [];
  };
  return { source, name: source.name, states, own };
}

function stagePart(stage: Stage): StagePart {
  const states = new DegradedStates();
  const part: StagePart = {
    stage,
    name: stage.name,
    states,
    own: () => stage.degraded?.() ?? [],
    thrown: 0,
    last: '',
    told: new Set(),
  };
  states.watch(
    DEGRADED.FAULTY,
    () => part.thrown,
    (batches) => `${batches} batches that it has thrown at, the last one: ${part.last}`,
  );
  return part;
}

/** The degraded states of a pipeline, without its sinks. */
export class PipelineHealth {
  readonly #pipeline = new DegradedStates();
  #sources: readonly SourcePart[];
  #stages: readonly StagePart[];

  constructor(
    sources: readonly Source[],
    stages: readonly Stage[],
    counters: FrameCounters,
    refused: () => Pick<SourceCounts, 'refused' | 'refusedSwitches'>,
    admission: Pick<Admission, 'lastUnknown'>,
  ) {
    this.#pipeline.watch(
      DEGRADED.SHEDDING,
      () => counters.overrun,
      (frames) => `${frames} frames let go by the pipeline`,
    );
    this.#pipeline.watch(
      DEGRADED.DAMAGED,
      () => {
        const { truncated, malformed, unsupported } = counters.totals(0, refused(), null).dropped;
        return truncated + malformed + unsupported;
      },
      (frames) => `${frames} frames that cannot be read`,
    );
    this.#pipeline.watch(
      DEGRADED.UNKNOWN_SOURCE,
      () => Math.floor((refused().refused + counters.unknownSource) / MANY_REFUSED),
      (hundreds) =>
        `about ${hundreds * MANY_REFUSED} frames of senders that may not send: forged, or a sender is missing in 'from'`,
    );
    this.#pipeline.watch(
      DEGRADED.UNKNOWN_SWITCH,
      () => refused().refusedSwitches + counters.unknownSwitch,
      (frames) => {
        const { lastUnknown } = admission;
        const last = lastUnknown === null ? '' : `, the last one ${lastUnknown}`;
        return `${frames} frames that name a switch the topology does not have${last}: forged, or a switch is missing`;
      },
    );
    this.#sources = sources.map(sourcePart);
    this.#stages = stages.map(stagePart);
  }

  /** Follows other sources and stages from now on. Those that were here before keep their states. */
  change(sources: readonly Source[], stages: readonly Stage[]): void {
    const [before, beside] = [this.#sources, this.#stages];
    this.#sources = sources.map((source) => before.find((part) => part.source === source) ?? sourcePart(source));
    this.#stages = stages.map((stage) => beside.find((part) => part.stage === stage) ?? stagePart(stage));
  }

  /** Records that a source has ended with an error. */
  failed(source: Source, error: Error): void {
    this.#sources.find((part) => part.source === source)?.states.begin(DEGRADED.FAILED, error.message);
  }

  /** Notes that a stage has thrown. @returns whether to report the error: a repeated one is reported once */
  threw(stage: Stage, error: Error): boolean {
    const part = this.#stages.find((each) => each.stage === stage);
    if (part === undefined) return true;
    part.thrown++;
    part.last = error.message;
    if (part.told.size >= MOST_TOLD || part.told.has(error.message)) return false;
    part.told.add(error.message);
    return true;
  }

  degraded(): DegradedPart[] {
    const parts: Part[] = [
      { name: PIPELINE, states: this.#pipeline, own: () => [] },
      ...this.#sources,
      ...this.#stages,
    ];
    return parts.flatMap(({ name, states, own }) => {
      const named = own();
      return [...states.list(), ...named].map((state) => ({ where: name, ...state }));
    });
  }
}
