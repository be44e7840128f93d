/** What a probe is, from its bytes. */
import type { GpintInfo } from '../model.js';
import { FEEDBACK_BYTES } from './parts.js';

/** The three packets of reliable GPINT, section IV. */
export type ProbeKind = Exclude<GpintInfo['kind'], 'unknown'>;

/**
 * What a packet that came home is. Its DSCP would say it, but a UDP socket does not show that. A feedback has only the
 * request meta. A probe that has finished has no SR entries left. A recovery notice has those of the hops that it did
 * not reach. `null` if the packet is shorter than any of them.
 */
export function probeKind(payload: Uint8Array): ProbeKind | null {
  if (payload.length === FEEDBACK_BYTES) return 'feedback';
  if (payload.length < 8) return null;
  return payload[2] === 0 && payload[3] === 0 ? 'probe' : 'recovery';
}

/** The 15 bits that name a probe; -1 if there are fewer than 2 bytes. */
export function probeRequestId(payload: Uint8Array): number {
  return payload.length < 2 ? -1 : (payload[0]! << 7) | (payload[1]! >>> 1);
}

/** What a probe asks for: 0 rule-hit counters, 1 port packet counters; -1 if there are fewer than 2 bytes. */
export function probeRequestType(payload: Uint8Array): -1 | 0 | 1 {
  return payload.length < 2 ? -1 : (payload[1]! & 1) === 0 ? 0 : 1;
}
