import { BatchDecoder, encodeFrame, TelemetryBatch, telemetry } from '@int/codec';
import { type Incident, KnowledgePlane } from '@int/knowledge';
import { labelledFrame, labelledTraffic } from '@int/netsim';
import { MAX_REPORT_BYTES, ReportStream } from '@int/traffic';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SEED } from './seed.js';

/** Decodes frames with their times, and gives the batches to a plane. */
function observe(
  plane: KnowledgePlane,
  frames: readonly { readonly bytes: Uint8Array; readonly timeMs: number }[],
  intPorts: number[] = [],
): void {
  const batch = new TelemetryBatch({ frames: 256 });
  const decoder = new BatchDecoder({ intPorts });
  for (let at = 0; at < frames.length; at += 256) {
    const part = frames.slice(at, at + 256);
    const bytes = new Uint8Array(part.reduce((sum, frame) => sum + frame.bytes.length, 0));
    const offsets = new Uint32Array(part.length);
    const lengths = Uint32Array.from(part, (frame) => frame.bytes.length);
    const timestampsHigh = new Uint32Array(part.length);
    const timestampsLow = new Uint32Array(part.length);
    let offset = 0;
    part.forEach((frame, k) => {
      offsets[k] = offset;
      bytes.set(frame.bytes, offset);
      offset += frame.bytes.length;
      const timeNs = BigInt(Math.round(frame.timeMs * 1000)) * 1000n;
      timestampsHigh[k] = Number(timeNs >> 32n);
      timestampsLow[k] = Number(timeNs & 0xffffffffn);
    });
    decoder.decode(batch, { bytes, offsets, lengths, timestampsHigh, timestampsLow });
    plane.observe(batch);
    batch.clear();
  }
}

it.each(['syn-flood', 'reflection', 'scan-vertical'] as const)(
  'a capture of a %s says what its packets say',
  (kind) => {
    const told: Incident[][] = [[], []];
    const options = { learnMs: 20_000 };
    const packets = [...labelledTraffic({ kind, seed: 7, seconds: 100, attackFrom: 50, attackSeconds: 8 }).packets].map(
      (packet) => ({
        ...packet,
        // Captures have microseconds.
        timeMs: Math.round(packet.timeMs * 1000) / 1000,
      }),
    );
    const byPacket = new KnowledgePlane(options, { incident: (incident) => told[0]!.push(incident) });
    for (const packet of packets) byPacket.packet(packet);
    byPacket.finish();
    const byFrame = new KnowledgePlane(options, { incident: (incident) => told[1]!.push(incident) });
    observe(
      byFrame,
      packets.map((packet) => ({ bytes: labelledFrame(packet), timeMs: packet.timeMs })),
    );
    byFrame.finish();
    expect(told[0]!.length).toBeGreaterThan(0);
    expect(told[1]).toEqual(told[0]);
    expect(byFrame.totals()).toEqual(byPacket.totals());
  },
);

describe('what switches say', () => {
  const START = 1_700_000_000_000;

  /** 100 reports a second of a path through switches 1, 2 and 3; the queue of switch 2 fills after a minute. */
  function reports(seconds: number, occupancy: (second: number) => number): { bytes: Uint8Array; timeMs: number }[] {
    const frames: { bytes: Uint8Array; timeMs: number }[] = [];
    for (let k = 0; k < 100 * seconds; k++) {
      const second = Math.floor(k / 100);
      const deep = occupancy(second);
      const noise = (k * 7919) % 20;
      const bytes = encodeFrame(
        telemetry({
          flow: {
            source: `10.0.0.${1 + (k % 50)}`,
            destination: '10.1.0.9',
            sourcePort: 4000 + (k % 50),
            destinationPort: 443,
            protocol: 17,
          },
          hops: [
            { nodeId: 1, hopLatency: 900 + noise, queueId: 0, queueOccupancy: 10 },
            { nodeId: 2, hopLatency: 900 + 40 * deep + noise, queueId: 3, queueOccupancy: deep },
            { nodeId: 3, hopLatency: 900 + noise, queueId: 0, queueOccupancy: 10 },
          ],
          report: null,
        }),
      );
      frames.push({ bytes, timeMs: START + 10 * k });
    }
    return frames;
  }

  function alarms(frames: readonly { bytes: Uint8Array; timeMs: number }[]): Incident[] {
    const told: Incident[] = [];
    const plane = new KnowledgePlane({ learnMs: 30_000 }, { incident: (incident) => told.push(incident) });
    observe(plane, frames, [5000]);
    plane.finish();
    return told;
  }

  it('congestion is one incident of its switch, with queue and latency', () => {
    const told = alarms(reports(180, (second) => (second >= 60 && second < 90 ? 120 : 10)));
    expect(told.map(({ kind, state }) => `${kind} ${state}`)).toEqual(['congestion open', 'congestion close']);
    const [opened, closed] = told;
    expect(opened!.from - START).toBeGreaterThanOrEqual(60_000);
    expect(opened!.from - START).toBeLessThanOrEqual(63_000);
    expect([opened!.entity, ...closed!.along].sort()).toEqual(['queue:2/3', 'switch:2']);
    expect(closed!.to! - START).toBeGreaterThanOrEqual(89_000);
    expect(closed!.to! - START).toBeLessThanOrEqual(95_000);
    expect(Number(opened!.operands.value) / Number(opened!.operands.usual)).toBeGreaterThan(3);
  });

  it('nothing is raised while all is as usual', () => {
    expect(alarms(reports(120, () => 10))).toEqual([]);
  });
});

