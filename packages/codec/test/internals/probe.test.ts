/** GPINT probes as switches and monitors handle them, against the object codecs. */

import { gpint } from '@int/arbitraries';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CODE_NAMES,
  CodecError,
  decodeFrame,
  encodeFrame,
  GPINT_DSCP,
  type GpintInfo,
  type GpintProbe,
  gpintProbe,
  probeKind,
} from '../../src/index.js';
import {
  advanceProbe,
  dlvSwitchId,
  gpintMeta,
  gpintProbeExtended,
  MAX_PROBE_BYTES,
  MAX_PROBE_SWITCHES,
  nextHopOf,
  ProbeParts,
  probeBytes,
  probeRequestId,
  probeRequestType,
  readProbeParts,
} from '../../src/internals.js';
import { decodeWithSchema } from '../../src/schema/index.js';

const codecOf = (extended: boolean): typeof gpintProbe => (extended ? gpintProbeExtended : gpintProbe);

const probes = fc.boolean().chain((extended) => gpint(extended));
const hops = fc.record({
  switchId: fc.nat(0xffff),
  queueDepth: fc.nat(70_000),
  counters: fc.array(fc.nat(0xffffffff), { maxLength: 300 }),
});

/** The same step on objects. */
function advanced(
  probe: GpintProbe,
  extended: boolean,
  hop: { switchId: number; queueDepth: number; counters: number[] },
): GpintProbe {
  const [own, ...route] = probe.route;
  const { firstMeasurement, measurementCount } = own!;
  const most = extended ? 0xffff : 0xff;
  return {
    ...probe,
    route,
    switches: [
      ...probe.switches,
      { switchId: hop.switchId & most, queueDepth: Math.min(hop.queueDepth, most), measurementCount },
    ],
    measurements: [
      ...probe.measurements,
      ...Array.from({ length: measurementCount }, (_, i) => hop.counters[firstMeasurement + i] ?? 0),
    ],
  };
}

describe('advanceProbe', () => {
  it('does to bytes what one hop does to the object', () => {
    const out = new Uint8Array(MAX_PROBE_BYTES);
    fc.assert(
      fc.property(probes, hops, fc.nat(5), (info, hop, offset) => {
        const { extended } = info;
        const room = new Uint8Array(offset + codecOf(extended).encodingLength(info) + 3);
        const length = codecOf(extended).encodeInto(info, room, offset);
        const bytes = room.subarray(offset, offset + length);
        const before = bytes.slice();
        const found = advanceProbe(bytes, hop, extended, out);
        expect(bytes).toEqual(before);
        if (info.route.length === 0) {
          expect(found).toBe(-1);
          return;
        }
        const next = advanced(info, extended, hop);
        const longest = next.switches.length > MAX_PROBE_SWITCHES;
        let expected: Uint8Array | null = null;
        try {
          expected = longest ? null : codecOf(extended).encode(next);
        } catch (error) {
          if (!(error instanceof RangeError)) throw error;
        }
        if (expected === null) {
          expect(found).toBe(-1);
          return;
        }
        expect(out.subarray(0, found)).toEqual(expected);
        expect(nextHopOf(bytes, extended)).toBe(info.route[0]!.nextPort);
      }),
    );
  });

  it('refuses what is no probe, and room that is too small', () => {
    const hop = { switchId: 1, queueDepth: 0, counters: [] };
    const out = new Uint8Array(MAX_PROBE_BYTES);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.boolean(), (bytes, extended) => {
        const found = advanceProbe(bytes, hop, extended, out);
        if (found >= 0) expect(codecOf(extended).decode(bytes).route).not.toEqual([]);
      }),
    );
    const probe = gpintProbe.encode({
      requestId: 1,
      type: 'rule-hits',
      route: [{ nextPort: 1, firstMeasurement: 0, measurementCount: 1 }],
      switches: [],
      measurements: [],
    });
    expect(() => advanceProbe(probe, hop, false, new Uint8Array(4))).toThrow(RangeError);
  });
});

