/**
 * Reasons for not sending a frame of a capture.
 *
 * - `not-udp`: not a UDP packet
 * - `other-port`: a UDP packet to another port than those requested
 * - `fragment`: part of a UDP packet
 * - `link-type`: a link type that cannot be sent
 * - `too-long`: more bytes than the interface takes
 * - `truncated`: the capture holds only the beginning of the frame
 * - `malformed`: impossible lengths
 */
export type SkipReason = 'not-udp' | 'other-port' | 'fragment' | 'link-type' | 'too-long' | 'truncated' | 'malformed';

/** Reasons that follow from the request and are not errors. */
const HARMLESS: ReadonlySet<string> = /* @__PURE__ */ new Set<SkipReason>(['not-udp', 'other-port', 'fragment']);

export function isWrong(reason: string): boolean {
  return !HARMLESS.has(reason);
}
