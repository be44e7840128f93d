import { isDeepStrictEqual } from 'node:util';
import { frame, plainPacket, type RecordConstraints } from '@int/arbitraries';
import {
  type DecodeOptions,
  type Encapsulation,
  FrameDecoder,
  type Hop,
  type IntVersion,
  type LinkLayer,
  type Profile,
} from '@int/codec';
import { DeviceProfile, type DialectTrial, FrameSample, tryDialects } from '@int/network';
import { Random } from '@int/random';
import { encodePacket, TrafficGenerator } from '@int/traffic';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const SEED = Number(process.env.INT_SEED ?? 21);

function sampleOf(frames: readonly Uint8Array[], linkType: LinkLayer = 'ethernet'): FrameSample {
  const sample = new FrameSample();
  for (const bytes of frames) sample.offer(bytes, 0, bytes.length, linkType);
  return sample;
}

const trial = (frames: readonly Uint8Array[], options?: Parameters<typeof tryDialects>[1]): DialectTrial =>
  tryDialects(sampleOf(frames), options);

function traffic(count: number): Uint8Array[] {
  return [...new TrafficGenerator({ topology: 'leaf-spine:4x2', seed: 7 }).take(count)].map((packet) =>
    encodePacket(packet),
  );
}

/** Puts a marker in front of the shim of a packet of IPv4 and UDP without VLAN, and takes the DSCP away; `null`: another packet. */
function withMarker(bytes: Uint8Array, marker: bigint): Uint8Array | null {
  if (bytes[12] !== 8 || bytes[14] !== 0x45) return null;
  const longer = new Uint8Array(bytes.length + 8);
  longer.set(bytes.subarray(0, 42));
  longer.set(bytes.subarray(42), 50);
  const view = new DataView(longer.buffer);
  view.setUint8(15, 0);
  view.setUint16(16, view.getUint16(16) + 8);
  view.setUint16(38, view.getUint16(38) + 8);
  view.setBigUint64(42, marker);
  return longer;
}

/** Frames of random bytes that look like Ethernet, IPv4 and UDP. */
function noise(count: number, payloadOnly = false): Uint8Array[] {
  const rng = new Random(SEED);
  return Array.from({ length: count }, () => {
    const payload = Uint8Array.from({ length: 20 + rng.integer(200) }, () => rng.integer(256));
    if (payloadOnly) return payload;
    const bytes = new Uint8Array(42 + payload.length);
    const view = new DataView(bytes.buffer);
    view.setUint16(12, 0x0800);
    view.setUint16(14, 0x4500 | rng.integer(256));
    view.setUint16(16, 28 + payload.length);
    view.setUint16(22, 0x4011);
    view.setUint32(26, 0x0a000001);
    view.setUint32(30, 0x0a000002);
    view.setUint16(34, rng.integer(65_536));
    view.setUint16(36, rng.integer(65_536));
    view.setUint16(38, 8 + payload.length);
    bytes.set(payload, 42);
    return bytes;
  });
}

/** Records that only a dialect can carry, its settings, and the profiles that may be named. */
const DIALECTS: readonly (readonly [
  name: string,
  options: DecodeOptions,
  constraints: RecordConstraints,
  profiles: readonly (Profile | undefined)[],
])[] = [
  ['spec', {}, { kinds: ['int', 'report'] }, [undefined]],
  [
    'intcollector',
    { profile: 'intcollector' },
    { kinds: ['report'], reportVersions: ['1.0'], intVersions: ['1.0'] },
    ['intcollector', 'geant-generator'],
  ],
  ['geant-v10-ts64', { profile: 'geant-v10-ts64' }, { kinds: ['int'], intVersions: ['1.0'] }, ['geant-v10-ts64']],
  ['geant-nibble3', { profile: 'geant-nibble3' }, { kinds: ['int'], intVersions: ['1.0'] }, ['geant-nibble3']],
  [
    'int-afxdp-kafka',
    { profile: 'int-afxdp-kafka', reportPorts: [4321] },
    { kinds: ['report'], intVersions: ['2016'] },
    ['int-afxdp-kafka'],
  ],
  ['intmon', { profile: 'intmon' }, { kinds: ['int'], intVersions: ['intmon'] }, ['intmon']],
  ['another port', { intPorts: [17_768], intDscp: null }, { kinds: ['int'], encapsulations: ['udp'] }, [undefined]],
  [
    'another DSCP',
    { intPorts: [], intDscp: { value: 0x20, mask: 0x3f } },
    { kinds: ['int'], encapsulations: ['tcp'] },
    [undefined],
  ],
  ['another GRE protocol', { greProtocol: 17_769 }, { kinds: ['int'], encapsulations: ['gre'] }, [undefined]],
];

