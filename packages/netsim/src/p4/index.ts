/** Switches that run P4 programs, as nodes of a network. @packageDocumentation */

export type { QueueCounters } from './output-port.js';
export { P4Switch, type P4SwitchOptions } from './p4-switch.js';
