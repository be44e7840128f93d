import { nanosecondText } from '../time.js';
import type { ImmediateKind } from './event.js';

/**
 * The fields that all immediate events have.
 * @param subject what it is about, in the form of ids
 * @param sinceUs begin of the condition
 * @param timeUs time of the event
 */
export function immediate<Kind extends ImmediateKind>(
  kind: Kind,
  subject: string,
  sinceUs: number,
  timeUs: number,
  isEnd = false,
) {
  return {
    type: 'immediate' as const,
    kind,
    id: `${kind}-${subject}-${sinceUs}${isEnd ? '/end' : ''}`,
    timeNs: nanosecondText(timeUs),
    sinceNs: nanosecondText(sinceUs),
    ...(isEnd && { ended: true as const }),
  };
}
