import type { LinkFailureEvent, PersistentCongestionEvent, ReportLossEvent } from '../model/event.js';
import { immediate } from '../model/immediate.js';
import type { LinkEntry } from './links.js';
import type { QueueEntry, QueueVerdict } from './queues.js';
import type { Loss } from './sequence-gaps.js';

/**
 * The event for the failure of a link, or for its end.
 * @param timeUs the time at which this was detected
 */
export function linkEvent(link: LinkEntry, flows: number, timeUs: number, isEnd: boolean): LinkFailureEvent {
  const [from, to] = link.words as [number, number];
  return { ...immediate('linkFailure', `${from}-${to}`, link.failedUs, timeUs, isEnd), link: [from, to], flows };
}

/** @param window the window that shows it */
export function congestionEvent(
  queue: QueueEntry,
  { change, since, statistic, windows }: QueueVerdict,
  threshold: number,
  window: number,
  windowUs: number,
): PersistentCongestionEvent {
  const [nodeId, queueId] = queue.words as [number, number];
  const [sinceUs, endUs] = [since * windowUs, (window + 1) * windowUs];
  return {
    ...immediate('persistentCongestion', `${nodeId}-${queueId}`, sinceUs, endUs, change === 'ended'),
    nodeId,
    queueId,
    occupancy: statistic,
    threshold,
    windows,
  };
}

export function lossEvent(words: readonly number[], loss: Loss, sliceUs: number, endUs: number): ReportLossEvent {
  const [nodeId, hwId] = words as [number, number];
  const { lost, firstSequence, lastSequence, slice } = loss;
  const subject = `${nodeId}-${hwId}-${firstSequence}`;
  return {
    ...immediate('reportLoss', subject, slice * sliceUs, endUs),
    nodeId,
    hwId,
    lost,
    firstSequence,
    lastSequence,
  };
}
