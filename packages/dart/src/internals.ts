/**
 * Exports for other packages of this repository only. Any release may change them.
 *
 * @packageDocumentation
 */
export { FAMILIES, geometryOf, MAX_COPIES, MAX_VALUE_BYTES, slotsFor } from './layout.js';
export { FIRST_REJECT, OUTCOME_NAMES } from './rdma/outcomes.js';
export { simulatedKey } from './simulation/keys.js';
export { simulateWriting, slotsOf, type Writing } from './simulation/simulate.js';
export { type BlockWriter, OUTCOME, SimulatedStore } from './simulation/simulated-store.js';
export { cutChecksum, hashParameters, KeyHashes } from './store/hashes.js';
export { MAX_KEY_BYTES } from './store/rows.js';
export { averageOverAges } from './theory/ages.js';
export { meanOutcomes } from './theory/outcomes.js';
