/**
 * The update loop of a flow cache as a WebAssembly SIMD accelerator. Written in AssemblyScript; compiled by build.mjs.
 *
 * It does what ../src/cache/plain-engine.ts does, to the last bit of the cache, of the entries and of the events, but it
 * accesses memory in another order: an update mostly waits for memory, and WebAssembly has no prefetch. It goes through a
 * block of reports several times: to hash them; to touch the rows of the cache; then, for some reports at a time, to find
 * their buckets, to touch the buckets, and to update them. A pass that touches memory does nothing else, so that the
 * processor has many accesses under way.
 *
 * All addresses are bytes in the one memory, up to its 4 GiB.
 */

import { entryCount, inserted, live, setEntryCount } from './admit';
import { address, BAD_TIMES, context, field } from './context';
import * as block from './context';
import { eventCount, setEventCount } from './events';
import { NOT_OK } from './layout';
import * as layout from './layout';
import { countOthers, lines, noFlow, notOk, place, seek, unsupported } from './places';
import { touchBuckets, touchRows } from './touch';
import { clearCounts, hopsBeyond, pathsChanged, updatePlaces } from './update';

export { attach } from './context';
export { hashRows } from './hash';

/** Reports whose buckets are touched before the first of them is updated: a first-level cache holds their lines. */
const GROUP: u32 = 64;
const GROUP_LINES: u32 = 384;
const LEAST_GROUP: u32 = 4;

function updateExact0(from: u32, to: u32): u32 {
  return updatePlaces(true, 0, from, to);
}

function updateExact1(from: u32, to: u32): u32 {
  return updatePlaces(true, 1, from, to);
}

function updateExact2(from: u32, to: u32): u32 {
  return updatePlaces(true, 2, from, to);
}

function updateExact3(from: u32, to: u32): u32 {
  return updatePlaces(true, 3, from, to);
}

function updateExact4(from: u32, to: u32): u32 {
  return updatePlaces(true, 4, from, to);
}

function updateCompact0(from: u32, to: u32): u32 {
  return updatePlaces(false, 0, from, to);
}

function updateCompact1(from: u32, to: u32): u32 {
  return updatePlaces(false, 1, from, to);
}

function updateCompact2(from: u32, to: u32): u32 {
  return updatePlaces(false, 2, from, to);
}

function updateCompact3(from: u32, to: u32): u32 {
  return updatePlaces(false, 3, from, to);
}

function updateCompact4(from: u32, to: u32): u32 {
  return updatePlaces(false, 4, from, to);
}

function update(from: u32, to: u32): u32 {
  const isExact = field(block.IS_EXACT) != 0;
  switch (field(block.LANES)) {
    case 1:
      return isExact ? updateExact1(from, to) : updateCompact1(from, to);
    case 2:
      return isExact ? updateExact2(from, to) : updateCompact2(from, to);
    case 3:
      return isExact ? updateExact3(from, to) : updateCompact3(from, to);
    case 4:
      return isExact ? updateExact4(from, to) : updateCompact4(from, to);
    default:
      return isExact ? updateExact0(from, to) : updateCompact0(from, to);
  }
}

/** Separates the thresholds of level and change, for metrics that share a vector. */
function readLimits(): void {
  const limits = address(block.THRESHOLDS);
  const low = v128.load(limits);
  const high = v128.load(limits, 16);
  const levels = v128.shuffle<u32>(low, high, 0, 2, 4, 6);
  const changes = v128.shuffle<u32>(low, high, 1, 3, 5, 7);
  v128.store(context + block.LANE_LEVELS, levels);
  v128.store(context + block.LANE_CHANGES, changes);
  const isWatching = v128.any_true(v128.and(v128.not(v128.and(levels, changes)), v128.load(context + block.LANE_ONES)));
  store<u32>(context + block.IS_WATCHING, u32(isWatching));
}

@inline
function count(counter: usize, by: u64): void {
  const at = address(block.REGION) + counter;
  store<u64>(at, load<u64>(at) + by);
}

/**
 * Updates the cache with the reports of rows, whose hashes are at HASHES.
 *
 * @param from first row
 * @param to one past the last row; at most 256 rows
 * @returns the first row not looked at, or BAD_HOPS or BAD_TIMES
 */
export function run(from: u32, to: u32): u32 {
  const found = place(from, to);
  if (found >= BAD_TIMES) return found;
  readLimits();
  setEntryCount(field(block.ENTRY_COUNT));
  setEventCount(field(block.EVENT_COUNT));
  clearCounts();
  touchRows(found);
  const group = max<u32>(LEAST_GROUP, min<u32>(GROUP, GROUP_LINES / lines));
  let end: u32 = 0;
  while (end < found) {
    const stop = min<u32>(end + group, found);
    seek(end, stop);
    touchBuckets(end, stop, lines);
    end = update(end, stop);
    if (end < stop) break;
  }
  const reached = end < found ? load<u32>(address(block.PLACES) + <usize>end * block.PLACE_BYTES) : to;
  store<u32>(context + block.ENTRY_COUNT, entryCount);
  store<u32>(context + block.EVENT_COUNT, eventCount);
  if (found < to - from) {
    countOthers(from, reached);
    count(NOT_OK, <u64>notOk);
    count(layout.NO_FLOW, <u64>noFlow);
    count(layout.UNSUPPORTED_IPV6, <u64>unsupported);
  }
  count(layout.OFFERED, <u64>(reached - from));
  count(layout.HITS, <u64>end - inserted);
  count(layout.INSERTED, inserted);
  count(layout.LIVE, live);
  count(layout.HOPS_BEYOND, hopsBeyond);
  count(layout.PATH_CHANGED, pathsChanged);
  return reached;
}
