import type { TelemetryBatch } from '@int/codec';
import { FlowSide, type FlowSideTotals } from './flow/side.js';
import type { StreamOutput } from './model/output.js';
import { NetworkSide, type NetworkSideTotals } from './network/side.js';
import type { StreamProcessorOptions } from './options.js';

/** One flow side and the network side in one object. */
export class StreamProcessor {
  readonly #flow: FlowSide;
  readonly #network: NetworkSide;

  /** @throws RangeError for an option out of range */
  constructor(options: StreamProcessorOptions = {}, output: StreamOutput = {}) {
    const { flowSide, networkSide, ...times } = options;
    this.#network = new NetworkSide({ ...networkSide, ...times }, output);
    this.#flow = new FlowSide(
      { ...flowSide, ...times },
      {
        event: (event) => output.event?.(event),
        flowWindow: (window) => output.flowWindow?.(window),
        correction: (correction) => output.correction?.(correction),
        partial: (partial) => this.#network.merge(partial),
      },
    );
  }

  /** As {@link FlowSide.observe}. */
  observe(batch: TelemetryBatch, from = 0, to: number = batch.reports): void {
    this.#flow.observe(batch, from, to);
  }

  /** As {@link FlowSide.advance}. */
  advance(timeMs: number): void {
    this.#flow.advance(timeMs);
    this.#network.advance(timeMs);
  }

  /** Emits everything that is still open. */
  flush(): void {
    this.#flow.flush();
    this.#network.flush();
  }

  totals(): { readonly flowSide: FlowSideTotals; readonly networkSide: NetworkSideTotals } {
    return { flowSide: this.#flow.totals(), networkSide: this.#network.totals() };
  }
}
