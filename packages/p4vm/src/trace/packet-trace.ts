import type { TraceConsumer, TraceEvent } from './trace.js';

/** A packet that left the switch. */
export interface TracedOutput {
  readonly port: number;
  readonly frame: Uint8Array;
}

/** The trace of one packet, from its ingress port to the packets that left the switch. */
export interface PacketTrace {
  readonly port: number;
  readonly frame: Uint8Array;
  readonly events: readonly TraceEvent[];
  readonly outputs: readonly TracedOutput[];
}

/** Keeps events. Those beyond `limit` are only counted. */
export class TraceRecorder implements TraceConsumer {
  readonly events: TraceEvent[] = [];
  suppressed = 0;

  constructor(readonly limit = 100_000) {}

  event(event: TraceEvent): void {
    if (this.events.length < this.limit) this.events.push(event);
    else this.suppressed++;
  }
}
