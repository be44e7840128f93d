/** A writer's data per collector: templates, addresses in two words, sequence numbers. */
import { ROCE_OPCODE } from '@int/codec';
import { writeWord } from '../big-endian.js';
import type { DartCollector } from '../cluster/table.js';
import type { StoreGeometry } from '../layout.js';
import type { KeyHashes } from '../store/hashes.js';
import { MULTI_WRITE_OPCODE, multiWriteHeaderLength } from './multi-write.js';
import type { Service } from './queue-pairs.js';
import { type PacketFormat, PacketTemplate, type TemplateFields } from './template.js';

/** Counters at a collector: cells of 8 bytes for FETCH&ADD, see `DartCounters`. */
export interface CounterRegion {
  /** 32 bits. */
  readonly remoteKey: number;
  /** Virtual address of cell 0, 64 bits; a multiple of 8. */
  readonly base: bigint;
  readonly cells: number;
}

/** A collector as a writer knows it, with the fields that RDMA needs. */
export interface RdmaCollector extends DartCollector {
  /** Destination MAC address of frames: the collector's, or that of the next hop. */
  readonly mac?: string;
  /** RC queue pair for atomics, 24 bits, if writes use UC. */
  readonly atomicQueuePair?: number;
  readonly counters?: CounterRegion;
}

/** Options for a writer. */
export interface RdmaWriterOptions {
  /** The geometry of the collectors' stores; the number of slots is that of the collector. */
  readonly geometry: Pick<StoreGeometry, 'valueBytes' | 'checksumBits' | 'checksumBytes' | 'slotBytes' | 'copies'>;
  /** The hashes of these stores, from their headers. */
  readonly hashes: KeyHashes;
  readonly collectors: readonly RdmaCollector[];
  /** Number of collectors per key, 1 or 2; default 1. See `CollectorTable`. */
  readonly replicas?: 1 | 2;
  /** IP address of the writer, of the same IP version as the collectors'. */
  readonly source: string;
  /** UDP source port; default 49152. */
  readonly sourcePort?: number;
  /** Default 02:00:00:00:00:01. */
  readonly sourceMac?: string;
  /** Default `ethernet`. */
  readonly format?: PacketFormat;
  /** Service of the writes; default `uc`. Atomics are always RC. */
  readonly service?: Service;
  /** RC: whether writes request an acknowledgement; default true. */
  readonly acknowledge?: boolean;
  /** 16 bits; default 0xffff. */
  readonly partitionKey?: number;
  /** 6 bits; default 0. */
  readonly dscp?: number;
  /** TTL or hop limit; default 64. */
  readonly timeToLive?: number;
  /** Packet sequence number of the first packet to each queue pair, 24 bits; default 0. */
  readonly firstPsn?: number;
  /**
   * Cells per key that `RdmaWriter.add` adds to, 1..8; default 2. It must equal `copies` of the collectors'
   * `DartCounters`.
   */
  readonly counterCopies?: number;
}

const WORD_VALUES = 2 ** 32;
const RETH_BYTES = 16;
const ATOMIC_ETH_BYTES = 28;
const PSN_MASK = 0xffffff;

/** The data of one collector. Sequence numbers are per queue pair; multi-slot writes share that of writes. */
export class CollectorPlan {
  readonly collector: RdmaCollector;
  readonly baseHigh: number;
  readonly baseLow: number;
  readonly countersHigh: number;
  readonly countersLow: number;
  readonly write: PacketTemplate;
  readonly multi: PacketTemplate;
  readonly #fields: Omit<TemplateFields, 'opcode' | 'queuePair' | 'acknowledgeRequest' | 'bodyBytes'>;
  readonly #isReliable: boolean;
  #compareSwap: PacketTemplate | undefined;
  #fetchAdd: PacketTemplate | undefined;
  #psn: number;
  #atomicPsn: number;

