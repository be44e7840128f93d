/** The frames that the monitor receives: telemetry reports v2.0 over UDP over IPv4, each with an INT-MD packet in it. */
import { type AcceleratorMemory, encodeFrame, type Hop, type TelemetryRecord } from '@int/codec';
import { updateUdpChecksum } from '@int/codec/internals';
import { Random } from '@int/random';

/** How the monitor reads its frames. */
export const DECODE_OPTIONS = { linkType: 'ethernet', reportPorts: [32_766], intPorts: [5000], intDscp: null } as const;

/** Frames behind one another in memory. */
export interface Frames {
  readonly bytes: Uint8Array;
  readonly offsets: Uint32Array;
  readonly lengths: Uint32Array;
}

const FLOW = { source: '10.0.1.1', destination: '10.0.2.2', protocol: 17, sourcePort: 40_000, destinationPort: 5000 };
const SEQUENCE_MASK = 0x3f_ffff;

/** A report of one packet. @param bitmap the INT instructions, which select what each hop has */
export function recordOf(sequence: number, bitmap: number, hopMl: number, hops: Hop[]): TelemetryRecord {
  return {
    index: 0,
    status: 'ok',
    error: null,
    report: {
      version: '2.0',
      hwId: 1,
      sequence: sequence & SEQUENCE_MASK,
      nodeId: hops[hops.length - 1]!.nodeId ?? 1,
      type: 'int-md',
      dropped: false,
      queueCongested: false,
      trackedFlow: true,
      intermediate: false,
      ingressTimestamp: null,
      dropReason: null,
      dropQueueId: null,
      metadata: {},
    },
    int: {
      mode: 'md',
      version: '2',
      encapsulation: 'udp',
      hopMl,
      remainingHopCount: 8,
      instructionBitmap: bitmap,
      discard: false,
      hopExceeded: false,
      mtuExceeded: false,
      domainId: 0,
      domainInstructions: 0,
      domainFlags: 0,
    },
    flow: FLOW,
    path: hops.map((hop) => hop.nodeId ?? null),
    hops,
  };
}

/** Instructions of a report of one switch: node id, queue id and occupancy. */
const QUEUE_BITMAP = 0x9000;

/** The report of one switch, on a queue of so many nanoseconds. */
export function queueRecord(sequence: number, queueNs: number): TelemetryRecord {
  return recordOf(sequence, QUEUE_BITMAP, 2, [{ nodeId: 7, queueId: 0, queueOccupancy: queueNs }]);
}

/** Where things are in the frame of such a report, in bytes; the report's UDP payload begins at 42, its packet at 62. */
const PLACE = { OUTER_CHECKSUM: 40, SEQUENCE: 42, INNER_CHECKSUM: 102, QUEUE: 124 } as const;

/**
 * Frames of one switch's reports, made once; only sequence number and queue occupancy are written for each packet, with
 * the checksums that cover them. What results is what `encodeFrame` makes of {@link queueRecord}, byte for byte.
 */
export class QueueFrames implements Frames {
  static readonly frameBytes: number = encodeFrame(queueRecord(0, 0)).length;
  readonly bytes: Uint8Array;
  readonly offsets: Uint32Array;
  readonly lengths: Uint32Array;
  readonly #view: DataView;
  readonly #outerChecksum: number;
  readonly #innerChecksum: number;
  readonly #firstWord: number;

  /** @param count frames to make room for. Takes `count` times (frameBytes + 8) bytes of the memory */
  constructor(memory: AcceleratorMemory, count: number) {
    const frame = encodeFrame(queueRecord(0, 0));
    this.bytes = memory.bytes(count * frame.length);
    this.offsets = memory.words(count);
    this.lengths = memory.words(count).fill(frame.length);
    for (let k = 0; k < count; k++) {
      this.offsets[k] = k * frame.length;
      this.bytes.set(frame, k * frame.length);
    }
    this.#view = new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.byteLength);
    this.#outerChecksum = this.#view.getUint16(PLACE.OUTER_CHECKSUM);
    this.#innerChecksum = this.#view.getUint16(PLACE.INNER_CHECKSUM);
    this.#firstWord = this.#view.getUint32(PLACE.SEQUENCE);
  }

