/** GPINT probes as switches and monitors handle them: in bytes, without objects. */
export { advanceProbe, type ProbeHop } from './advance.js';
export { type ProbeKind, probeKind, probeRequestId, probeRequestType } from './kind.js';
export { MAX_PROBE_SWITCHES, probeBytes } from './limits.js';
export { dlvSwitchId, nextHopOf, ProbeParts, readProbeParts } from './parts.js';
