/** GPINT probes (reliable GPINT, section IV): found by UDP port, plain or extended layout. */
import { CODES } from '../codes.js';
import {
  dlvBytes,
  FEEDBACK_BYTES,
  FEEDBACK_DSCP,
  MAX_PROBE_BYTES,
  MAX_PROBE_SWITCHES,
  routeBytes,
} from '../probe/parts.js';
import { dscpOf } from './network.js';
import type { Scan } from './state.js';

export const GPINT_MODE = 4;

/**
 * Checks that the lengths of meta, source route, DLV headers and measurements add up to the probe in `[p, end)`.
 * `readProbeParts` does the same for bytes without a DataView, and without the places of problems.
 */
export function readProbe(scan: Scan, p: number, end: number, extended: boolean): boolean {
  const { view } = scan;
  const dlv = dlvBytes(extended);
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
  let at = p + 4 + view.getUint16(p + 2) * routeBytes(extended);
  if (at + 2 > end) return scan.fail(CODES.TRUNCATED, 'gpint', p + 2);
  const switches = view.getUint16(at);
  const first = at + 2;
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
