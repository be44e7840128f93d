import { type FamilyName, geometryOf, type StoreGeometry, slotsFor, whole } from '../layout.js';
import { type HashParameters, hashParameters } from './hashes.js';
import type { Membership } from './header.js';

/** Options for a new store. */
export interface DartStoreOptions {
  /** Number of slots, M: 1..2^32 - 1. Give this or {@link memoryBytes}. */
  slots?: number;
  /** Bytes for slots; M is the number of slots that fit. */
  memoryBytes?: number;
  /** Bytes of a value, 1..1024; default 20: five hops of 32 bits. */
  valueBytes?: number;
  /** Bits of the checksum, 8..32; default 32. */
  checksumBits?: number;
  /** Slots of a key, N: 1..8; default 2. */
  copies?: number;
  /** `xxhash`, the default, for software writers; `crc` for P4 switches. */
  hash?: FamilyName;
  /** Determines the seeds of `xxhash`, 32 bits; default 0. */
  seed?: number;
  /** Number of collectors among which keys are spread, and the number of this one; default 1 and 0. */
  collectors?: number;
  collector?: number;
  /** Whether other threads query while this one writes (SharedArrayBuffer); default false. */
  shared?: boolean;
  /** Most bytes of a segment, up to 2^32; default 2^32 - 2^24. A larger store has several segments. */
  segmentBytes?: number;
  /** `auto`, the default: WebAssembly, if the platform has it and the store has one segment. `plain`: TypeScript. */
  engine?: 'auto' | 'plain';
  /** Memory for the segments, one buffer each, of at least their `byteLength`; it is overwritten. Implies `plain`. */
  buffers?: readonly ArrayBufferLike[];
}

/** Options with every default filled in. */
export interface ResolvedOptions extends Membership {
  readonly geometry: StoreGeometry;
  readonly parameters: HashParameters;
}

/** Leaves room for the accelerator beside the slots. */
const SEGMENT_BYTES = 2 ** 32 - 2 ** 24;

/** @throws RangeError for an option out of range, or if neither `slots` nor `memory` is given */
export function resolveOptions(options: DartStoreOptions): ResolvedOptions {
  const { memoryBytes: memory, valueBytes = 20, checksumBits = 32, copies = 2, hash = 'xxhash', seed = 0 } = options;
  const { collectors = 1, collector = 0, segmentBytes = SEGMENT_BYTES } = options;
  const slots = options.slots ?? (memory === undefined ? undefined : slotsFor(memory, valueBytes, checksumBits));
  if (slots === undefined) throw new RangeError('a store needs slots or memory');
  whole('collectors', collectors, 1, 2 ** 32 - 1);
  whole('collector', collector, 0, collectors - 1);
  whole('seed', seed, 0, 2 ** 32 - 1);
  const geometry = geometryOf(slots, valueBytes, checksumBits, copies, segmentBytes);
  return { geometry, parameters: hashParameters(hash, seed), collectors, collector };
}
