/** GPINT probes (reliable GPINT, section IV): found by UDP port, plain or extended layout. */
import { CODES } from '../codes.js';
import { FEEDBACK_BYTES, FEEDBACK_DSCP, MAX_PROBE_SWITCHES, ProbeParts, readProbeParts } from '../probe/parts.js';
import { dscpOf } from './network.js';
import type { Scan } from './state.js';

export const GPINT_MODE = 4;

/** The parts of the probe in hand. */
const parts = /* @__PURE__ */ new ProbeParts();

/** Checks that the lengths of meta, source route, DLV headers and measurements add up to the probe in `[p, end)`. */
export function readProbe(scan: Scan, p: number, end: number, extended: boolean): boolean {
  scan.clearInt();
  scan.mode = GPINT_MODE;
  scan.probeExtended = extended ? 1 : 0;
  scan.probeDscp = dscpOf(scan);
  scan.probeOffset = p;
  scan.stackOffset = p;
  scan.hopCount = 0;
  scan.stride = 0;
  if (end - p === FEEDBACK_BYTES && scan.probeDscp === FEEDBACK_DSCP) {
    scan.stackOffset = end;
    return true;
  }
  const code = readProbeParts(scan.bytes, p, end, extended, parts);
  if (parts.switchCount > MAX_PROBE_SWITCHES) return scan.fail(CODES.BAD_PROBE, 'gpint', parts.switchOffset - 2);
  if (code !== CODES.OK) return scan.fail(code, 'gpint', parts.problemOffset);
  scan.stackOffset = parts.switchOffset;
  scan.hopCount = parts.switchCount;
  return true;
}
