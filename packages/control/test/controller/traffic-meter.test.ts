import {
  BatchDecoder,
  type DecodeOptions,
  encodeFrame,
  TelemetryBatch,
  type TelemetryParts,
  telemetry,
} from '@int/codec';
import { TrafficMeter } from '@int/control';
import { describe, expect, it } from 'vitest';
import { TOPOLOGY } from './scenes.js';

const START = 1_700_000_000_000;
const flow = { source: '10.0.1.7', destination: '10.0.2.9', protocol: 17, sourcePort: 4000, destinationPort: 6000 };

/** Gives reports to a meter, a frame each. */
function give(
  meter: TrafficMeter,
  reports: readonly TelemetryParts[],
  timeMs = START,
  options: DecodeOptions = {},
): void {
  const batch = new TelemetryBatch({ frames: 1 });
  const decoder = new BatchDecoder(options);
  const time = BigInt(timeMs) * 1_000_000n;
  for (const parts of reports) {
    const bytes = encodeFrame(telemetry(parts));
    const lengths = Uint32Array.of(bytes.length);
    const [high, low] = [Number(time >> 32n), Number(time & 0xffffffffn)];
    batch.clear();
    decoder.decode(batch, {
      ...{ bytes, lengths, offsets: Uint32Array.of(0) },
      ...{ timestampsHigh: Uint32Array.of(high), timestampsLow: Uint32Array.of(low) },
    });
    expect(batch.reports).toBeGreaterThan(0);
    meter.process(batch);
  }
}

const postcard = (nodeId: number, mode: 'xd' | 'mx' = 'xd'): TelemetryParts => ({
  flow,
  report: { nodeId, metadata: { hopLatency: 100 } },
  ...(mode === 'mx' && { int: { mode } }),
});

describe.each(['xd', 'mx'] as const)('switches that report each for itself, INT-%s', (mode) => {
  it('see a packet once, however many report it, on the path that the topology tells', () => {
    const meter = new TrafficMeter({ topology: TOPOLOGY });
    // In the order in which reports come, not in that of the path; the last packet is not at its destination yet.
    give(
      meter,
      [102, 2, 1, 1, 102, 2, 1].map((node) => postcard(node, mode)),
    );
    const { flows } = meter.measure(START + 10);
    expect(flows).toMatchObject([{ ...flow, packets: 3, path: [1, 102, 2] }]);
    expect(meter.minute(START + 10).flows).toMatchObject([{ packets: 3, path: [1, 102, 2] }]);
    // Of a report that is lost another one tells.
    give(
      meter,
      [1, 2, 102, 2, 1, 2].map((node) => postcard(node, mode)),
      START + 1000,
    );
    expect(meter.measure(START + 1010).flows).toMatchObject([{ packets: 3 }]);
  });

  it('have as many bytes as the packets that INT-MD reports', () => {
    const meter = new TrafficMeter({ topology: TOPOLOGY });
    give(meter, [postcard(1, mode)]);
    const [post] = meter.measure(START + 10).flows;
    give(meter, [{ flow, hops: [{ nodeId: 1, hopLatency: 1 }], report: { nodeId: 2 } }]);
    const [stack] = meter.measure(START + 20).flows;
    expect(Math.abs(post!.bytes - stack!.bytes)).toBeLessThanOrEqual(mode === 'mx' ? 16 : 0);
  });
});

describe('copies of INT sinks, with IntMon', () => {
  it('tell flows, their paths, and bytes without INT', () => {
    const meter = new TrafficMeter({ topology: TOPOLOGY });
    const hops = [1, 102, 2].map((nodeId) => ({ nodeId, hopLatency: 5, queueOccupancy: 1 }));
    const bare = encodeFrame(telemetry({ flow, report: null, int: null })).length;
    give(
      meter,
      Array.from({ length: 3 }, () => ({ flow, hops, int: { version: 'intmon', hopMl: null }, report: null })),
      START,
      { profile: 'intmon' },
    );
    const seen = { ...flow, packets: 3, bytes: 3 * bare, path: [1, 102, 2] };
    expect(meter.measure(START + 10).flows).toMatchObject([seen]);
    expect(meter.minute(START + 10).flows).toMatchObject([seen]);
  });
});

describe('the path of postcards', () => {
  it('is not guessed where two are possible, or the topology does not know', () => {
    const meter = new TrafficMeter({ topology: TOPOLOGY });
    give(
      meter,
      [1, 101, 102, 2].map((node) => postcard(node)),
    );
    expect(meter.measure(START + 10).flows).toMatchObject([{ packets: 1, path: [] }]);
    const blind = new TrafficMeter();
    give(
      blind,
      [1, 101, 2].map((node) => postcard(node)),
    );
    expect(blind.measure(START + 10).flows).toMatchObject([{ packets: 1, path: [] }]);
  });

  it('follows the flow in the next window', () => {
    const meter = new TrafficMeter({ topology: TOPOLOGY });
    give(
      meter,
      [1, 101, 2].map((node) => postcard(node)),
    );
    expect(meter.measure(START + 10).flows).toMatchObject([{ path: [1, 101, 2] }]);
    give(
      meter,
      [1, 102, 2].map((node) => postcard(node)),
      START + 1000,
    );
    expect(meter.measure(START + 1010).flows).toMatchObject([{ path: [1, 102, 2] }]);
  });
});

describe('what was lost', () => {
  it('is a share of all packets with reports, and telemetry of any kind is news', () => {
    const meter = new TrafficMeter();
    expect(meter.measure(START)).toMatchObject({ loss: 0, ageMs: Number.POSITIVE_INFINITY });
    give(
      meter,
      Array.from({ length: 6 }, () => postcard(1)),
      START + 500,
    );
    meter.lost(2);
    expect(meter.measure(START + 1000)).toMatchObject({ loss: 0.25, ageMs: 500 });
    expect(meter.measure(START + 2000)).toMatchObject({ loss: 0, ageMs: 1500 });
  });
});