  constructor(collector: RdmaCollector, options: RdmaWriterOptions) {
    const { source, format = 'ethernet', sourcePort = 0xc000, sourceMac = '02:00:00:00:00:01', dscp = 0 } = options;
    const { partitionKey = 0xffff, timeToLive = 64, service = 'uc', acknowledge = true, firstPsn = 0 } = options;
    const { slotBytes, copies } = options.geometry;
    const { address: destination, port: destinationPort, mac: destinationMac = '02:00:00:00:00:02' } = collector;
    const size = BigInt(collector.slots) * BigInt(slotBytes);
    if (collector.base < 0n || collector.base + size > 1n << 64n) {
      throw new RangeError(`collector ${collector.id}: ${size} bytes at ${collector.base} are not in 64 bits`);
    }
    this.collector = collector;
    this.#isReliable = service === 'rc';
    this.baseHigh = Number(collector.base >> 32n);
    this.baseLow = Number(collector.base & 0xffffffffn);
    const { base = 0n, cells = 0 } = collector.counters ?? {};
    if (base < 0n || base % 8n !== 0n || base + BigInt(cells) * 8n > 1n << 64n) {
      throw new RangeError(`collector ${collector.id}: ${cells} counters cannot be at ${base}`);
    }
    this.countersHigh = Number(base >> 32n);
    this.countersLow = Number(base & 0xffffffffn);
    this.#psn = firstPsn;
    this.#atomicPsn = firstPsn;
    const ends = { source, sourcePort, sourceMac, destination, destinationPort, destinationMac };
    this.#fields = { ...ends, format, dscp, timeToLive, partitionKey };
    const opcode = this.#isReliable ? ROCE_OPCODE.RC_WRITE_ONLY : ROCE_OPCODE.UC_WRITE_ONLY;
    const asks = this.#isReliable && acknowledge;
    this.write = this.#template(opcode, collector.queuePair, RETH_BYTES + slotBytes, asks);
    const multiBytes = multiWriteHeaderLength(copies) + slotBytes;
    this.multi = this.#template(MULTI_WRITE_OPCODE, collector.queuePair, multiBytes, false);
  }

  /** COMPARE&SWAP packets. @throws TypeError if the collector has no queue pair for atomics */
  get compareSwap(): PacketTemplate {
    this.#compareSwap ??= this.#atomic(ROCE_OPCODE.RC_COMPARE_SWAP);
    return this.#compareSwap;
  }

  /** FETCH&ADD packets. @throws TypeError if the collector has no queue pair for atomics */
  get fetchAdd(): PacketTemplate {
    this.#fetchAdd ??= this.#atomic(ROCE_OPCODE.RC_FETCH_ADD);
    return this.#fetchAdd;
  }

  /** @throws TypeError if the collector has none */
  get counters(): CounterRegion {
    const { counters, id } = this.collector;
    if (counters === undefined) throw new TypeError(`collector ${id} has no counters`);
    return counters;
  }

  /** The sequence number of the next write. */
  get psn(): number {
    return this.#psn;
  }

  nextPsn(): number {
    const psn = this.#psn;
    this.#psn = (psn + 1) & PSN_MASK;
    return psn;
  }

  nextAtomicPsn(): number {
    if (this.#isReliable && this.#atomicQueuePair === this.collector.queuePair) return this.nextPsn();
    const psn = this.#atomicPsn;
    this.#atomicPsn = (psn + 1) & PSN_MASK;
    return psn;
  }

  get #atomicQueuePair(): number | undefined {
    const { atomicQueuePair, queuePair } = this.collector;
    return atomicQueuePair ?? (this.#isReliable ? queuePair : undefined);
  }

  #atomic(opcode: number): PacketTemplate {
    const queuePair = this.#atomicQueuePair;
    if (queuePair === undefined) throw new TypeError('atomics need RC: a collector with an atomicQueuePair');
    return this.#template(opcode, queuePair, ATOMIC_ETH_BYTES, true);
  }

  #template(opcode: number, queuePair: number, bodyBytes: number, acknowledgeRequest: boolean): PacketTemplate {
    return new PacketTemplate({ ...this.#fields, opcode, queuePair, acknowledgeRequest, bodyBytes });
  }
}

/** Writes the 64-bit address `distance` bytes after a base given as two words. */
export function writeAddress(out: Uint8Array, at: number, high: number, low: number, distance: number): void {
  const lower = low + distance;
  writeWord(out, at, high + Math.floor(lower / WORD_VALUES));
  writeWord(out, at + 4, lower % WORD_VALUES);
}
