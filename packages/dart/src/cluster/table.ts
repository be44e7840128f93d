/** A table of collectors, and the collectors of a key. */
import type { KeyHashes } from '../store/hashes.js';

/** The data of a collector that a switch needs to write into its memory. */
export interface DartCollector {
  /** The place in the table, 0..C - 1. */
  readonly id: number;
  /** IPv4 or IPv6 address. */
  readonly address: string;
  /** UDP port; 4791 for RoCEv2. */
  readonly port: number;
  /** 24 bits. */
  readonly queuePair: number;
  /** 32 bits. */
  readonly remoteKey: number;
  /** Virtual address of the first byte of slot 0, 64 bits. */
  readonly base: bigint;
  /** M of its store. */
  readonly slots: number;
}

/**
 * A table of C collectors. One collector has all copies of a key, so a query needs only one (DART, section 3.1). With
 * two replicas, a second collector has all copies as well.
 *
 * The first is the collector hash modulo C. The second is d + 1 places further, modulo C, where d is the checksum hash
 * (all its 32 bits) modulo C - 1. The second collectors of one collector's keys are thus spread over all others.
 */
export class CollectorTable {
  readonly collectors: readonly DartCollector[];
  /** Number of collectors per key: 1 or 2. */
  readonly replicas: 1 | 2;

  /** @throws RangeError for an empty table, ids that differ from the places, or more replicas than collectors */
  constructor(collectors: readonly DartCollector[], replicas: 1 | 2 = 1) {
    const wrong = collectors.findIndex(({ id }, place) => id !== place);
    if (wrong >= 0) throw new RangeError(`collector ${collectors[wrong]!.id} stands in place ${wrong} of the table`);
    if (replicas !== 1 && replicas !== 2) throw new RangeError(`replicas must be 1 or 2, not ${String(replicas)}`);
    if (collectors.length < replicas) {
      throw new RangeError(`${replicas} replicas need as many collectors; the table has ${collectors.length}`);
    }
    this.collectors = collectors;
    this.replicas = replicas;
  }

  /** The first collector of a key. */
  primary(hashes: KeyHashes, bytes: Uint8Array, offset = 0, length: number = bytes.length): number {
    return hashes.collector(bytes, offset, length) % this.collectors.length;
  }

  /** The second collector of a key; -1 with one replica. */
  secondary(hashes: KeyHashes, bytes: Uint8Array, offset = 0, length: number = bytes.length): number {
    if (this.replicas === 1) return -1;
    const count = this.collectors.length;
    const step = hashes.checksum(bytes, offset, length) % (count - 1);
    return (this.primary(hashes, bytes, offset, length) + 1 + step) % count;
  }
}
