/** Traffic as bytes, for load tests: writes telemetry reports to the caller's buffer without making objects. */
import type { FlowTable } from './flows.js';
import { settingsOf, type TrafficOptions, type TrafficSettings } from './options.js';
import { MAX_REPORT_BYTES, ReportWriter } from './report-writer.js';
import { Simulation } from './simulation.js';

/**
 * Telemetry reports as UDP payloads. A `TrafficGenerator` with the same options gives the same reports as objects.
 *
 * The packet inside a report is the IPv4 packet without its payload. Its lengths and checksums are those of the whole
 * packet, whose payload is zeros.
 */
export class ReportStream {
  /** All options with their defaults. */
  readonly settings: TrafficSettings;
  readonly #simulation: Simulation;
  readonly #writer: ReportWriter;
  #pending = false;

  /** @throws RangeError for an option out of range, TopologyError for a wrong topology text */
  constructor(options: TrafficOptions) {
    this.settings = settingsOf(options);
    this.#simulation = new Simulation(this.settings);
    this.#writer = new ReportWriter(this.#simulation);
  }

  /** All flows. */
  get flows(): FlowTable {
    return this.#simulation.flows;
  }

  /**
   * Writes consecutive reports until there is no room for another (fewer than {@link MAX_REPORT_BYTES} bytes left, or
   * `offsets`, `lengths` or `timesNs` full), or until the next one is later than `untilNs`.
   *
   * @param out receives the UDP payloads
   * @param offsets receives the start of each report in `out`
   * @param lengths receives the bytes of each
   * @param timesNs receives the sending times, in nanoseconds of virtual time (from `settings.startNs` on)
   * @param untilNs time of the last report to write; later ones wait for the next call
   * @returns number of reports written
   */
  fill(
    out: Uint8Array,
    offsets: Uint32Array,
    lengths: Uint32Array,
    timesNs?: Float64Array,
    untilNs = Number.POSITIVE_INFINITY,
  ): number {
    const simulation = this.#simulation;
    const writer = this.#writer;
    const most = Math.min(offsets.length, lengths.length, timesNs === undefined ? offsets.length : timesNs.length);
    const end = out.length - MAX_REPORT_BYTES;
    writer.open(out);
    let count = 0;
    while (count < most && writer.at <= end) {
      if (!this.#pending) {
        simulation.next();
        this.#pending = true;
      }
      if (simulation.timeNs > untilNs) break;
      const from = writer.at;
      writer.report();
      offsets[count] = from;
      lengths[count] = writer.at - from;
      if (timesNs !== undefined) timesNs[count] = simulation.timeNs;
      this.#pending = false;
      count++;
    }
    return count;
  }
}
