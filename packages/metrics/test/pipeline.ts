import { encodeReport, telemetry } from '@int/codec';
import {
  Collector,
  DetectionStage,
  FlowStage,
  ReportLossStage,
  type Sink,
  type SinkTotals,
  type Source,
  SwitchTotals,
  UdpSource,
} from '@int/collector';
import { readRules } from '@int/detect/yaml';
import { DeviceProfile } from '@int/network';

/** A report of a switch about one packet: payload of a datagram. */
export function report(nodeId: number, sequence: number, hopLatency: number, queueOccupancy: number): Uint8Array {
  const metadata = {
    l1IngressInterface: 1,
    l1EgressInterface: 2,
    hopLatency,
    queueId: 3,
    queueOccupancy,
    egressUtilization: 55,
    bufferId: 1,
    bufferOccupancy: 900,
  };
  const flow = { source: '10.0.0.1', destination: '10.0.0.2', sourcePort: 4000, destinationPort: 80 };
  return encodeReport(telemetry({ flow, report: { hwId: 1, sequence, nodeId, metadata } }));
}

/** Hands on frames as they are given to it. */
export class PushSource implements Source {
  readonly name = 'test';
  readonly finished: Promise<void>;
  readonly overrun = 0;
  readonly kernelDropped = 4;
  #push: Parameters<Source['start']>[0] = () => undefined;
  #finish: () => void = () => {};

  constructor() {
    this.finished = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  async start(push: Parameters<Source['start']>[0]): Promise<void> {
    this.#push = push;
  }

  async stop(): Promise<void> {
    this.#finish();
  }

  push(payloads: readonly Uint8Array[]): void {
    const lengths = Uint32Array.from(payloads, ({ length }) => length);
    const offsets = new Uint32Array(payloads.length);
    for (let row = 1; row < payloads.length; row++) offsets[row] = offsets[row - 1]! + lengths[row - 1]!;
    const bytes = Uint8Array.from(payloads.flatMap((payload) => [...payload]));
    const times = new Uint32Array(payloads.length);
    const frames = { bytes, offsets, lengths, timestampsHigh: times, timestampsLow: times, count: payloads.length };
    this.#push({ linkType: 'report', ...frames });
  }
}

/** A sink that knows what became of its records. */
export class CountingSink implements Sink {
  readonly name = 'store';
  readonly records = ['reports', 'flows'] as const;
  trouble: string | null = null;

  write(): undefined {
    return undefined;
  }

  totals(): SinkTotals {
    return {
      reports: { offered: 10, delivered: 6, pending: 1, dropped: { overflow: 3, closed: 0 } },
      flows: { offered: 2, delivered: 2, pending: 0, dropped: { overflow: 0, closed: 0 } },
    };
  }

  health(): string | null {
    return this.trouble;
  }
}

/** A whole pipeline, all its parts. */
export function pipeline<S extends Source>(
  source: S,
  sinks: readonly Sink[] = [],
  device = new DeviceProfile({ units: { hopLatency: 'ns' } }),
) {
  const switches = new SwitchTotals({ device, latencyBounds: [500, 1000, 2500], occupancyBounds: [0, 10, 100] });
  const detection = new DetectionStage(
    readRules(`
version: 1
units: { hopLatency: ns }
rules:
  - { name: slow, priority: 1, match: any, detect: { threshold: { metric: hopLatency, threshold: 1us, scope: hop } } }
`),
  );
  const flows = new FlowStage({ rows: 64 });
  const loss = new ReportLossStage();
  const collector = new Collector({ sources: [source], stages: [switches, detection, flows, loss], sinks });
  return { source, collector, switches, detection, flows, loss };
}

/** A pipeline that listens on a port of this machine. */
export const listening = (): ReturnType<typeof pipeline<UdpSource>> =>
  pipeline(new UdpSource({ address: 'udp://127.0.0.1:0' }));
