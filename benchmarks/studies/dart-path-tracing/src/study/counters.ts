/** Packets per flow: FETCH&ADD on count-min counters, against plain slots that hold (checksum, count). */
import { hashParameters, KeyHashes, simulatedKey } from '@int/dart/internals';

const MOST_COPIES = 4;
const CELL_BYTES = 8;

/** Shares of flows. */
export interface CountShares {
  readonly copies: number;
  readonly exact: number;
  readonly withinOnePercent: number;
  /** No answer: only plain slots have that. */
  readonly empty: number;
}

export interface CounterPoint {
  readonly bytesPerFlow: number;
  readonly countMin: readonly CountShares[];
  readonly plain: readonly CountShares[];
}

export interface CounterStudy {
  readonly flows: number;
  readonly packets: number;
  readonly exponent: number;
  readonly points: readonly CounterPoint[];
}

/** Packets of flows by Zipf's law: how many each flow has, and when its last one came. */
interface Traffic {
  readonly counts: Uint32Array;
  readonly last: Uint32Array;
}

function makeTraffic(flows: number, packets: number, exponent: number): Traffic {
  const upTo = new Float64Array(flows);
  let sum = 0;
  for (let flow = 0; flow < flows; flow++) {
    sum += (flow + 1) ** -exponent;
    upTo[flow] = sum;
  }
  const counts = new Uint32Array(flows);
  const last = new Uint32Array(flows);
  let state = 12345;
  for (let packet = 1; packet <= packets; packet++) {
    state = (state + 0x6d2b79f5) | 0;
    let drawn = Math.imul(state ^ (state >>> 15), state | 1);
    drawn ^= drawn + Math.imul(drawn ^ (drawn >>> 7), drawn | 61);
    const wanted = (((drawn ^ (drawn >>> 14)) >>> 0) / 2 ** 32) * sum;
    let [low, high] = [0, flows - 1];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (upTo[middle]! > wanted) high = middle;
      else low = middle + 1;
    }
    counts[low] = counts[low]! + 1;
    last[low] = packet;
  }
  return { counts, last };
}

/** Slot hashes of flow i: `MOST_COPIES` from `i * MOST_COPIES` on. */
function hashesOf(flows: number): Uint32Array {
  const hashes = new KeyHashes(hashParameters('xxhash', 9));
  const all = new Uint32Array(flows * MOST_COPIES);
  const one = new Uint32Array(MOST_COPIES);
  for (let flow = 0; flow < flows; flow++) {
    hashes.all(simulatedKey(flow, 9), 0, 13, MOST_COPIES, one);
    all.set(one, flow * MOST_COPIES);
  }
  return all;
}

function countMin({ counts }: Traffic, hashes: Uint32Array, cells: number, copies: number): CountShares {
  const sums = new Float64Array(cells);
  for (let flow = 0; flow < counts.length; flow++) {
    for (let copy = 0; copy < copies; copy++) {
      const cell = hashes[flow * MOST_COPIES + copy]! % cells;
      sums[cell] = sums[cell]! + counts[flow]!;
    }
  }
  let [asked, exact, close] = [0, 0, 0];
  for (let flow = 0; flow < counts.length; flow++) {
    const count = counts[flow]!;
    if (count === 0) continue;
    asked++;
    let least = Number.POSITIVE_INFINITY;
    for (let copy = 0; copy < copies; copy++)
      least = Math.min(least, sums[hashes[flow * MOST_COPIES + copy]! % cells]!);
    if (least === count) exact++;
    if (least <= count * 1.01) close++;
  }
  return { copies, exact: exact / asked, withinOnePercent: close / asked, empty: 0 };
}

/**
 * Every packet writes its flow's count so far into all copies, so a slot belongs to the flow among its own whose last
 * packet came last, and holds that flow's full count: an answer is exact, or there is none. (A false match has
 * probability 2^-32 and is left out.)
 */
function plain({ counts, last }: Traffic, hashes: Uint32Array, slots: number, copies: number): CountShares {
  const newest = new Uint32Array(slots);
  for (let flow = 0; flow < counts.length; flow++) {
    for (let copy = 0; copy < copies; copy++) {
      const slot = hashes[flow * MOST_COPIES + copy]! % slots;
      newest[slot] = Math.max(newest[slot]!, last[flow]!);
    }
  }
  let [asked, exact] = [0, 0];
  for (let flow = 0; flow < counts.length; flow++) {
    if (counts[flow] === 0) continue;
    asked++;
    for (let copy = 0; copy < copies; copy++) {
      if (newest[hashes[flow * MOST_COPIES + copy]! % slots] !== last[flow]) continue;
      exact++;
      break;
    }
  }
  return { copies, exact: exact / asked, withinOnePercent: exact / asked, empty: 1 - exact / asked };
}

/** @param packets of all flows; there are a tenth as many flows, of which some have no packet and are not asked for */
export function measureCounters(packets: number, say: (text: string) => void): CounterStudy {
  const exponent = 1;
  const flows = Math.ceil(packets / 10);
  const traffic = makeTraffic(flows, packets, exponent);
  const hashes = hashesOf(flows);
  const points = [8, 16, 32, 64, 128].map((bytesPerFlow) => {
    const cells = Math.floor((flows * bytesPerFlow) / CELL_BYTES);
    return {
      bytesPerFlow,
      countMin: [1, 2, 4].map((copies) => countMin(traffic, hashes, cells, copies)),
      plain: [1, 2, 4].map((copies) => plain(traffic, hashes, cells, copies)),
    };
  });
  say('counters: done');
  return { flows, packets, exponent, points };
}
