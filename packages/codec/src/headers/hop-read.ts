/** Reads one hop's block into an object. Most programs decode with it, so it is made to be fast. */
import { NOT_AVAILABLE } from '../columns.js';
import type { NumberName, TimeName } from '../fields.js';
import type { Hop } from '../model.js';
import { readUint32 } from './codec.js';
import type { BlockShape, Step } from './hop-shape.js';

/** All ones in the 31 bits of a value in the 2016 layout: the hop does not support it. */
const NOT_AVAILABLE_31 = 0x7fff_ffff;

/** Queue id and drop reason of a drop word. They belong to a report, not to a hop. */
export interface DropValues {
  dropQueueId: number | null;
  dropReason: number | null;
}

type SetNumber = (hop: Hop, value: number | null) => void;
type SetTime = (hop: Hop, value: bigint | null) => void;

/**
 * Puts a value into a hop. There is a function for each name, because V8 takes about five times as long for a store
 * whose name varies. The reserved fields, which are rare, have none: {@link setterOf} pays that price for them.
 */
const SET_NUMBER: { readonly [K in NumberName]?: SetNumber } = {
  nodeId: (hop, value) => {
    hop.nodeId = value;
  },
  l1IngressInterface: (hop, value) => {
    hop.l1IngressInterface = value;
  },
  l1EgressInterface: (hop, value) => {
    hop.l1EgressInterface = value;
  },
  hopLatency: (hop, value) => {
    hop.hopLatency = value;
  },
  queueId: (hop, value) => {
    hop.queueId = value;
  },
  queueOccupancy: (hop, value) => {
    hop.queueOccupancy = value;
  },
  l2IngressInterface: (hop, value) => {
    hop.l2IngressInterface = value;
  },
  l2EgressInterface: (hop, value) => {
    hop.l2EgressInterface = value;
  },
  egressUtilization: (hop, value) => {
    hop.egressUtilization = value;
  },
  bufferId: (hop, value) => {
    hop.bufferId = value;
  },
  bufferOccupancy: (hop, value) => {
    hop.bufferOccupancy = value;
  },
  checksumComplement: (hop, value) => {
    hop.checksumComplement = value;
  },
  congestionQueueId: (hop, value) => {
    hop.congestionQueueId = value;
  },
  queueCongestion: (hop, value) => {
    hop.queueCongestion = value;
  },
};
const SET_TIME: { readonly [K in TimeName]: SetTime } = {
  ingressTimestamp: (hop, value) => {
    hop.ingressTimestamp = value;
  },
  egressTimestamp: (hop, value) => {
    hop.egressTimestamp = value;
  },
};

function setterOf(name: NumberName): SetNumber {
  return (
    SET_NUMBER[name] ??
    ((hop, value) => {
      hop[name] = value;
    })
  );
}

/** What reading does with an item. All kinds have one form, whose fields V8 reads faster than those of several. */
export interface Read {
  readonly kind: Step['kind'];
  readonly at: number;
  /** Bits of the lower value of a split word. */
  readonly shift: number;
  /** Sets the value, or the upper of two. */
  readonly set: SetNumber;
  readonly setLower: SetNumber;
  readonly setTime: SetTime;
}

const NO_NUMBER: SetNumber = () => {};
const NO_TIME: SetTime = () => {};

export function readOf({ kind, at, parts: [upper, lower] }: Step): Read {
  const read = { kind, at, shift: 0, set: NO_NUMBER, setLower: NO_NUMBER, setTime: NO_TIME };
  if (upper === undefined) return read;
  if (kind === 'time64' || kind === 'time32' || kind === 'time31') {
    return { ...read, setTime: SET_TIME[upper[0] as TimeName] };
  }
  const set = setterOf(upper[0] as NumberName);
  return lower === undefined
    ? { ...read, set }
    : { ...read, set, shift: lower[1] & 31, setLower: setterOf(lower[0] as NumberName) };
}

const timeOf = (word: number, none: number): bigint | null => (word === none ? null : BigInt(word));

function readItem(read: Read, bytes: Uint8Array, offset: number, hop: Hop, drop: DropValues | null): void {
  const at = offset + read.at;
  const word = ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;
  switch (read.kind) {
    case 'word':
      read.set(hop, word === NOT_AVAILABLE ? null : word);
      break;
    case 'split':
      read.set(hop, word === NOT_AVAILABLE ? null : word >>> read.shift);
      read.setLower(hop, word === NOT_AVAILABLE ? null : word & ((1 << read.shift) - 1));
      break;
    case 'pair': {
      // All ones in one half are a value. Only the whole item says 'not available'.
      const lower = readUint32(bytes, at + 4);
      const none = word === NOT_AVAILABLE && lower === NOT_AVAILABLE;
      read.set(hop, none ? null : word);
      read.setLower(hop, none ? null : lower);
      break;
    }
    case 'time64': {
      const lower = readUint32(bytes, at + 4);
      const none = word === NOT_AVAILABLE && lower === NOT_AVAILABLE;
      read.setTime(hop, none ? null : (BigInt(word) << 32n) | BigInt(lower));
      break;
    }
    case 'value31': {
      const value = word & NOT_AVAILABLE_31;
      read.set(hop, value === NOT_AVAILABLE_31 ? null : value);
      break;
    }
    case 'time32':
      read.setTime(hop, timeOf(word, NOT_AVAILABLE));
      break;
    case 'time31':
      read.setTime(hop, timeOf(word & NOT_AVAILABLE_31, NOT_AVAILABLE_31));
      break;
    case 'drop':
      if (drop !== null && word !== NOT_AVAILABLE) {
        drop.dropQueueId = word >>> 24;
        drop.dropReason = (word >>> 16) & 0xff;
      }
      break;
    default:
  }
}

/**
 * Reads a block that is known to lie inside `bytes`; its `domain` is a view of them.
 *
 * @param drop receives the values of a drop word, if there is one
 */
export function readBlock(shape: BlockShape, bytes: Uint8Array, offset: number, drop: DropValues | null): Hop {
  const { reads } = shape;
  // A copy has its final form at once; an object that grows would change its form with each field.
  const hop: Hop = { ...shape.empty };
  for (let k = 0; k < reads.length; k++) readItem(reads[k]!, bytes, offset, hop, drop);
  if (shape.domainBytes > 0) {
    const start = offset + shape.domainOffset;
    hop.domain = bytes.subarray(start, start + shape.domainBytes);
  }
  return hop;
}
