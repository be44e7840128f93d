import type { AcceleratorMemory, DecodeOptions } from '@int/codec';
import type { PipelineCapacity } from './capacity.js';
import type { Source } from './source/source.js';
import type { Sink, Stage } from './stage.js';

/** Something went wrong in a source, a stage or a sink; the collector goes on with the others. */
export interface CollectorProblem {
  /** The name of the source, stage or sink. */
  readonly where: string;
  readonly error: Error;
}

export interface CollectorOptions {
  readonly sources: readonly Source[];
  /** How to find and read INT; `linkType` comes from the sources. */
  readonly decode?: Omit<DecodeOptions, 'linkType'>;
  /** Run on every batch, in this order. */
  readonly stages?: readonly Stage[];
  /** Given every batch after the stages, and the events and flow entries that stages find. */
  readonly sinks?: readonly Sink[];
  /**
   * Ids of the switches that there are, such as the keys of `Topology.switches`. A frame with a report that names another one,
   * as the reporting node or as a hop, is counted as `unknown-switch` and becomes no rows. Reports that name no switch stay.
   * Who may send is an option of each source, `from`. Default: any id may be a switch.
   */
  readonly knownSwitches?: Iterable<number>;
  readonly capacity?: PipelineCapacity;
  /**
   * Memory to put the batch in, so that the WebAssembly accelerators of stages can work on it, too, see {@link detectionMemory}. The
   * decoder's accelerator runs there if `BatchDecoder.acceleratorBytes` are free. Default: memory for the batch and the decoder.
   */
  readonly memory?: AcceleratorMemory;
  /** Called when something goes wrong. A problem that repeats is reported once. */
  readonly onProblem?: (problem: CollectorProblem) => void;
}

/** A source in the place of another one, which has the same address and so must close first. */
export interface SourceExchange {
  readonly old: Source;
  readonly by: Source;
  /** A source like `old`, not yet open: it opens if `by` cannot be opened. */
  readonly back: Source;
  /** Called when `back` has been opened in the place of `old`, or, with false, when that was not possible and neither is there. */
  readonly onBack?: (isOpen: boolean) => void;
}

/**
 * What a running collector is to consist of, see {@link Collector.reconfigure}. A missing member leaves that part as it
 * is. Objects that are already there go on with their state. New ones begin, and those that are not named end.
 */
export interface CollectorChange extends Partial<Pick<CollectorOptions, 'sources' | 'stages' | 'sinks' | 'decode'>> {
  /** Which of the new `sources` open only after an old one has closed. Nobody receives in between. */
  readonly exchanges?: readonly SourceExchange[];
  /** The switches that there are, from the change on; `null`: any id may be one. */
  readonly knownSwitches?: Iterable<number> | null;
  /** Memory that the batch moves to, for new stages with accelerators. */
  readonly memory?: AcceleratorMemory;
  /**
   * Called when the change is in force and the old stages have handed on what they held, before anything else comes to the new
   * sinks: for a new sink that can open only after an old one has closed. The pipeline waits for the promise, so sources
   * without room drop what comes meanwhile. A rejection is a problem like others.
   */
  readonly handOver?: () => Promise<void>;
}
