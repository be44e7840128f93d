import {
  Arena,
  BatchDecoder,
  CODES,
  decodeFrame,
  encodeFrame,
  type Frames,
  HOP_COLUMNS,
  NOT_AVAILABLE,
  TelemetryBatch,
  type TelemetryRecord,
} from '@int/codec';
import { flowCrc32Columns } from '@int/hash';
import { describe, expect, it } from 'vitest';

const record: TelemetryRecord = {
  index: 0,
  status: 'ok',
  error: null,
  report: null,
  int: {
    mode: 'md',
    version: '2',
    encapsulation: 'udp',
    hopMl: 2,
    remainingHopCount: 6,
    instructionBitmap: 0x9000,
    discard: false,
    hopExceeded: false,
    mtuExceeded: false,
    domainId: 0,
    domainInstructions: 0,
    domainFlags: 0,
  },
  flow: { source: '10.0.1.1', destination: '10.0.2.2', protocol: 17, sourcePort: 5000, destinationPort: 80 },
  path: [1, 2],
  hops: [
    { nodeId: 1, queueId: 0, queueOccupancy: 10 },
    { nodeId: 2, queueId: 0, queueOccupancy: 20 },
  ],
};
const six: TelemetryRecord = {
  ...record,
  flow: { source: '2001:db8::1', destination: '2001:db8::2', protocol: 17, sourcePort: 40000, destinationPort: 5000 },
};

function input(frames: readonly Uint8Array[]): Frames {
  const offsets: number[] = [];
  let at = 0;
  for (const frame of frames) {
    offsets.push(at);
    at += frame.length;
  }
  const bytes = new Uint8Array(at);
  frames.forEach((frame, k) => {
    bytes.set(frame, offsets[k]!);
  });
  return { bytes, offsets: Uint32Array.from(offsets), lengths: Uint32Array.from(frames, (frame) => frame.length) };
}

