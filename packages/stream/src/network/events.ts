import type { LinkFailureEvent, PersistentCongestionEvent, ReportLossEvent } from '../model/event.js';
import { nanosecondText } from '../time.js';
import type { LinkEntry } from './links.js';
import type { QueueEntry, QueueVerdict } from './queues.js';
import type { Loss } from './sequence-gaps.js';

const ENDED = '/end';

/**
 * The event for the failure of a link, or for its end.
 * @param timeUs the time at which this was detected
 */
export function linkEvent(link: LinkEntry, flows: number, timeUs: number, isEnd: boolean): LinkFailureEvent {
  const [from, to] = link.words as [number, number];
  return {
    type: 'immediate',
    kind: 'linkFailure',
    id: `linkFailure-${from}-${to}-${link.failedUs}${isEnd ? ENDED : ''}`,
    timeNs: nanosecondText(timeUs),
    sinceNs: nanosecondText(link.failedUs),
    ...(isEnd ? { ended: true } : {}),
    link: [from, to],
    flows,
  };
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
  const isEnd = change === 'ended';
  return {
    type: 'immediate',
    kind: 'persistentCongestion',
    id: `persistentCongestion-${nodeId}-${queueId}-${since * windowUs}${isEnd ? ENDED : ''}`,
    timeNs: nanosecondText((window + 1) * windowUs),
    sinceNs: nanosecondText(since * windowUs),
    ...(isEnd ? { ended: true } : {}),
    nodeId,
    queueId,
    occupancy: statistic,
    threshold,
    windows,
  };
}

export function lossEvent(words: readonly number[], loss: Loss, sliceUs: number, endUs: number): ReportLossEvent {
  const [nodeId, hwId] = words as [number, number];
  const sinceUs = loss.slice * sliceUs;
  return {
    type: 'immediate',
    kind: 'reportLoss',
    id: `reportLoss-${nodeId}-${hwId}-${loss.firstSequence}-${sinceUs}`,
    timeNs: nanosecondText(endUs),
    sinceNs: nanosecondText(sinceUs),
    nodeId,
    hwId,
    lost: loss.lost,
    firstSequence: loss.firstSequence,
    lastSequence: loss.lastSequence,
  };
}
