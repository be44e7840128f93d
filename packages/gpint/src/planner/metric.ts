import type { Random } from '@int/random';

/** The distances of the nodes to cover, for a search over walks. Nodes have indices below `size`. */
export interface Metric {
  /** The node of the graph behind each index. */
  readonly nodes: Int32Array;
  readonly size: number;
  readonly isWeighted: boolean;
  readonly hasEntries: boolean;
  /** Cost and links from the nearest entry point to each; zeros if walks may start anywhere. */
  readonly entryCost: Float64Array;
  readonly entryHops: Float64Array;
  /** Cost of a path between two nodes; its number of links without weights. */
  costBetween(a: number, b: number): number;
  /** Number of links of that way. */
  hopsBetween(a: number, b: number): number;
  /** For each node `width` of the nearest or nearly nearest nodes, filled with the node itself if there are fewer. */
  nearest(width: number, random: Random): Int32Array;
}
