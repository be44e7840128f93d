import type { BlackHoleEvent, LoopEvent, PathChangeEvent } from '../model/event.js';
import { nanosecondText } from '../time.js';
import type { Paths } from './paths.js';
import type { Sightings } from './sightings.js';
import { type FlowTable, hexOf } from './table.js';
import type { Trace } from './trace.js';

const ENDED = '/end';

function loopId(table: FlowTable, row: number, paths: Paths): string {
  return `loop-${hexOf(table.key(row))}-${paths.loopNode(row)}-${paths.loopSince(row)}`;
}

export function loopEvent(table: FlowTable, row: number, paths: Paths, trace: Trace): LoopEvent {
  const timeNs = nanosecondText(paths.loopSince(row));
  return {
    type: 'immediate',
    kind: 'loop',
    id: loopId(table, row, paths),
    timeNs,
    sinceNs: timeNs,
    flow: table.flow(row),
    nodeId: paths.loopNode(row),
    path: trace.path(),
  };
}

/** The event for the end of a loop. */
export function loopEnded(table: FlowTable, row: number, paths: Paths): LoopEvent {
  return {
    type: 'immediate',
    kind: 'loop',
    id: loopId(table, row, paths) + ENDED,
    timeNs: nanosecondText(paths.loopLast(row)),
    sinceNs: nanosecondText(paths.loopSince(row)),
    ended: true,
    flow: table.flow(row),
    nodeId: paths.loopNode(row),
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
  const timeNs = nanosecondText(timeUs);
  // Two packets in one microsecond may change the path and change it back.
  const id = `pathChange-${hexOf(table.key(row))}-${trace.hash.toString(16)}-${timeUs}`;
  return {
    type: 'immediate',
    kind: 'pathChange',
    id,
    timeNs,
    sinceNs: timeNs,
    flow: table.flow(row),
    path: trace.path(),
    previous,
  };
}

function hole(table: FlowTable, row: number, sightings: Sightings, sinceUs: number): Omit<BlackHoleEvent, 'timeNs'> {
  const lastUs = sightings.lastAtSink(row);
  return {
    type: 'immediate',
    kind: 'blackHole',
    id: `blackHole-${hexOf(table.key(row))}-${sinceUs}`,
    sinceNs: nanosecondText(sinceUs),
    flow: table.flow(row),
    nodeId: sightings.sink(row),
    seenBy: sightings.seenBy(row),
    lastSinkNs: lastUs < 0 ? null : nanosecondText(lastUs),
  };
}

export function holeEvent(table: FlowTable, row: number, sightings: Sightings, nowUs: number): BlackHoleEvent {
  return { ...hole(table, row, sightings, sightings.hole(row)), timeNs: nanosecondText(nowUs) };
}

/** The event for the end of a black hole. */
export function holeEnded(
  table: FlowTable,
  row: number,
  sightings: Sightings,
  sinceUs: number,
  timeUs: number,
): BlackHoleEvent {
  const event = hole(table, row, sightings, sinceUs);
  return { ...event, id: event.id + ENDED, timeNs: nanosecondText(timeUs), ended: true };
}