  /** Makes frame `index` the report number `sequence`, on a queue of so many nanoseconds, 0 to 2^24 - 2. */
  set(index: number, sequence: number, queueNs: number): void {
    const at = index * QueueFrames.frameBytes;
    const view = this.#view;
    const number = sequence & SEQUENCE_MASK;
    view.setUint32(at + PLACE.SEQUENCE, this.#firstWord | number);
    view.setUint32(at + PLACE.QUEUE, queueNs);
    const inner = updateUdpChecksum(this.#innerChecksum, 0, sumOf(queueNs));
    view.setUint16(at + PLACE.INNER_CHECKSUM, inner);
    // The outer checksum covers the inner one, which takes away again what the occupancy adds.
    view.setUint16(at + PLACE.OUTER_CHECKSUM, updateUdpChecksum(this.#outerChecksum, 0, sumOf(number)));
  }
}

/** One's complement sum of a word's halves. */
function sumOf(word: number): number {
  const sum = (word >>> 16) + (word & 0xffff);
  return (sum & 0xffff) + (sum >>> 16);
}

/** Items a hop has: instruction bits in order, the two timestamps taking two words each. */
const ITEM_BITS: readonly number[] = [0, 1, 2, 3, 4, 5, 7, 8];
const START_NS = 1_700_000_000_000_000_000n;

/** Hops and items per hop of a report. */
export interface Shape {
  readonly hops: number;
  readonly items: number;
}

/** Hops 1 to 4, items 1 to 8. */
export const SHAPES: readonly Shape[] = [1, 2, 3, 4].flatMap((hops) =>
  [1, 2, 3, 4, 5, 6, 7, 8].map((items) => ({ hops, items })),
);

function randomHop(random: Random, time: bigint, items: number): Hop {
  const hopLatency = 600 + random.integer(10) ** 4 + random.integer(300);
  const all: Hop[] = [
    { nodeId: 1 + random.integer(1000) },
    { l1IngressInterface: random.integer(64), l1EgressInterface: random.integer(64) },
    { hopLatency },
    { queueId: random.integer(8), queueOccupancy: random.integer(4) * random.integer(10_000) },
    { ingressTimestamp: time },
    { egressTimestamp: time + BigInt(hopLatency) },
    { egressUtilization: random.integer(10_000) },
    { bufferId: random.integer(4), bufferOccupancy: random.integer(100_000) },
  ];
  return Object.assign({}, ...all.slice(0, items)) as Hop;
}

/** A random report of a shape. */
export function shapeRecord({ hops, items }: Shape, sequence: number, random: Random): TelemetryRecord {
  const bits = ITEM_BITS.slice(0, items);
  const bitmap = bits.reduce((sum, bit) => sum | (0x8000 >>> bit), 0);
  const words = bits.reduce((sum, bit) => sum + (bit === 4 || bit === 5 ? 2 : 1), 0);
  const start = START_NS + BigInt(sequence) * 1000n + BigInt(random.integer(1000));
  const list = Array.from({ length: hops }, (_, hop) => randomHop(random, start + BigInt(hop) * 50_000n, items));
  return recordOf(sequence, bitmap, words, list);
}

/** Different reports of each shape; in memory they repeat. */
const POOL = 512;

/** @returns bytes of memory that {@link shapeFrames} takes for all shapes, at most */
export function shapeFramesBytes(count: number): number {
  return SHAPES.reduce((sum, { hops, items }) => sum + count * (160 + 4 * hops * (items + 2)) + 256, 0);
}

/** Random reports of one shape behind one another. */
export function shapeFrames(memory: AcceleratorMemory, shape: Shape, count: number, seed: number): Frames {
  const random = new Random(seed).derive(`shape ${shape.hops}x${shape.items}`);
  const pool = Array.from({ length: POOL }, (_, k) => encodeFrame(shapeRecord(shape, k, random)));
  const offsets = memory.words(count);
  const lengths = memory.words(count);
  let used = 0;
  for (let k = 0; k < count; k++) {
    offsets[k] = used;
    lengths[k] = pool[k % POOL]!.length;
    used += lengths[k]!;
  }
  const bytes = memory.bytes(used);
  for (let k = 0; k < count; k++) bytes.set(pool[k % POOL]!, offsets[k]);
  return { bytes, offsets, lengths };
}
