export { RingError, type RingErrorCode } from './errors.js';
export {
  LOSS_KINDS,
  MAX_CAPACITY,
  MAX_RECORD_WORDS,
  RING_HEADER,
  RING_HEADER_BYTES,
  RING_MAGIC,
  RING_VERSION,
} from './layout.js';
export { type RingOptions, SpscRing } from './ring.js';
export type { WaitResult } from './waiting.js';
