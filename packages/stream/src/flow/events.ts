import type { BlackHoleEvent, LoopEvent, PathChangeEvent } from '../model/event.js';
import { immediate } from '../model/immediate.js';
import { nanosecondText } from '../time.js';
import type { Paths } from './paths.js';
import type { Sightings } from './sightings.js';
import { type FlowTable, hexOf } from './table.js';
import type { Trace } from './trace.js';

/** The event for a loop, or for its end. */
export function loopEvent(table: FlowTable, row: number, paths: Paths, isEnd: boolean): LoopEvent {
  const nodeId = paths.loopNode(row);
  const since = paths.loopSince(row);
  const time = isEnd ? paths.loopLast(row) : since;
  return {
    ...immediate('loop', `${hexOf(table.key(row))}-${nodeId}`, since, time, isEnd),
    flow: table.flow(row),
    nodeId,
    path: paths.loopPath(row),
  };
}

export function pathChangeEvent(
  table: FlowTable,
  row: number,
  previous: readonly (number | null)[],
  trace: Trace,
  timeUs: number,
): PathChangeEvent {
  // Two packets in one microsecond may change the path and change it back.
  const subject = `${hexOf(table.key(row))}-${trace.hash.toString(16)}`;
  return {
    ...immediate('pathChange', subject, timeUs, timeUs),
    flow: table.flow(row),
    path: trace.path(),
    previous,
  };
}

/** The event for a black hole, or for its end. */
export function holeEvent(
  table: FlowTable,
  row: number,
  sightings: Sightings,
  sinceUs: number,
  timeUs: number,
  isEnd: boolean,
): BlackHoleEvent {
  const lastUs = sightings.lastAtSink(row);
  const { timeNs, ended, ...base } = immediate('blackHole', hexOf(table.key(row)), sinceUs, timeUs, isEnd);
  return {
    ...base,
    flow: table.flow(row),
    nodeId: sightings.sink(row),
    seenBy: sightings.seenBy(row),
    lastSinkNs: lastUs < 0 ? null : nanosecondText(lastUs),
    timeNs,
    ...(ended && { ended }),
  };
}