/** Reports whose clocks count `perNs` ticks a nanosecond, and latencies `latencyPerNs`. */
function clocked(count: number, perNs: number, latencyPerNs: number): FrameSample {
  const sample = new FrameSample();
  const ticks = (ns: bigint | null | undefined): bigint => ((ns ?? 0n) * BigInt(Math.round(perNs * 1000))) / 1000n;
  for (const packet of new TrafficGenerator({ topology: 'leaf-spine:4x2', seed: 7 }).take(count)) {
    const hopOf = (hop: Hop): Hop => ({
      ...hop,
      ...(hop.hopLatency != null && { hopLatency: Math.round(hop.hopLatency * latencyPerNs) }),
      ...(hop.ingressTimestamp != null && { ingressTimestamp: ticks(hop.ingressTimestamp) }),
      ...(hop.egressTimestamp != null && { egressTimestamp: ticks(hop.egressTimestamp) }),
    });
    const records = packet.records.map((record) => ({
      ...record,
      report: { ...record.report!, metadata: hopOf(record.report!.metadata) },
      hops: record.hops.map(hopOf),
    }));
    const bytes = encodePacket({ ...packet, records });
    sample.offer(bytes, 0, bytes.length, 'ethernet', packet.timeNs);
  }
  return sample;
}

const summary = ({ settings, ok, frames }: DialectTrial): unknown => ({ settings, ok, frames });

