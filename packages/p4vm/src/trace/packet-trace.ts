import type { TraceConsumer, TraceEvent } from './trace.js';

/** A packet that left the switch. */
export interface TracedOutput {
  readonly port: number;
  readonly frame: Uint8Array;
}

/** What one packet did, from the port it came in by to the packets that came of it. */
export interface PacketTrace {
  readonly port: number;
  readonly frame: Uint8Array;
  readonly events: readonly TraceEvent[];
  readonly outputs: readonly TracedOutput[];
}

/** Keeps the events it is given; those beyond `limit` are counted only. */
export class TraceRecorder implements TraceConsumer {
  readonly events: TraceEvent[] = [];
  suppressed = 0;

  constructor(readonly limit = 100_000) {}

  event(event: TraceEvent): void {
    if (this.events.length < this.limit) this.events.push(event);
    else this.suppressed++;
  }
}
