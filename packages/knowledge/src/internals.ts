/**
 * Values for the other packages of this repository. There is no promise: any release may change them.
 *
 * @packageDocumentation
 */
export { InOrder } from './conn-log/in-order.js';
export { operandTexts } from './incident/operand-text.js';
