import type { Prefilter } from '@int/afxdp/prefilter';
import { TelemetryBatch as Batch, BatchDecoder, type TelemetryBatch } from '@int/codec';
import { OuterSource } from '@int/codec/internals';
import { prefixesOf, SenderList } from '@int/collector/internals';
import { Detector } from '@int/detect';
import { KnownSwitches } from '@int/network/internals';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LENGTH } from '../../../.ci/test/length.js';
import { SEED } from '../seed.js';
import { calmReports, reports } from './arbitraries.js';
import { Finder } from './behind.js';
import { loadFilter } from './kernel.js';
import { KernelState } from './kernel-state.js';
import { frameOf, type Report } from './reports.js';
import { rule, ruleSet } from './rules.js';

const RUNS = Math.max(30, Math.ceil(300 * LENGTH));
const OPTIONS = { flowCells: 1000, switchCells: 4096, countHops: false } as const;
const PER_HOP = ruleSet([rule('hops', { kind: 'perHop', metric: 'hopLatency', threshold: 10 })]);
const NEVER = ruleSet([
  rule('never', { kind: 'threshold', metric: 'hopLatency', threshold: 0xffffffff, scope: 'endToEnd' }),
]);
const HALF = [0, 1, 8, 4097, 0xfffff003];
const REPORTER = 0x7fffffff;
const NOTHING = new Uint8Array(0);

/** Near each other, so that prefixes hold some of them and not the others. */
const IPV4 = ['10.9.0.1', '10.9.0.2', '10.9.128.1', '10.10.0.1', '11.0.0.1', '255.255.255.255', '0.0.0.0'];
const IPV6 = ['2001:db8::1', '2001:db8::8000', '2001:db9::1', '::1', '::', '::fffe:a09:1', '::ffff:10.9.0.1'];
const PREFIXES = [
  ...IPV4.flatMap((address) => [0, 1, 8, 16, 17, 31, 32].map((length) => `${address}/${length}`)),
  ...IPV6.flatMap((address) => [0, 1, 32, 79, 80, 95, 96, 97, 112, 113, 128].map((length) => `${address}/${length}`)),
];

/** The report as an Ethernet frame from an address, perhaps behind tags. */
function frameFrom(report: Report, source: string, tags: number): Uint8Array {
  const isIpv4 = !source.includes(':');
  const plain = frameOf(report);
  const udp = plain.subarray(34);
  const address = prefixesOf([source])[0]!.bytes;
  const ip = new Uint8Array(isIpv4 ? 20 : 40);
  const view = new DataView(ip.buffer);
  if (isIpv4) {
    ip.set(plain.subarray(14, 34));
    ip.set(address, 12);
    view.setUint16(10, 0);
  } else {
    ip[0] = 0x60;
    view.setUint16(4, udp.length);
    ip.set([17, 64], 6);
    ip.set(address, 8);
    ip[39] = 1;
  }
  const head = new Uint8Array(14 + 4 * tags);
  head.set(plain.subarray(0, 12));
  for (let tag = 0; tag < tags; tag++) head.set([0x81, 0, 0, 7], 12 + 4 * tag);
  head.set(isIpv4 ? [0x08, 0] : [0x86, 0xdd], 12 + 4 * tags);
  return Uint8Array.from([...head, ...ip, ...udp]);
}

function decoded(frame: Uint8Array): TelemetryBatch {
  const batch = new Batch({ frames: 1, reports: 16, hops: 256 });
  const decoder = new BatchDecoder({ linkType: 'ethernet', reportPorts: [32766] });
  decoder.decode(batch, { bytes: frame, offsets: Uint32Array.of(0), lengths: Uint32Array.of(frame.length) }, 0, 1);
  return batch;
}

let filter: Prefilter;
beforeAll(() => {
  filter = loadFilter({ ...OPTIONS, rules: NEVER });
});
afterAll(() => filter.close());

