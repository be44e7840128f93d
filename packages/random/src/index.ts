/** Seeded random numbers: the same seed, the same numbers, in every engine. @packageDocumentation */
export { mix32 } from './mix.js';
export { Random } from './random.js';
export { Zipf } from './zipf.js';
