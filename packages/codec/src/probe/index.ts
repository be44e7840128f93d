/** GPINT probes for switches and monitors, which handle them as bytes, without objects. */
export { advanceProbe, type ProbeHop } from './advance.js';
export { type ProbeKind, probeKind, probeRequestId, probeRequestType } from './kind.js';
export { dlvSwitchId, MAX_PROBE_SWITCHES, nextHopOf, ProbeParts, probeBytes, readProbeParts } from './parts.js';
