/** Frames taken apart, field by field. */
export { type Dissection, dissect } from './dissect.js';
export type { DissectedField } from './field.js';
