import type { ImmediateEvent } from './event.js';
import type { NetworkPartial } from './partial.js';
import type { FlowWindow, NetworkWindow, WindowCorrection } from './window.js';

/**
 * Callbacks for the results of a flow side. They are called from within the side's methods, and may keep their
 * arguments.
 */
export interface FlowSideOutput {
  event?(event: ImmediateEvent): void;
  flowWindow?(window: FlowWindow): void;
  correction?(correction: WindowCorrection): void;
  partial?(partial: NetworkPartial): void;
}

/** Callbacks for the results of a network side. They are called from within the side's methods. */
export interface NetworkSideOutput {
  event?(event: ImmediateEvent): void;
  networkWindow?(window: NetworkWindow): void;
  correction?(correction: WindowCorrection): void;
}

/** Callbacks for the results of a stream processor. */
export interface StreamOutput extends NetworkSideOutput, Pick<FlowSideOutput, 'flowWindow'> {}
