import {
  type FlowSideOptions,
  type FlowWindow,
  type ImmediateEvent,
  type LinkWindow,
  type NetworkSideOptions,
  type NetworkWindow,
  type StreamOutput,
  StreamProcessor,
  type StreamProcessorOptions,
  type SwitchWindow,
  type TimeOptions,
} from '@int/stream';
import { batchOf, type TestReport } from './reports.js';

/** What a processor has given out. */
export class Findings implements StreamOutput {
  readonly events: ImmediateEvent[] = [];
  readonly flowWindows: FlowWindow[] = [];
  readonly networkWindows: NetworkWindow[] = [];

  event = (event: ImmediateEvent): void => {
    this.events.push(event);
  };
  flowWindow = (window: FlowWindow): void => {
    this.flowWindows.push(window);
  };
  networkWindow = (window: NetworkWindow): void => {
    this.networkWindows.push(window);
  };

  of<K extends ImmediateEvent['kind']>(kind: K): Extract<ImmediateEvent, { kind: K }>[] {
    return this.events.filter((event): event is Extract<ImmediateEvent, { kind: K }> => event.kind === kind);
  }

  get switches(): SwitchWindow[] {
    return this.networkWindows.filter((window) => window.type === 'switchWindow');
  }

  get links(): LinkWindow[] {
    return this.networkWindows.filter((window) => window.type === 'linkWindow');
  }
}

export type Both = TimeOptions & Omit<FlowSideOptions, keyof TimeOptions> & Omit<NetworkSideOptions, keyof TimeOptions>;

/** Small, so that tests are quick to set up. */
export const SMALL = { flows: 64, hops: 8, switches: 64, links: 64, queues: 64, reporters: 16, sequenceBlocks: 256 };

export function processorOf(findings: Findings, options: Partial<Both> = {}): StreamProcessor {
  const { windowMs, sliceMs, ...both } = { ...SMALL, ...options };
  const { idleMs: _, ...rest } = both;
  const times: { windowMs?: number; sliceMs?: number } = {};
  if (windowMs !== undefined) times.windowMs = windowMs;
  if (sliceMs !== undefined) times.sliceMs = sliceMs;
  const all: StreamProcessorOptions = { ...times, flowSide: both, networkSide: rest };
  return new StreamProcessor(all, findings);
}

/** What reports show, and the silence after them until `untilUs`, if it is given; then everything still open. */
export function run(reports: readonly TestReport[], options: Partial<Both> = {}, untilUs = 0): Findings {
  const findings = new Findings();
  const processor = processorOf(findings, options);
  const batch = batchOf(reports);
  processor.observe(batch);
  if (untilUs > 0) processor.advance(untilUs / 1000);
  processor.flush();
  return findings;
}
