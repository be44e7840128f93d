/** Reading one hop's block into an object, at the pace of the comfort path: most programs decode with it. */
import { NOT_AVAILABLE } from '../columns.js';
import type { NumberName, TimeName } from '../fields.js';
import type { Hop } from '../model.js';
import { readUint32 } from './codec.js';
import type { BlockShape, Step } from './hop-shape.js';

/** All ones in the 31 bits of a value in the 2016 layout: not supported. */
export const NOT_AVAILABLE_31 = 0x7fff_ffff;
/** Queue id and drop reason of a drop word: part of a report, not of a hop. */
export interface DropValues {
  dropQueueId: number | null;
  dropReason: number | null;
}

type SetNumber = (hop: Hop, value: number | null) => void;
type SetTime = (hop: Hop, value: bigint | null) => void;

/**
 * Puts a value into a hop. One function for each name, because a store whose name varies takes V8 about five times as long as
 * one whose name is written down. A field without one is set by {@link setterOf}, at that price.
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
  reserved8: (hop, value) => {
    hop.reserved8 = value;
  },
  reserved9: (hop, value) => {
    hop.reserved9 = value;
  },
  reserved10: (hop, value) => {
    hop.reserved10 = value;
  },
  reserved11: (hop, value) => {
    hop.reserved11 = value;
  },
  reserved12: (hop, value) => {
    hop.reserved12 = value;
  },
  reserved13: (hop, value) => {
    hop.reserved13 = value;
  },
  reserved14: (hop, value) => {
    hop.reserved14 = value;
  },
  reserved15: (hop, value) => {
    hop.reserved15 = value;
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

/** What reading does with an item, in one form for all kinds: V8 reads the fields of one form at once. */
export interface Read {
  readonly kind: Step['kind'];
  readonly at: number;
  /** Bits of the lower part of a split word. */
  readonly shift: number;
  /** Sets the value, or its upper part. */
  readonly set: SetNumber;
  readonly setLower: SetNumber;
  readonly setTime: SetTime;
}

const NO_NUMBER: SetNumber = () => {};
const NO_TIME: SetTime = () => {};

export function readOf(step: Step): Read {
  const { kind, at } = step;
  const read = { kind, at, shift: 0, set: NO_NUMBER, setLower: NO_NUMBER, setTime: NO_TIME };
  switch (step.kind) {
    case 'word':
    case 'value31':
      return { ...read, set: setterOf(step.name) };
    case 'split':
      return { ...read, shift: step.shift, set: setterOf(step.upper), setLower: setterOf(step.lower) };
    case 'pair':
      return { ...read, set: setterOf(step.upper), setLower: setterOf(step.lower) };
    case 'time64':
    case 'time32':
    case 'time31':
      return { ...read, setTime: SET_TIME[step.name] };
    default:
      return read;
  }
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
      // One half of ones is a value: only the whole item says 'not available'.
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

/** A block that is known to lie inside `bytes`; `domain` is a view of them. @param drop gets the values of a drop word, if there is one */
export function readBlock(shape: BlockShape, bytes: Uint8Array, offset: number, drop: DropValues | null): Hop {
  const { reads } = shape;
  // A copy has its form at once, one that grows field by field changes it with each.
  const hop: Hop = { ...shape.empty };
  for (let k = 0; k < reads.length; k++) readItem(reads[k]!, bytes, offset, hop, drop);
  if (shape.domainBytes > 0) {
    const start = offset + shape.domainOffset;
    hop.domain = bytes.subarray(start, start + shape.domainBytes);
  }
  return hop;
}
