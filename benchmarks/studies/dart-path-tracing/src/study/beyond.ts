/** Past the paper: what other ways of writing give for the same memory. */
import { AdaptiveCopies, bestCopies, simulate } from '@int/dart';
import { simulateAdaptive, simulateInsertion, simulateLoss, simulateRandomCopies } from './writing.js';

type Say = (text: string) => void;

export interface AdaptivePoint {
  readonly bytesPerFlow: number;
  readonly load: number;
  /** The best fixed number of copies by theory, and what it finds. */
  readonly fixedCopies: number;
  readonly fixed: number;
  readonly fixedOldest: number;
  readonly adaptive: number;
  readonly adaptiveOldest: number;
  readonly theory: number;
  /** Slots written per key: packets. */
  readonly adaptiveWrites: number;
}

/** Numbers of copies that follow the load, against the best number for the final load, which no writer knows. */
export function measureAdaptive(keys: number, say: Say): AdaptivePoint[] {
  const copies = new AdaptiveCopies();
  const points = [300, 120, 60, 30, 20, 12].map((bytesPerFlow) => {
    const slots = Math.floor((keys * bytesPerFlow) / 24);
    const load = keys / slots;
    const fixedCopies = bestCopies(load);
    const fixed = simulate({ keys, slots, copies: fixedCopies, seed: 6 });
    const adaptive = simulateAdaptive({ keys, slots, seed: 6 }, copies);
    return {
      bytesPerFlow,
      load,
      fixedCopies,
      fixed: fixed.success,
      fixedOldest: fixed.oldest.success,
      adaptive: adaptive.success,
      adaptiveOldest: adaptive.oldest.success,
      theory: adaptive.theory.success,
      adaptiveWrites: adaptive.slotWrites / keys,
    };
  });
  say('adaptive copies: done');
  return points;
}

export interface InsertionPoint {
  readonly bytesPerFlow: number;
  readonly load: number;
  readonly insertion: number;
  readonly insertionTheory: number;
  readonly insertionOldest: number;
  readonly fixedCopies: number;
  readonly fixed: number;
  readonly fixedOldest: number;
  /** Plain writes that adapt between 1 and 2 copies: as many packets at most. */
  readonly adaptive2: number;
}

/** COMPARE&SWAP insertion on 8-byte slots, against plain writes into the same slots. */
export function measureInsertion(keys: number, say: Say): InsertionPoint[] {
  const oneOrTwo = new AdaptiveCopies({ mostCopies: 2 });
  const points = [80, 40, 20, 10, 8, 4].map((bytesPerFlow) => {
    const slots = Math.floor((keys * bytesPerFlow) / 8);
    const load = keys / slots;
    const base = { keys, slots, valueBytes: 4, seed: 7 };
    const insertion = simulateInsertion(base);
    const fixedCopies = bestCopies(load);
    const fixed = simulate({ ...base, copies: fixedCopies });
    return {
      bytesPerFlow,
      load,
      insertion: insertion.success,
      insertionTheory: insertion.theory.success,
      insertionOldest: insertion.oldest.success,
      fixedCopies,
      fixed: fixed.success,
      fixedOldest: fixed.oldest.success,
      adaptive2: simulateAdaptive(base, oneOrTwo).success,
    };
  });
  say('insertion by COMPARE&SWAP: done');
  return points;
}

/** Ethernet, IPv4, UDP, base transport header, iCRC; a frame check sequence and what is between frames are not counted. */
const FRAME_BYTES = 14 + 20 + 8 + 12 + 4;
const WRITE_HEADER_BYTES = 16;
const SLOT_BYTES = 24;

export interface LossPoint {
  readonly copies: number;
  readonly loss: number;
  readonly onePerCopy: Sending;
  readonly multiSlot: Sending;
  readonly randomCopy: Sending;
  /** As many packets as multi-slot writes need, without them: one copy. */
  readonly oneCopy: Sending;
}

export interface Sending {
  readonly packets: number;
  /** On the wire per key. */
  readonly bytes: number;
  readonly success: number;
}

/** One packet with all addresses of a key, one packet per copy, and as many reports into random copies, under loss. */
export function measureLoss(keys: number, say: Say): LossPoint[] {
  const points: LossPoint[] = [];
  for (const copies of [2, 4]) {
    for (const loss of [0, 0.01, 0.02, 0.05]) {
      const base = { keys, bytesPerFlow: 120, copies, seed: 8 };
      const writeBytes = FRAME_BYTES + WRITE_HEADER_BYTES + SLOT_BYTES;
      points.push({
        copies,
        loss,
        onePerCopy: { packets: copies, bytes: copies * writeBytes, success: simulateLoss(base, loss).success },
        multiSlot: {
          packets: 1,
          // 8 bytes in front of the addresses, 8 for each.
          bytes: FRAME_BYTES + 8 + 8 * copies + SLOT_BYTES,
          success: simulateLoss(base, loss, 'key').success,
        },
        randomCopy: {
          packets: copies,
          bytes: copies * writeBytes,
          success: simulateRandomCopies(base, copies, loss).success,
        },
        oneCopy: { packets: 1, bytes: writeBytes, success: simulateLoss({ ...base, copies: 1 }, loss).success },
      });
    }
  }
  say('packets and loss: done');
  return points;
}
