import { createHash } from 'node:crypto';
import { CodecError, decodeFrame, decodeReport, FrameDecoder, type TelemetryRecord } from '@int/codec';
import { MAX_REPORT_BYTES, ReportStream, TrafficGenerator, type TrafficOptions } from '@int/traffic';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../.ci/test/length.js';
import { SEED } from './seed.js';

const COUNT = 300;

interface Filled {
  bytes: Uint8Array;
  offsets: Uint32Array;
  lengths: Uint32Array;
  times: Float64Array;
  count: number;
}

function fill(stream: ReportStream, count: number, out = new Uint8Array(count * MAX_REPORT_BYTES)): Filled {
  const offsets = new Uint32Array(count);
  const lengths = new Uint32Array(count);
  const times = new Float64Array(count);
  return { bytes: out, offsets, lengths, times, count: stream.fill(out, offsets, lengths, times) };
}

function datagrams(filled: Filled): Uint8Array[] {
  return Array.from({ length: filled.count }, (_, i) =>
    filled.bytes.subarray(filled.offsets[i]!, filled.offsets[i]! + filled.lengths[i]!),
  );
}

/** A decoder that checks every checksum it can. */
const decoder = new FrameDecoder({ linkType: 'report', verifyChecksums: true });

function decode(payload: Uint8Array): TelemetryRecord[] {
  return decoder.decode(payload);
}

const options = fc.record({
  topology: fc.constantFrom('leaf-spine:2x1', 'leaf-spine:4x2', 'leaf-spine:3x2x20', 'fat-tree:4', 'fat-tree:8'),
  flows: fc.integer({ min: 1, max: 200 }),
  mode: fc.constantFrom('md' as const, 'mx' as const, 'xd' as const),
  report: fc.constantFrom('1.0' as const, '2.0' as const),
  workload: fc.constantFrom('web' as const, 'cache' as const, 'hadoop' as const),
  ratePps: fc.constantFrom(50, 20_000, 3_000_000),
  seed: fc.integer(),
  bits: fc.integer({ min: 0, max: 0xffff }),
  zipfExponent: fc.constantFrom(0, 1, 1.1, 2.5),
  tcpShare: fc.constantFrom(0, 0.5, 1),
  startNs: fc.bigInt({ min: 0n, max: (1n << 63n) - 1n }),
});

/** The stream's reports carry the IP packet alone. */
function withoutEthernet(records: readonly TelemetryRecord[]): TelemetryRecord[] {
  return records.map(({ ethernet: _, ...record }) => record);
}

