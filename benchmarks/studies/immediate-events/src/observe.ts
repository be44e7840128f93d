/** Scenarios seen through a stream processor. */
import { BatchDecoder, TelemetryBatch } from '@int/codec';
import { type DrainedLink, type Label, SCENARIO_NETWORK, Scenario, type ScenarioOptions } from '@int/netsim';
import { type ImmediateEvent, type StreamOutput, StreamProcessor } from '@int/stream';

/** How often the processor gets what has come, and the time, virtual nanoseconds. */
const STEP_NS = 50e6;

/** More than come in one step. */
const CAPACITY = { frames: 4096, reports: 4096, hops: 32_768 } as const;

const MOST_BYTES = 1 << 20;

export interface Observation {
  /** In the order in which they were raised. */
  readonly events: readonly ImmediateEvent[];
  readonly labels: readonly Label[];
  readonly drained: readonly DrainedLink[];
  readonly reports: number;
  readonly startNs: number;
  readonly endNs: number;
}

/** Reports of one step, as a source hands them to a collector. */
class Inbox {
  readonly bytes: Uint8Array = new Uint8Array(MOST_BYTES);
  readonly offsets: Uint32Array = new Uint32Array(CAPACITY.frames);
  readonly lengths: Uint32Array = new Uint32Array(CAPACITY.frames);
  readonly timestampsHigh: Uint32Array = new Uint32Array(CAPACITY.frames);
  readonly timestampsLow: Uint32Array = new Uint32Array(CAPACITY.frames);
  count = 0;
  #used = 0;

  /** @throws RangeError if there is no room */
  add(payload: Uint8Array, timeNs: number): void {
    const row = this.count++;
    this.bytes.set(payload, this.#used);
    this.offsets[row] = this.#used;
    this.lengths[row] = payload.length;
    this.#used += payload.length;
    this.timestampsHigh[row] = Math.floor(timeNs / 2 ** 32);
    this.timestampsLow[row] = timeNs;
  }

  clear(): void {
    this.count = 0;
    this.#used = 0;
  }
}

/**
 * Runs a scenario, its reports going through a decoder into a stream processor while it runs.
 *
 * @param output also gets what the processor finds, as it is found
 */
export function observe(options: ScenarioOptions, output: StreamOutput = {}): Observation {
  const events: ImmediateEvent[] = [];
  const processor = new StreamProcessor(
    { networkSide: { queueThreshold: SCENARIO_NETWORK.congestedPackets } },
    {
      ...output,
      event(event) {
        events.push(event);
        output.event?.(event);
      },
    },
  );
  const decoder = new BatchDecoder({ linkType: 'report' });
  const batch = new TelemetryBatch(CAPACITY);
  const inbox = new Inbox();
  let reports = 0;
  const scenario = new Scenario(options, (payload, timeNs) => inbox.add(payload, timeNs));
  const { startNs, endNs } = scenario;
  for (let timeNs = startNs + STEP_NS; timeNs <= endNs; timeNs += STEP_NS) {
    scenario.run(timeNs);
    const { count } = inbox;
    batch.clear();
    const decoded = decoder.decode(batch, inbox, 0, count);
    if (decoded < count) throw new RangeError(`a batch has no room for ${count} reports`);
    reports += batch.reports;
    processor.observe(batch);
    processor.advance(Math.floor(timeNs / 1e6));
    inbox.clear();
  }
  return { events, labels: scenario.labels(), drained: scenario.drained, reports, startNs, endNs };
}
