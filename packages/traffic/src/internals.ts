/**
 * What other packages of this repository need of this one. Without a promise: any release may change it.
 *
 * @packageDocumentation
 */
export { COLD_RATE, PACKETS_PER_SLOT, QUEUE_CAP_US, SLOT_NS, workloadOf } from './workload.js';