describe('tryDialects', () => {
  test.each(DIALECTS)('names %s', (name, options, constraints, profiles) => {
    const all = fc.sample(frame({ ...constraints, options }), { numRuns: 150, seed: SEED });
    const found = trial(all.map(({ bytes }) => bytes));
    expect(found.settings).not.toBeNull();
    expect(profiles).toContain(found.settings?.profile);
    const decoder = new FrameDecoder(found.settings!);
    const own = new FrameDecoder(options);
    const same = all.filter(({ bytes }) => isDeepStrictEqual(decoder.decode(bytes), own.decode(bytes)));
    expect(same.length / all.length, name).toBeGreaterThanOrEqual(0.95);
    // What it says can be said back to it: it is a description of a device.
    expect(new DeviceProfile(found.device!).decode).toMatchObject(found.settings!);
  });

  test('names elhnoah-md-report', () => {
    // Metadata is announced, and is not there.
    const payloads = traffic(100).map((bytes) => {
      const [report, words] = [bytes.subarray(42), bytes[42 + 10]!];
      return Buffer.concat([report.subarray(0, 20), report.subarray(20 + 4 * words)]);
    });
    const found = tryDialects(sampleOf(payloads, 'report'));
    expect(summary(found)).toEqual({ settings: { profile: 'elhnoah-md-report' }, ok: 100, frames: 100 });
  });

  test('changes nothing where the defaults read everything', () => {
    const found = trial(traffic(300));
    expect(summary(found)).toEqual({ settings: {}, ok: 300, frames: 300 });
    expect([found.explained, found.gained, found.deviations]).toEqual([1, 0, []]);
    expect(found.device).toMatchObject({ reportPorts: [32_766] });
  });

  test('tells tools whose bytes are alike by the port that they send to, and says that it does', () => {
    for (const [profile, port] of [
      ['intcollector', 54_321],
      ['geant-generator', 8090],
    ] as const) {
      const options: DecodeOptions = { profile, reportPorts: [port] };
      const all = fc.sample(frame({ kinds: ['report'], reportVersions: ['1.0'], intVersions: ['1.0'], options }), {
        numRuns: 20,
        seed: SEED,
      });
      const found = trial(all.map(({ bytes }) => bytes));
      expect(found.settings?.profile).toBe(profile);
      expect(found.doubts.join()).toContain("read this sample alike: only the tool's name decides");
    }
  });

  test('reads several marks at once, among plain traffic', () => {
    const marked = (options: DecodeOptions, encapsulation: Encapsulation): Uint8Array[] =>
      fc
        .sample(frame({ kinds: ['int'], encapsulations: [encapsulation], intVersions: ['2'], options }), {
          numRuns: 40,
          seed: SEED,
        })
        .map(({ bytes }) => bytes);
    const plain = fc.sample(plainPacket(), { numRuns: 400, seed: SEED }).map(({ bytes }) => bytes);
    const all = [
      ...marked({ intPorts: [17_768], intDscp: null }, 'udp'),
      ...marked({ intPorts: [], intDscp: { value: 0x20, mask: 0x3f } }, 'tcp'),
      ...marked({ greProtocol: 17_769 }, 'gre'),
      ...plain,
    ];
    const found = trial(all);
    expect(found.settings).toEqual({
      intPorts: [17_768],
      intDscp: { value: 0x20, mask: 0x3f },
      greProtocol: 17_769,
    });
    expect(found.telemetry).toBe(120);
    expect(found.explained).toBeGreaterThan(0.99);
    expect(found.device).toMatchObject({ intPorts: [17_768], intDscp: '0x20', greProtocol: 17_769 });
  });

  test('finds a mask for several DSCPs', () => {
    const all = [0x21, 0x25].flatMap((value) =>
      fc.sample(
        frame({
          kinds: ['int'],
          encapsulations: ['tcp'],
          options: { intPorts: [], intDscp: { value, mask: 0x3f } },
        }),
        { numRuns: 30, seed: SEED },
      ),
    );
    const found = trial(all.map(({ bytes }) => bytes));
    expect(found.settings).toEqual({ intDscp: { value: 0x21, mask: 0x3b } });
    expect(found.device).toEqual({ intDscp: '0x21/0x3b' });
    expect(found.ok).toBe(60);
  });

  test('finds a probe marker', () => {
    const marker = 0x1234_5678_9abc_def0n;
    const frames = fc
      .sample(
        frame({
          kinds: ['int'],
          encapsulations: ['udp'],
          options: { intPorts: [], intDscp: { value: 0x17, mask: 0x3f } },
        }),
        {
          numRuns: 30,
          seed: SEED,
        },
      )
      .map(({ bytes }) => withMarker(bytes, marker));
    const found = trial(frames.filter((bytes) => bytes !== null));
    expect(found.settings).toEqual({ probeMarker: marker });
    expect(found.device?.probeMarker).toBe('123456789abcdef0');
  });

  test('says what a second dialect in the sample is', () => {
    const two = (profile: Profile, intVersion: IntVersion, numRuns: number): Uint8Array[] =>
      fc
        .sample(
          frame({ kinds: ['report'], reportVersions: ['1.0'], intVersions: [intVersion], options: { profile } }),
          {
            numRuns,
            seed: SEED,
          },
        )
        .map(({ bytes }) => bytes);
    const found = trial([...two('intcollector', '1.0', 120), ...two('geant-v10-ts64', '1.0', 20)]);
    expect(found.settings?.profile).toMatch(/intcollector|geant-generator/);
    expect(found.doubts.join('\n')).toMatch(/\d+ frames can be read only with profile geant-/);
  });

  test('compares with the settings that are given', () => {
    const base: DecodeOptions = { intPorts: [17_768], intDscp: { value: 0x20, mask: 0x3f } };
    const all = fc.sample(frame({ kinds: ['int'], encapsulations: ['tcp'], intVersions: ['2'], options: {} }), {
      numRuns: 30,
      seed: SEED,
    });
    const found = trial(
      all.map(({ bytes }) => bytes),
      { base },
    );
    expect(found.settings).toEqual({ intPorts: [17_768], intDscp: { value: 0x17, mask: 0x3f } });
    expect([found.deviations, found.gained]).toEqual([['intDscp'], 30]);
  });

  test.each([
    ['frames', noise(3000), 'ethernet'],
    ['datagrams', noise(3000, true), 'report'],
    ['a few datagrams', noise(5, true), 'report'],
  ] as const)('takes random %s for nothing', (_, frames, linkType) => {
    const found = tryDialects(sampleOf(frames, linkType));
    expect([found.settings, found.device, found.ok, found.explained]).toEqual([null, null, 0, 0]);
  });

  test('finds reports among as much noise', () => {
    const datagrams = traffic(500).map((bytes) => bytes.subarray(42));
    const found = tryDialects(sampleOf([...datagrams, ...noise(500, true)], 'report'));
    expect(found.settings).toEqual({});
    expect(found.ok).toBeGreaterThanOrEqual(500);
  });

  test('names no ports of reports where to name them would lose some', () => {
    // The first of two ports has as many other packets as reports.
    const other = noise(100).map((bytes) => {
      new DataView(bytes.buffer).setUint16(14, 0x4500);
      new DataView(bytes.buffer).setUint16(36, 32_766);
      return bytes;
    });
    const found = trial([...traffic(100), ...other]);
    expect([found.settings, found.reportPorts]).toEqual([{}, [32_766]]);
    expect(found.device).not.toHaveProperty('reportPorts');
  });

  test('ends in time, with what it has', () => {
    const found = tryDialects(sampleOf(traffic(100)), { withinMs: 0 });
    expect(summary(found)).toEqual({ settings: {}, ok: 100, frames: 100 });
    expect(found.tried).toHaveLength(1);
  });

  test('takes nothing for nothing', () => {
    expect(summary(tryDialects(new FrameSample()))).toEqual({ settings: null, ok: 0, frames: 0 });
  });

  test.each([
    ['ns', 1, 1, 'ns'],
    ['us', 1e-3, 1e-3, 'us'],
    ['ns', 1, 1e-3, 'us'],
    ['clock(200MHz)', 0.2, 0.2, 'clock(200MHz)'],
  ])('sees that timestamps are in %s', (timestamps, perNs, latencyPerNs, hopLatency) => {
    const { device, doubts } = tryDialects(clocked(1000, perNs, latencyPerNs));
    expect([device?.units, doubts]).toEqual([{ hopLatency, timestamps }, []]);
  });

  test('does not guess a unit without times', () => {
    const { device, doubts } = trial(traffic(300));
    expect(device?.units).toBeUndefined();
    expect(doubts).toEqual([
      'the unit of timestamps is unknown: they do not advance steadily with the times of the frames',
      'the unit of hopLatency is unknown: it is that of the timestamps',
    ]);
  });
});