describe('ReportStream', () => {
  it('gives bytes that decode to the records of the generator with the same options', () => {
    fc.assert(
      fc.property(options, ({ bits, ...rest }) => {
        const allowed = rest.report === '1.0' ? 0xff00 : 0xff80;
        const traffic: TrafficOptions = {
          ...rest,
          // Ports are always asked for: a report 1.0 postcard needs an item.
          instructions: (bits & allowed) | 0x4000,
          fabric: { episodes: { rate: 2, everyNs: 2e6, lengthNs: 2e6 } },
        };
        const generator = new TrafficGenerator(traffic);
        const filled = fill(new ReportStream(traffic), 60);
        expect(filled.count).toBe(60);
        for (const [i, payload] of datagrams(filled).entries()) {
          const expected = generator.next();
          expect(decode(payload)).toEqual(withoutEthernet(expected.records));
          expect(generator.settings.startNs + BigInt(filled.times[i]!)).toBe(expected.timeNs);
        }
      }),
      { seed: SEED, numRuns: runs(150) },
    );
  });

  it.each([
    ['md', '1.0'],
    ['md', '2.0'],
    ['mx', '1.0'],
    ['mx', '2.0'],
    ['xd', '1.0'],
    ['xd', '2.0'],
  ] as const)('agrees with the generator about drops and congestion in mode %s, report %s', (mode, report) => {
    const traffic: TrafficOptions = {
      topology: 'leaf-spine:3x2',
      mode,
      report,
      workload: 'hadoop',
      ratePps: 20_000,
      seed: SEED,
      fabric: { hotspots: 4, episodes: { rate: 3, everyNs: 4e6, lengthNs: 6e6 } },
    };
    const generator = new TrafficGenerator(traffic);
    let drops = 0;
    let congested = 0;
    for (const payload of datagrams(fill(new ReportStream(traffic), 4000))) {
      const records = decode(payload);
      expect(records).toEqual(withoutEthernet(generator.next().records));
      if (records[0]!.report!.dropped) drops++;
      if (records[0]!.report!.queueCongested) congested++;
    }
    expect(drops).toBeGreaterThan(20);
    expect(congested).toBeGreaterThan(drops);
  });

  it('gives payloads that are recognised as reports on an unmarked port, every length closing', () => {
    for (const mode of ['md', 'mx', 'xd'] as const) {
      for (const report of ['1.0', '2.0'] as const) {
        const stream = new ReportStream({ topology: 'fat-tree:4', mode, report, seed: SEED });
        for (const payload of datagrams(fill(stream, COUNT))) {
          const frame = udpFrame(payload);
          const [record] = decodeFrame(frame);
          expect(record!.status).toBe('ok');
          expect(record!.report!.version).toBe(report);
          expect(CodecError.is(decodeReport(payload))).toBe(false);
        }
      }
    }
  });

  it('carries inner packets with sound IPv4 checksums, and sound UDP and TCP checksums over a payload of zeros', () => {
    for (const mode of ['md', 'mx', 'xd'] as const) {
      for (const report of ['1.0', '2.0'] as const) {
        const stream = new ReportStream({ topology: 'fat-tree:4', mode, report, seed: SEED });
        for (const payload of datagrams(fill(stream, COUNT))) {
          const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
          const inner = report === '2.0' ? 20 + 4 * payload[10]! : 4 * (payload[0]! & 15);
          expect(payload[inner]).toBe(0x45);
          const total = view.getUint16(inner + 2);
          const whole = new Uint8Array(total);
          whole.set(payload.subarray(inner));
          expect(foldedSum(whole, 0, 20, 0)).toBe(0xffff);
          const protocol = whole[9]!;
          const pseudo = foldedSum(whole, 12, 20, protocol + total - 20);
          const unused = protocol === 17 && whole[26] === 0 && whole[27] === 0;
          if (!unused) expect(foldedSum(whole, 20, total, pseudo)).toBe(0xffff);
        }
      }
    }
  });

  it('gives the same bytes for the same seed, whatever the size of the buffer', () => {
    const traffic: TrafficOptions = { topology: 'leaf-spine:4x2', workload: 'cache', seed: 'same' };
    const whole = datagrams(fill(new ReportStream(traffic), COUNT)).map((one) => Buffer.from(one).toString('hex'));
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 30 }),
        fc.integer({ min: 0, max: 9 }),
        (sizes, offset) => {
          const stream = new ReportStream(traffic);
          const parts: string[] = [];
          for (const size of sizes) {
            const room = new Uint8Array(offset + size * MAX_REPORT_BYTES + 3).subarray(offset);
            parts.push(...datagrams(fill(stream, size, room)).map((one) => Buffer.from(one).toString('hex')));
          }
          expect(parts.slice(0, COUNT)).toEqual(whole.slice(0, parts.length));
        },
      ),
      { seed: SEED, numRuns: runs(30) },
    );
  });

  it('gives the bytes it has always given', () => {
    const digest = (traffic: Partial<TrafficOptions>): string => {
      const { bytes, offsets, lengths, count } = fill(
        new ReportStream({ topology: 'leaf-spine:4x2', workload: 'hadoop', seed: 'golden', ...traffic }),
        5000,
      );
      return createHash('sha256')
        .update(bytes.subarray(0, offsets[count - 1]! + lengths[count - 1]!))
        .digest('hex')
        .slice(0, 16);
    };
    expect({
      md: digest({}),
      mdOld: digest({ report: '1.0' }),
      mx: digest({ mode: 'mx', topology: 'fat-tree:6' }),
      xd: digest({ mode: 'xd', topology: 'leaf-spine:32x8', workload: 'web' }),
    }).toMatchInlineSnapshot(`
      {
        "md": "4d28d0796bd8524e",
        "mdOld": "6024c624b43c639a",
        "mx": "04d00c57b676df21",
        "xd": "469bfadb9e603f0b",
      }
    `);
  });

  it('gives other bytes for another seed', () => {
    const of = (seed: number): string =>
      datagrams(fill(new ReportStream({ topology: 'leaf-spine:4x2', seed }), 20))
        .map((one) => Buffer.from(one).toString('hex'))
        .join(' ');
    expect(of(1)).not.toBe(of(2));
  });

  it('touches nothing outside the reports it counts, and writes none without room', () => {
    const stream = new ReportStream({ topology: 'leaf-spine:4x2', seed: SEED });
    const memory = new Uint8Array(4 * MAX_REPORT_BYTES).fill(0xa5);
    const out = memory.subarray(100, 100 + 2 * MAX_REPORT_BYTES);
    const filled = fill(stream, 10, out);
    const end = filled.offsets[filled.count - 1]! + filled.lengths[filled.count - 1]!;
    expect(filled.count).toBeGreaterThan(1);
    expect(end).toBeLessThanOrEqual(out.length);
    expect(memory.subarray(0, 100).every((byte) => byte === 0xa5)).toBe(true);
    expect(memory.subarray(100 + end).every((byte) => byte === 0xa5)).toBe(true);
    expect(fill(stream, 10, new Uint8Array(MAX_REPORT_BYTES - 1)).count).toBe(0);
    expect(fill(stream, 0).count).toBe(0);
  });

  it('stops before a report that is later than asked for, and goes on with it', () => {
    const traffic: TrafficOptions = { topology: 'leaf-spine:4x2', seed: SEED };
    const all = fill(new ReportStream(traffic), 200);
    const stream = new ReportStream(traffic);
    const offsets = new Uint32Array(200);
    const lengths = new Uint32Array(200);
    const times = new Float64Array(200);
    const out = new Uint8Array(200 * MAX_REPORT_BYTES);
    const seen: number[] = [];
    for (let until = 0; seen.length < 100; until += 1e6) {
      const count = stream.fill(out, offsets, lengths, times, until);
      for (let i = 0; i < count; i++) {
        expect(times[i]).toBeLessThanOrEqual(until);
        expect(times[i]).toBeGreaterThan(until - 1e6);
        seen.push(times[i]!);
      }
    }
    expect(seen).toEqual([...all.times.subarray(0, seen.length)]);
  });
});

/** One's complement sum of big-endian 16-bit words, folded; an odd last byte is the upper half. */
function foldedSum(bytes: Uint8Array, from: number, to: number, start: number): number {
  let sum = start;
  for (let i = from; i < to; i += 2) sum += (bytes[i]! << 8) | (i + 1 < to ? bytes[i + 1]! : 0);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return sum;
}

/** The payload in a plain Ethernet / IPv4 / UDP frame to a port that nobody knows. */
function udpFrame(payload: Uint8Array): Uint8Array {
  const frame = new Uint8Array(42 + payload.length);
  const view = new DataView(frame.buffer);
  view.setUint16(12, 0x0800);
  view.setUint16(14, 0x4500);
  view.setUint16(16, 28 + payload.length);
  view.setUint16(22, 0x4011);
  view.setUint32(26, 0xac100001);
  view.setUint32(30, 0xac1f0001);
  view.setUint16(34, 40_000);
  view.setUint16(36, 32_766);
  view.setUint16(38, 8 + payload.length);
  frame.set(payload, 42);
  return frame;
}