describe('a pre-filter that knows who may send', () => {
  const outer = new OuterSource();
  const one = reports(1, 1).map(([report]) => report!);

  test('drops what SenderList refuses, for all prefixes, families, mapped addresses and tags', () => {
    filter.setRules(NEVER);
    filter.setKnownSwitches(null);
    const addresses = fc.oneof(fc.constantFrom(...IPV4, ...IPV6), fc.ipV4(), fc.ipV6());
    const prefix = fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...PREFIXES) },
      fc.tuple(fc.ipV4(), fc.integer({ min: 0, max: 32 })).map(([address, length]) => `${address}/${length}`),
    );
    fc.assert(
      fc.property(
        one,
        fc.array(prefix, { maxLength: 6 }),
        fc.array(fc.tuple(addresses, fc.integer({ min: 0, max: 2 })), { minLength: 1, maxLength: 8 }),
        (report, from, senders) => {
          filter.setSenders(from);
          const list = new SenderList(prefixesOf(from));
          for (const [source, tags] of senders) {
            const frame = frameFrom(report, source, tags);
            const before = filter.counts();
            filter.run(frame);
            const after = filter.counts();
            expect(outer.find(frame, 0, frame.length, 'ethernet')).toBe(true);
            const isRefused = !list.has(frame, outer.offset, outer.size);
            expect(after.unknownSource - before.unknownSource, `${source} from ${from.join()}`).toBe(isRefused ? 1 : 0);
            expect(after.reports - before.reports).toBe(isRefused ? 0 : 1);
          }
        },
      ),
      { seed: SEED, numRuns: RUNS },
    );
  });

  test('lets frames to other ports go on, whoever sends them', () => {
    filter.setSenders([]);
    const [report] = fc.sample(one, { seed: SEED, numRuns: 1 });
    const frame = frameFrom(report!, '10.9.0.1', 0);
    expect(filter.run(frame).action).toBe('drop');
    new DataView(frame.buffer).setUint16(36, 32767);
    expect(filter.run(frame).action).toBe('pass');
    filter.setSenders(null);
    expect(filter.counts().passed).toBe(1);
  });

  test('refuses more prefixes than it has room for, and what is none, with nothing changed', () => {
    filter.setSenders(['10.9.0.0/16']);
    const many = Array.from({ length: 4097 }, (_, k) => `10.${k >>> 8}.${k & 255}.0/24`);
    expect(() => filter.setSenders(many)).toThrow('the kernel knows at most 4096 prefixes, not 4097');
    expect(() => filter.setSenders(['leaf-1'])).toThrow('"leaf-1" is no address or prefix');
    const [report] = fc.sample(one, { seed: SEED, numRuns: 1 });
    const before = filter.counts().unknownSource;
    filter.run(frameFrom(report!, '10.9.0.1', 0));
    filter.run(frameFrom(report!, '10.10.0.1', 0));
    expect(filter.counts().unknownSource - before).toBe(1);
    filter.setSenders(null);
    filter.run(frameFrom(report!, '10.10.0.1', 0));
    expect(filter.counts().unknownSource - before).toBe(1);
  });
});

describe('a pre-filter that knows the switches', () => {
  test('drops what KnownSwitches refuses', () => {
    filter.setRules(NEVER);
    fc.assert(
      fc.property(reports(10, 20), fc.subarray([...HALF, 2, 3, REPORTER]), (list, ids) => {
        filter.setKnownSwitches(ids);
        const known = new KnownSwitches(ids);
        for (const report of list) {
          const frame = frameOf(report);
          const batch = decoded(frame);
          const isRefused = known.unknownOf(batch, 0) !== 0xffffffff;
          const before = filter.counts();
          filter.run(frame);
          const after = filter.counts();
          expect([after.unknownSwitch - before.unknownSwitch, after.reports - before.reports]).toEqual(
            isRefused ? [1, 0] : [0, 1],
          );
        }
      }),
      { seed: SEED, numRuns: RUNS },
    );
    filter.setKnownSwitches(null);
  });

  test('finds of the others what it would find if refused reports had never come: they change no state', () => {
    fc.assert(
      fc.property(calmReports(30, 60), (list) => {
        new KernelState(filter).clear();
        filter.setRules(PER_HOP);
        filter.setKnownSwitches([...HALF, REPORTER]);
        filter.setSenders(['10.9.0.0/16']);
        const known = new KnownSwitches([...HALF, REPORTER]);
        const frames = list.flatMap((report, number) => [
          { number, bytes: frameFrom(report, '10.9.0.1', 0), meta: NOTHING },
          // The same switches, and other values.
          {
            number: -1,
            bytes: frameFrom(
              { ...report, hops: report.hops.map((hop) => ({ ...hop, hopLatency: 77_777 })) },
              '10.10.0.1',
              0,
            ),
            meta: NOTHING,
          },
        ]);
        const admitted = frames.filter(
          ({ number, bytes }) => number >= 0 && known.unknownOf(decoded(bytes), 0) === 0xffffffff,
        );
        const expected = new Finder(new Detector(PER_HOP, filter.detectorOptions)).find(admitted, null);
        const passed = frames.flatMap((frame) => {
          const { action, meta } = filter.run(frame.bytes);
          return action === 'drop' ? [] : [{ ...frame, meta }];
        });
        expect(new Finder(new Detector(PER_HOP, filter.detectorOptions)).find(passed, filter)).toEqual(expected);
      }),
      { seed: SEED, numRuns: RUNS },
    );
    filter.setKnownSwitches(null);
    filter.setSenders(null);
  });

  test('refuses more ids than it has room for', () => {
    const many = Array.from({ length: 65_537 }, (_, id) => id);
    expect(() => filter.setKnownSwitches(many)).toThrow('the kernel knows at most 65536 switches, not 65537');
    expect(() => filter.setKnownSwitches([-1])).toThrow(RangeError);
    filter.setKnownSwitches(many.slice(1));
    const before = filter.counts().unknownSwitch;
    for (const [nodeId, refused] of [
      [0, 1],
      [65_536, 1],
      [65_537, 2],
    ] as const) {
      const flow = { source: '10.0.0.1', destination: '10.0.0.2', protocol: 17, sourcePort: 1, destinationPort: 2 };
      filter.run(frameOf({ flow, nodeId, hops: [{ nodeId, hopLatency: 1 }] }));
      expect(filter.counts().unknownSwitch - before).toBe(refused);
    }
    filter.setKnownSwitches(null);
  });
});
