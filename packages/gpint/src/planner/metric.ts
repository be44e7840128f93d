import type { Random } from '@int/random';

/** What a search over walks needs to know of the nodes to be covered, which it knows by indices below `size`. */
export interface Metric {
  /** The node of the graph behind each index. */
  readonly nodes: Int32Array;
  readonly size: number;
  readonly isWeighted: boolean;
  readonly hasEntries: boolean;
  /** Cost and links from the nearest entry point to each; zeros where a walk may start anywhere. */
  readonly entryCost: Float64Array;
  readonly entryHops: Float64Array;
  /** Cost of a way between two nodes; its number of links where these have no weights. */
  costBetween(a: number, b: number): number;
  /** Number of links of that way. */
  hopsBetween(a: number, b: number): number;
  /** `width` nodes for each node, the nearest to it or nearly so; itself where there are fewer. */
  nearest(width: number, random: Random): Int32Array;
}