describe('FrameSample', () => {
  test('keeps some of many frames, evenly, within its limits', () => {
    const sample = new FrameSample({ frames: 64, bytes: 10_000 });
    for (let index = 0; index < 100_000; index++) {
      const bytes = Uint8Array.of(index >>> 16, index >>> 8, index);
      sample.offer(bytes, 0, 3, index % 2 === 0 ? 'ethernet' : 'report', BigInt(index));
    }
    expect(sample.seen).toBe(100_000);
    expect(sample.size).toBeGreaterThan(32);
    expect(sample.size).toBeLessThanOrEqual(64);
    const times = sample.groups().flatMap(({ frames }) => [...frames.timestampsLow]);
    expect(Math.max(...times)).toBeGreaterThan(95_000);
  });

  test('keeps few of large frames, and none that is too large', () => {
    const sample = new FrameSample({ frames: 64, bytes: 16_000 });
    for (let index = 0; index < 100; index++) sample.offer(new Uint8Array(1500), 0, 1500, 'ethernet');
    sample.offer(new Uint8Array(9000), 0, 9000, 'ethernet');
    expect([sample.seen, sample.size <= 10, sample.size >= 5]).toEqual([101, true, true]);
    sample.clear();
    expect([sample.seen, sample.size]).toEqual([0, 0]);
    expect(() => new FrameSample({ frames: 1 })).toThrow(RangeError);
  });
});
