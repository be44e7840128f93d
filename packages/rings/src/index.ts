export { RingError, type RingErrorCode } from './errors.js';
export { RING_HEADER } from './layout.js';
export { type RingOptions, SpscRing } from './ring.js';
export type { WaitResult } from './waiting.js';
