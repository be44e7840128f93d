import type { HopColumn } from './fields.js';

/**
 * The hop columns of a batch by name. Each has a line, in the order of `HOP_COLUMNS`: an object that gets as many properties by
 * computed names is a hash table for the engine, and each access to a column a search in it.
 */
export class HopViews implements Readonly<Record<HopColumn, Uint32Array>> {
  readonly nodeId: Uint32Array;
  readonly l1IngressInterface: Uint32Array;
  readonly l1EgressInterface: Uint32Array;
  readonly hopLatency: Uint32Array;
  readonly queueId: Uint32Array;
  readonly queueOccupancy: Uint32Array;
  readonly ingressTimestampHigh: Uint32Array;
  readonly ingressTimestampLow: Uint32Array;
  readonly egressTimestampHigh: Uint32Array;
  readonly egressTimestampLow: Uint32Array;
  readonly l2IngressInterface: Uint32Array;
  readonly l2EgressInterface: Uint32Array;
  readonly egressUtilization: Uint32Array;
  readonly bufferId: Uint32Array;
  readonly bufferOccupancy: Uint32Array;
  readonly checksumComplement: Uint32Array;
  readonly congestionQueueId: Uint32Array;
  readonly queueCongestion: Uint32Array;
  readonly reserved8: Uint32Array;
  readonly reserved9: Uint32Array;
  readonly reserved10: Uint32Array;
  readonly reserved11: Uint32Array;
  readonly reserved12: Uint32Array;
  readonly reserved13: Uint32Array;
  readonly reserved14: Uint32Array;
  readonly reserved15: Uint32Array;
  readonly domainOffset: Uint32Array;

  /** @param words of all columns @param stride words from column to column @param hops length of each */
  constructor(words: Uint32Array, stride: number, hops: number) {
    let start = -stride;
    const next = (): Uint32Array => {
      start += stride;
      return words.subarray(start, start + hops);
    };
    this.nodeId = next();
    this.l1IngressInterface = next();
    this.l1EgressInterface = next();
    this.hopLatency = next();
    this.queueId = next();
    this.queueOccupancy = next();
    this.ingressTimestampHigh = next();
    this.ingressTimestampLow = next();
    this.egressTimestampHigh = next();
    this.egressTimestampLow = next();
    this.l2IngressInterface = next();
    this.l2EgressInterface = next();
    this.egressUtilization = next();
    this.bufferId = next();
    this.bufferOccupancy = next();
    this.checksumComplement = next();
    this.congestionQueueId = next();
    this.queueCongestion = next();
    this.reserved8 = next();
    this.reserved9 = next();
    this.reserved10 = next();
    this.reserved11 = next();
    this.reserved12 = next();
    this.reserved13 = next();
    this.reserved14 = next();
    this.reserved15 = next();
    this.domainOffset = next();
  }
}
