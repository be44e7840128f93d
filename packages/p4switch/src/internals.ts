/**
 * Exports for the other packages of this repository. Any release may change them.
 *
 * @packageDocumentation
 */
export { PortCounts } from './port.js';
