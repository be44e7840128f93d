import type { ProcessorOptions } from '@int/stream-kafka';

export const PARTITIONS = 4;

/** With a network side that waits for whatever is missing. */
export function optionsFor(bootstrap: readonly string[], prefix: string): ProcessorOptions {
  return {
    bootstrap,
    prefix,
    group: prefix,
    partitions: PARTITIONS,
    sessionMs: 6000,
    commitMs: 200,
    networkSide: { waitMs: 3_600_000, forgetMs: 7_200_000 },
  };
}
