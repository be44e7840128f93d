import type { ImmediateEvent } from './event.js';
import type { NetworkPartial } from './partial.js';
import type { FlowWindow, NetworkWindow, WindowCorrection } from './window.js';

/** Takes what a flow side finds, from within `observe`, `advance` and `flush`; what it is given is its own. */
export interface FlowSideOutput {
  event?(event: ImmediateEvent): void;
  flowWindow?(window: FlowWindow): void;
  correction?(correction: WindowCorrection): void;
  partial?(partial: NetworkPartial): void;
}

/** Takes what a network side finds, from within `merge`, `advance` and `flush`. */
export interface NetworkSideOutput {
  event?(event: ImmediateEvent): void;
  networkWindow?(window: NetworkWindow): void;
  correction?(correction: WindowCorrection): void;
}

/** Takes what a stream processor finds. */
export interface StreamOutput {
  event?(event: ImmediateEvent): void;
  flowWindow?(window: FlowWindow): void;
  networkWindow?(window: NetworkWindow): void;
  correction?(correction: WindowCorrection): void;
}