it('finds the flags of TCP behind INT: packets in the midst of connections are no contacts', () => {
  const stream = new ReportStream({ topology: 'leaf-spine:4x2', flows: 2000, ratePps: 2000, tcpShare: 1, seed: SEED });
  const bytes = new Uint8Array(256 * MAX_REPORT_BYTES);
  const [offsets, lengths] = [new Uint32Array(256), new Uint32Array(256)];
  const [timestampsHigh, timestampsLow] = [new Uint32Array(256), new Uint32Array(256)];
  const times = new Float64Array(256);
  const batch = new TelemetryBatch({ frames: 256 });
  const decoder = new BatchDecoder({ linkType: 'report' });
  const told: Incident[] = [];
  const plane = new KnowledgePlane({}, { incident: (incident) => told.push(incident) });
  for (let k = 0; k < 40; k++) {
    const count = stream.fill(bytes, offsets, lengths, times);
    for (let row = 0; row < count; row++) {
      const timeNs = stream.settings.startNs + BigInt(Math.floor(times[row]!));
      timestampsHigh[row] = Number(timeNs >> 32n);
      timestampsLow[row] = Number(timeNs & 0xffffffffn);
    }
    batch.clear();
    decoder.decode(batch, { bytes, offsets, lengths, count, timestampsHigh, timestampsLow });
    plane.observe(batch);
  }
  plane.finish();
  expect(plane.totals().reports).toBeGreaterThan(9000);
  expect(told.map(({ id }) => id)).toEqual([]);
});

describe('packets in tunnels', () => {
  const traffic = { kind: 'scan-vertical', seed: 7, seconds: 60, attackFrom: 40, attackSeconds: 8 } as const;
  const packets = [...labelledTraffic(traffic).packets];
  const half = (value: number): number[] => [value >> 8, value & 255];
  const ip = (protocol: number, payload: number[]): number[] => [
    ...[...Array<number>(12).fill(2), 8, 0, 0x45, 0, ...half(20 + payload.length), 0, 0, 0, 0, 64, protocol, 0, 0],
    ...[192, 0, 2, 1, 192, 0, 2, 2, ...payload],
  ];
  const udp = (port: number, payload: number[]): number[] =>
    ip(17, [...half(50_000), ...half(port), ...half(8 + payload.length), 0, 0, ...payload]);

  it.each<[string, (frame: number[]) => number[]]>([
    ['IP in IP', (frame) => ip(4, frame.slice(14))],
    ['GRE', (frame) => ip(47, [0, 0, 8, 0, ...frame.slice(14)])],
    ['GRE with a key and Ethernet', (frame) => ip(47, [0x20, 0, 0x65, 0x58, 0, 0, 0, 9, ...frame])],
    ['ERSPAN', (frame) => ip(47, [0x10, 0, 0x88, 0xbe, 0, 0, 0, 1, 0x10, 1, 0, 5, 0, 0, 0, 0, ...frame])],
    ['VXLAN', (frame) => udp(4789, [8, 0, 0, 0, 0, 0, 77, 0, ...frame])],
    ['Geneve with an option', (frame) => udp(6081, [1, 0, 0x65, 0x58, 0, 0, 77, 0, 1, 2, 3, 4, ...frame])],
    ['PPPoE', (frame) => [...frame.slice(0, 12), 0x88, 0x64, 0x11, 0, 0, 1, 0, 0, 0, 0x21, ...frame.slice(14)]],
  ])('are read: %s', (name, wrap) => {
    const told: string[] = [];
    const plane = new KnowledgePlane({}, { incident: ({ kind, state }) => told.push(`${kind} ${state}`) });
    observe(
      plane,
      packets.map((packet) => ({ bytes: Uint8Array.from(wrap([...labelledFrame(packet)])), timeMs: packet.timeMs })),
    );
    plane.finish();
    expect(told).toEqual(['scan-vertical open', 'scan-vertical close']);
    const inner = name === 'PPPoE' ? 0 : packets.length;
    expect(plane.totals()).toMatchObject({ packets: packets.length + inner, inner, untracked: { unread: 0 } });
  });
});

it('takes any bytes for frames, and counts what it cannot read', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 120 }), { minLength: 1, maxLength: 40 }), (frames) => {
      const plane = new KnowledgePlane(
        { capacity: { flows: 16, sources: 16, destinations: 16, pairs: 16, metrics: 16 } },
        { incident: () => {} },
      );
      observe(
        plane,
        frames.map((bytes, k) => ({ bytes, timeMs: 1000 * k })),
      );
      const { packets, inner, untracked } = plane.totals();
      expect(packets - inner + untracked.unread).toBe(frames.length);
    }),
    { seed: SEED },
  );
});

it('stays within its tables, whatever is sent', () => {
  const plane = new KnowledgePlane(
    { capacity: { flows: 64, sources: 16, destinations: 16, pairs: 16, metrics: 16 } },
    { incident: () => {} },
  );
  for (let k = 0; k < 20_000; k++) {
    plane.packet({
      timeMs: k,
      source: `10.${k & 255}.${(k >> 8) & 255}.1`,
      destination: `${20 + (k % 200)}.${(k * 7) & 255}.${(k * 13) & 255}.9`,
      sourcePort: k & 0xffff,
      destinationPort: (k * 31) & 0xffff,
      protocol: k % 3 === 0 ? 17 : 6,
      tcpFlags: k & 0x1f,
      lengthBytes: 100,
    });
    plane.metric({ timeMs: k, metric: 'queueOccupancy', switchId: k, part: k & 7, value: k });
  }
  const { untracked } = plane.totals();
  for (const name of ['flows', 'sources', 'destinations', 'pairs', 'metrics'] as const)
    expect(untracked[name]).toBeGreaterThan(1000);
});