describe('TelemetryBatch', () => {
  it('takes no memory but what it says, at any offset of an arena', () => {
    for (const capacity of [{ frames: 1 }, { frames: 1000, reports: 1500, hops: 7777 }]) {
      const size = TelemetryBatch.byteLength(capacity);
      const buffer = new ArrayBuffer(size + 37);
      const arena = new Arena(buffer, 37);
      new TelemetryBatch(capacity, arena);
      expect(arena.position).toBeLessThanOrEqual(37 + size);
      expect(() => new TelemetryBatch(capacity, new Arena(buffer, 0, size / 2))).toThrow(RangeError);
    }
  });

  it('lives in a SharedArrayBuffer too', () => {
    const capacity = { frames: 8 };
    const arena = new Arena(new SharedArrayBuffer(TelemetryBatch.byteLength(capacity)));
    const batch = new TelemetryBatch(capacity, arena);
    const { bytes, offsets, lengths } = input([encodeFrame(record)]);
    expect(new BatchDecoder().decode(batch, { bytes, offsets, lengths })).toBe(1);
    expect([...batch.hop.nodeId.subarray(0, 2)]).toEqual([1, 2]);
  });

  it('refuses capacities it cannot have', () => {
    for (const capacity of [{ frames: 0 }, { frames: 1.5 }, { frames: 2 ** 25 }, { frames: 4, hops: 255 }]) {
      expect(() => new TelemetryBatch(capacity)).toThrow(RangeError);
    }
  });

  it('stops when it is full and goes on after a clear, losing nothing', () => {
    const frames = Array.from({ length: 50 }, (_, k) => encodeFrame(k % 7 === 0 ? six : record));
    const { bytes, offsets, lengths } = input(frames);
    const batch = new TelemetryBatch({ frames: 9, reports: 5, hops: 256 });
    const decoder = new BatchDecoder();
    let reports = 0;
    let calls = 0;
    for (let next = 0; next < frames.length; calls++) {
      batch.clear();
      const after = decoder.decode(batch, { bytes, offsets, lengths }, next);
      expect(after).toBeGreaterThan(next);
      expect(batch.frames).toBe(after - next);
      reports += batch.reports;
      next = after;
    }
    expect(reports).toBe(50);
    expect(calls).toBe(10);
  });

  it('counts frames that lie outside the buffer instead of reading them', () => {
    const frame = encodeFrame(record);
    const batch = new TelemetryBatch({ frames: 4 });
    new BatchDecoder().decode(batch, {
      bytes: frame,
      offsets: Uint32Array.of(0, 4, 0xffffffff),
      lengths: Uint32Array.of(frame.length, frame.length, 1),
    });
    expect(batch.frames).toBe(3);
    expect([...batch.frameCode.subarray(0, 3)].map((code) => code !== 0)).toEqual([false, true, true]);
  });

  it('has a view of each hop column, in the order of their list', () => {
    const batch = new TelemetryBatch({ frames: 3, hops: 300 });
    expect(Object.keys(batch.hop)).toEqual(HOP_COLUMNS);
    const starts = HOP_COLUMNS.map((_, index) => batch.hopWords.byteOffset + index * batch.hopStride * 4);
    expect(HOP_COLUMNS.map((name) => batch.hop[name].byteOffset)).toEqual(starts);
    expect(HOP_COLUMNS.map((name) => batch.hop[name].length)).toEqual(HOP_COLUMNS.map(() => 300));
  });

  it('reads all ones where a hop does not carry an item, also after richer reports', () => {
    const rich = {
      ...record,
      int: { ...(record.int as object), hopMl: 4, instructionBitmap: 0xb100 },
      hops: [{ nodeId: 1, hopLatency: 5, queueId: 1, queueOccupancy: 2, egressUtilization: 9 }],
    } as TelemetryRecord;
    const batch = new TelemetryBatch({ frames: 16 });
    const decoder = new BatchDecoder();
    for (const frames of [
      [encodeFrame(rich), encodeFrame(record)],
      [encodeFrame(record), encodeFrame(rich)],
    ]) {
      batch.clear();
      decoder.decode(batch, input(frames));
      for (let row = 0; row < batch.reports; row++) {
        const carries = batch.instructions[row]! >>> 16 === 0xb100;
        for (let h = batch.hopStart[row]!; h < batch.hopStart[row]! + batch.hopCount[row]!; h++) {
          expect(batch.hop.hopLatency[h] === NOT_AVAILABLE).toBe(!carries);
          expect(batch.hop.egressUtilization[h] === NOT_AVAILABLE).toBe(!carries);
          expect(batch.hop.bufferOccupancy[h]).toBe(NOT_AVAILABLE);
        }
      }
    }
  });

  it('is whole: it refers to its frames, and its reports can be gone through as objects', () => {
    const { bytes, offsets, lengths } = input([encodeFrame(record), encodeFrame(six), encodeFrame(record)]);
    const timestampsHigh = Uint32Array.of(1, 2, 3);
    const timestampsLow = Uint32Array.of(10, 20, 30);
    const batch = new TelemetryBatch({ frames: 4 });
    const decoder = new BatchDecoder();
    const frames = { bytes, offsets, lengths, timestampsHigh, timestampsLow };
    decoder.decode(batch, frames, 1, 2);
    decoder.decode(batch, frames, 2);
    expect(batch.bytes).toBe(bytes);
    expect([batch.linkType, batch.isTimed]).toEqual(['ethernet', true]);
    expect([...batch.frameOffset.subarray(0, 2)]).toEqual([...offsets.subarray(1)]);
    expect([...batch.frameLength.subarray(0, 2)]).toEqual([...lengths.subarray(1)]);
    expect(Array.from(batch, ({ timeNs, flow }) => [timeNs, flow])).toEqual([
      [(2n << 32n) | 20n, six.flow],
      [(3n << 32n) | 30n, record.flow],
    ]);
    expect(batch.record(1).hopCount).toBe(record.hops.length);
    expect(() => batch.record(2)).toThrow(RangeError);
    // Other frames than the next ones are refused, and change nothing.
    for (const other of [frames, { ...frames, bytes: bytes.slice() }]) {
      expect(() => decoder.decode(batch, other, 0, 1)).toThrow(RangeError);
    }
    expect(() => new BatchDecoder({ linkType: 'raw' }).decode(batch, frames, 3, 4)).toThrow(RangeError);
    expect(batch.reports).toBe(2);
    batch.clear();
    expect([batch.linkType, batch.isTimed, batch.bytes.length]).toEqual([null, false, 0]);
    decoder.decode(batch, { bytes, offsets, lengths });
    expect([batch.isTimed, batch.timeNs(0)]).toEqual([false, 0n]);
  });

  it('says that a datagram cut between two reports has lost the second', () => {
    const report = { hwId: 0, sequence: 1, nodeId: 7, type: 'none', dropped: false, queueCongested: true } as const;
    const drop = { dropReason: null, dropQueueId: null, ingressTimestamp: null, metadata: {} };
    const empty: TelemetryRecord = {
      ...record,
      int: null,
      flow: null,
      path: [7],
      hops: [],
      report: { ...report, ...drop, version: '2.0', trackedFlow: false, intermediate: false },
    };
    const whole = encodeFrame([empty, { ...empty, index: 1 }]);
    const options = { reportPorts: [32766] };
    expect(decodeFrame(whole, options).map(({ status }) => status)).toEqual(['ok', 'ok']);
    const cut = whole.subarray(0, whole.length - 4);
    expect(decodeFrame(cut, options).map(({ status }) => status)).toEqual(['ok', 'truncated']);
    const batch = new TelemetryBatch({ frames: 4 });
    new BatchDecoder(options).decode(batch, input([cut]));
    expect(batch.frameCode[0]).toBe(CODES.TRUNCATED);
  });

  it('can be handed to the column hashes as it is', () => {
    const batch = new TelemetryBatch({ frames: 4 });
    new BatchDecoder().decode(batch, input([encodeFrame(record), encodeFrame(six)]));
    const out = new Uint32Array(2);
    flowCrc32Columns(batch, 0, 2, out);
    expect([...out]).toEqual([0xcf7ff369, 0x925b5908]);
  });
});
