/** GPINT probes (reliable GPINT, section IV): found by UDP port, plain or extended layout. */
import { CODES } from '../codes.js';
import { dscpOf } from './network.js';
import type { Scan } from './state.js';

export const GPINT_MODE = 4;
/** A probe is never longer (UDP payload). */
export const MAX_PROBE_BYTES = 2200;

/** DLV headers that are accepted: the hop-count column of a batch has 8 bits. */
export const MAX_PROBE_SWITCHES = 255;

/** DSCP of a feedback: the UDP payload is the request meta alone, 2 bytes. */
export const FEEDBACK_DSCP = 0x19;
export const FEEDBACK_BYTES = 2;

/** Bytes of one source-route entry and one DLV header in the two layouts. */
export function probeSizes(extended: boolean): { route: number; dlv: number } {
  return extended ? { route: 4, dlv: 6 } : { route: 3, dlv: 4 };
}

/** Checks that the probe in `[p, end)` closes: meta, source route, DLV headers, measurements. */
export function readProbe(scan: Scan, p: number, end: number, extended: boolean): boolean {
  const { view } = scan;
  // The sizes of probeSizes, without an object for each probe.
  const route = extended ? 4 : 3;
  const dlv = extended ? 6 : 4;
  scan.clearInt();
  scan.mode = GPINT_MODE;
  scan.probeExtended = extended ? 1 : 0;
  scan.probeDscp = dscpOf(scan);
  scan.probeOffset = p;
  scan.stackOffset = p;
  scan.hopCount = 0;
  scan.stride = 0;
  if (end - p > MAX_PROBE_BYTES) return scan.fail(CODES.BAD_PROBE, 'gpint', p);
  if (end - p === FEEDBACK_BYTES && scan.probeDscp === FEEDBACK_DSCP) {
    scan.stackOffset = end;
    return true;
  }
  if (p + 4 > end) return scan.fail(CODES.TRUNCATED, 'gpint', p);
  let at = p + 4 + view.getUint16(p + 2) * route;
  if (at + 2 > end) return scan.fail(CODES.TRUNCATED, 'gpint', p + 2);
  const switches = view.getUint16(at);
  const first = at + 2;
  // The hop-count column of a batch has 8 bits; a probe of 2200 bytes has no room for many more in any case.
  if (switches > MAX_PROBE_SWITCHES) return scan.fail(CODES.BAD_PROBE, 'gpint', at);
  at = first + switches * dlv;
  if (at + 2 > end) return scan.fail(CODES.TRUNCATED, 'gpint', first - 2);
  let expected = 0;
  for (let k = 0; k < switches; k++) expected += view.getUint16(first + k * dlv + dlv - 2);
  const measurements = view.getUint16(at);
  if (measurements !== expected) return scan.fail(CODES.BAD_PROBE, 'gpint', at);
  at += 2 + 4 * measurements;
  if (at > end) return scan.fail(CODES.TRUNCATED, 'gpint', end);
  if (at !== end) return scan.fail(CODES.TRAILING_BYTES, 'gpint', at);
  scan.stackOffset = first;
  scan.hopCount = switches;
  return true;
}
