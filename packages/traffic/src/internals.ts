/** Exports for the other packages of this repository. Any release may change them. @packageDocumentation */
export { COLD_RATE, PACKETS_PER_SLOT, QUEUE_CAP_US, SLOT_NS, workloadOf } from './workload.js';