describe('readProbeParts', () => {
  it('finds the parts of every probe, and says of other bytes what the codec says', () => {
    const parts = new ProbeParts();
    const sound = probes.map((info) => ({ bytes: codecOf(info.extended).encode(info), extended: info.extended }));
    const wild = fc.record({ bytes: fc.uint8Array({ maxLength: 64 }), extended: fc.boolean() });
    fc.assert(
      fc.property(fc.oneof(sound, wild), fc.nat(9), fc.nat(9), ({ bytes, extended }, offset, cut) => {
        const room = new Uint8Array(offset + bytes.length).fill(0xff);
        room.set(bytes, offset);
        const end = Math.max(offset, room.length - cut);
        const code = readProbeParts(room, offset, end, extended, parts);
        let expected: GpintProbe;
        try {
          expected = codecOf(extended).decode(room.subarray(0, end), offset);
        } catch (error) {
          if (!CodecError.is(error)) throw error;
          expect(CODE_NAMES[code]).toBe(error.code);
          return;
        }
        const length = codecOf(extended).encodingLength(expected);
        expect(CODE_NAMES[code]).toBe(length === end - offset ? 'OK' : 'TRAILING_BYTES');
        expect([parts.routeCount, parts.switchCount, parts.measurementCount]).toEqual([
          expected.route.length,
          expected.switches.length,
          expected.measurements.length,
        ]);
        const ids = expected.switches.map((_, index) => dlvSwitchId(room, parts, index, extended));
        expect(ids).toEqual(expected.switches.map((each) => each.switchId));
      }),
    );
  });
});

describe('the limits of a probe', () => {
  it('let a probe of exactly the limit through to its end', () => {
    // 8 + 4 * 16 + 4 * 532 = 2200.
    const counts = Array.from({ length: 16 }, (_, index) => (index < 14 ? 34 : 28));
    expect(probeBytes(counts, false)).toBe(MAX_PROBE_BYTES);
    let probe = gpintProbe.encode({
      requestId: 0x7fff,
      type: 'port-packets',
      route: counts.map((measurementCount) => ({ nextPort: 1, firstMeasurement: 0, measurementCount })),
      switches: [],
      measurements: [],
    });
    for (let hop = 0; hop < counts.length; hop++) {
      const out = new Uint8Array(MAX_PROBE_BYTES);
      const length = advanceProbe(probe, { switchId: hop, queueDepth: 0, counters: [] }, false, out);
      expect(length).toBeGreaterThan(0);
      probe = out.subarray(0, length);
    }
    expect(probe.length).toBe(MAX_PROBE_BYTES);
    expect(probeKind(probe)).toBe('probe');
  });
});

describe('the kinds of packets', () => {
  const none = { route: [], switches: [], measurements: [] };
  const record = (kind: GpintInfo['kind'], extended: boolean): GpintInfo => ({
    mode: 'gpint',
    extended,
    kind,
    requestId: 0x1234,
    type: 'port-packets',
    ...none,
  });
  const probeOf = (info: GpintInfo): Uint8Array =>
    encodeFrame({
      index: 0,
      status: 'ok',
      error: null,
      report: null,
      hops: [],
      path: [],
      int: info,
      flow: {
        source: '10.0.0.1',
        destination: '10.0.0.2',
        protocol: 17,
        sourcePort: 6000,
        destinationPort: info.extended ? 5018 : 5017,
      },
    });

  it.each([false, true])('a feedback is the request meta alone, extended: %s', (extended) => {
    const frame = probeOf(record('feedback', extended));
    // Ethernet, IPv4, UDP, and 2 bytes.
    expect(frame.length).toBe(14 + 20 + 8 + 2);
    expect(frame[15]! >>> 2).toBe(GPINT_DSCP.FEEDBACK);
    expect(decodeFrame(frame)).toMatchObject([{ status: 'ok', int: record('feedback', extended) }]);
    expect(decodeWithSchema(frame).at(-1)).toMatchObject({
      layer: 'gpintMeta',
      value: { requestId: 0x1234, type: 'port-packets' },
    });
  });

  it('two bytes under another DSCP are cut short', () => {
    const frame = probeOf(record('feedback', false));
    frame[15] = GPINT_DSCP.PROBE << 2;
    expect(decodeFrame(frame)).toMatchObject([{ status: 'truncated', error: { code: 'TRUNCATED', layer: 'gpint' } }]);
  });

  it('are told by their bytes where DSCP cannot be seen', () => {
    const route = [{ nextPort: 1, firstMeasurement: 0, measurementCount: 0 }];
    const meta = { requestId: 0x7ffe, type: 'rule-hits' as const };
    expect(probeKind(gpintMeta.encode(meta))).toBe('feedback');
    expect(probeKind(gpintProbe.encode({ ...meta, ...none }))).toBe('probe');
    expect(probeKind(gpintProbe.encode({ ...meta, ...none, route }))).toBe('recovery');
    expect(probeKind(new Uint8Array(5))).toBe(null);
    expect(probeRequestId(gpintProbe.encode({ ...meta, ...none }))).toBe(0x7ffe);
    expect(probeRequestId(Uint8Array.of(1))).toBe(-1);
    expect(probeRequestType(gpintMeta.encode(meta))).toBe(0);
    expect(probeRequestType(gpintMeta.encode({ ...meta, type: 'port-packets' }))).toBe(1);
    expect(probeRequestType(new Uint8Array(0))).toBe(-1);
  });
});
