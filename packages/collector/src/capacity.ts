/** Rows of the batch that the pipeline decodes into. */
export interface PipelineCapacity {
  /** Frames per batch. Default 1024. */
  readonly frames?: number;
  /** Individual reports per batch. Default 8192: more than the shortest reports that fit into one datagram. */
  readonly reports?: number;
  /** Hop rows per batch. Default 32 768: more than the 32-bit words that fit into one datagram. */
  readonly hops?: number;
}

/** The capacity with its defaults. */
export function batchCapacity(capacity: PipelineCapacity = {}): Required<PipelineCapacity> {
  const { frames = 1024, reports = 8192, hops = 32_768 } = capacity;
  return { frames, reports, hops };
}
