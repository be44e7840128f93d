/**
 * Why a frame of a capture is not sent.
 *
 * - `not-udp`: no UDP packet
 * - `other-port`: a UDP packet to none of the ports asked for
 * - `fragment`: part of a UDP packet
 * - `link-type`: a link type that cannot be sent
 * - `too-long`: more bytes than the interface takes
 * - `truncated`: the capture holds only the beginning of the frame
 * - `malformed`: lengths that cannot be
 */
export type SkipReason = 'not-udp' | 'other-port' | 'fragment' | 'link-type' | 'too-long' | 'truncated' | 'malformed';

/** Reasons that lie in what was asked for, not in something wrong. */
const HARMLESS: ReadonlySet<string> = /* @__PURE__ */ new Set<SkipReason>(['not-udp', 'other-port', 'fragment']);

/** Whether a frame that is skipped for this means that something was wrong. */
export function isWrong(reason: string): boolean {
  return !HARMLESS.has(reason);
}
