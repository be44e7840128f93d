import type { Hop, TelemetryRecord } from '@int/codec';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { flow, hop, intHeader, reportRecords, telemetryRecord } from '../../src/index.js';
import { RECORD_KINDS } from '../../src/record.js';
import { SEED } from '../seed.js';

const RUNS = { numRuns: 1000, seed: SEED };
const samples = fc.sample(telemetryRecord({ options: { reportPorts: [32766] } }), RUNS);

/** What a record is of, as one line. */
function nameOf({ report, int, flow: one }: TelemetryRecord): string {
  const outer = report === null ? 'packet' : `report ${report.version} ${report.tlvs === undefined ? '' : 'tlv '}`;
  if (int?.mode === 'gpint') return `${outer} gpint ${int.extended ? 'extended' : 'plain'}`;
  if (int?.mode === 'md' || int?.mode === 'mx') return `${outer} ${int.version} ${int.mode} ${int.encapsulation}`;
  return `${outer} ${report?.type ?? (one === null ? 'nothing' : 'plain')}`;
}

const OLD = ['udp', 'tcp', 'vxlan-gpe', 'geneve'];
const NEW = ['udp', 'tcp', 'udp-new', 'vxlan-gpe', 'geneve', 'gre'];
const INT = [
  ...['0.5', '1.0'].flatMap((version) => OLD.map((encapsulation) => `${version} md ${encapsulation}`)),
  ...['md', 'mx'].flatMap((mode) => NEW.map((encapsulation) => `2 ${mode} ${encapsulation}`)),
];
const EXPECTED = [
  ...INT.map((name) => `packet ${name}`),
  ...['0.5', '1.0', '2.0'].flatMap((version) => INT.map((name) => `report ${version}  ${name}`)),
  ...INT.map((name) => `report 2.0 tlv  ${name}`),
  ...['int-xd', 'ethernet', 'drop', 'none'].map((type) => `report 0.5  ${type}`),
  ...['int-xd', 'ethernet', 'ipv4', 'ipv6', 'drop', 'none'].map((type) => `report 1.0  ${type}`),
  ...['int-xd', 'ethernet', 'ipv4', 'ipv6', 'drop', 'none'].map((type) => `report 2.0  ${type}`),
  'report 2.0 tlv  tlv',
  'packet gpint plain',
  'packet gpint extended',
  'packet plain',
  'packet nothing',
];

describe('distribution', () => {
  test('every version, encapsulation and type occurs in 1,000 samples, and nothing else', () => {
    const seen = new Set(samples.map(nameOf));
    expect([...seen].sort()).toEqual([...new Set(EXPECTED)].sort());
  });

  test('edge values are common', () => {
    const hops = samples.flatMap((record) => record.hops);
    const ints = samples.flatMap(({ int }) => (int === null || int.mode === 'gpint' ? [] : [int]));
    const share = (count: number, of: number): number => count / of;
    const some = (what: (one: Hop) => boolean): number => hops.filter(what).length;
    expect(some((one) => one.nodeId === null)).toBeGreaterThan(5);
    expect(some((one) => one.nodeId === 0)).toBeGreaterThan(5);
    expect(some((one) => one.queueId === 0xff && one.queueOccupancy !== 0xffffff)).toBeGreaterThan(5);
    expect(some((one) => one.queueOccupancy === 0xffffff && one.queueId !== 0xff)).toBeGreaterThan(5);
    expect(some((one) => one.l1IngressInterface === 0xffff && one.l1EgressInterface !== 0xffff)).toBeGreaterThan(5);
    expect(some((one) => one.l2EgressInterface === 0xffffffff)).toBeGreaterThan(5);
    expect(some((one) => one.ingressTimestamp === null)).toBeGreaterThan(5);
    expect(some((one) => (one.ingressTimestamp ?? 0n) > 2n ** 53n)).toBeGreaterThan(5);
    expect(ints.filter((int) => int.hopMl === 0).length).toBeGreaterThan(5);
    expect(ints.filter((int) => int.hopMl === 31).length).toBeGreaterThan(5);
    expect(share(ints.filter((int) => int.remainingHopCount === 0).length, ints.length)).toBeGreaterThan(0.02);
    expect(share(ints.filter((int) => int.remainingHopCount === 255).length, ints.length)).toBeGreaterThan(0.02);
    expect(ints.filter((int) => int.sourceMetadata !== undefined).length).toBeGreaterThan(5);
    expect(hops.filter((one) => one.domain !== undefined).length).toBeGreaterThan(5);
    const full = samples.filter(({ int, hops: { length } }) => int?.mode === 'md' && (int.hopMl ?? 0) * length === 252);
    expect(full.length).toBeGreaterThan(3);
  });

  test('some datagrams have one report and some have many, numbered from 0', () => {
    const datagrams = fc.sample(reportRecords(), { numRuns: 200, seed: SEED });
    const lengths = datagrams.map(({ length }) => length);
    expect(Math.min(...lengths)).toBe(1);
    expect(Math.max(...lengths)).toBeGreaterThan(100);
    for (const records of datagrams) expect(records.map(({ index }) => index)).toEqual(records.map((_, k) => k));
  });
});

describe('constraints', () => {
  test('kinds, versions, modes, encapsulations and types are kept to', () => {
    const draw = (constraints: Parameters<typeof telemetryRecord>[0]): TelemetryRecord[] =>
      fc.sample(telemetryRecord(constraints), { numRuns: 200, seed: SEED });
    for (const kind of RECORD_KINDS) {
      const is = { report: 'report', int: 'packet', gpint: 'packet gpint', plain: 'packet' }[kind];
      expect(draw({ kinds: [kind] }).every((record) => nameOf(record).startsWith(is))).toBe(true);
    }
    const md = draw({ kinds: ['report'], reportVersions: ['2.0'], reportTypes: ['int-md'], intVersions: ['2'] });
    expect(new Set(md.map(({ report }) => `${report?.version} ${report?.type}`))).toEqual(new Set(['2.0 int-md']));
    const gre = draw({ kinds: ['int'], encapsulations: ['gre'], modes: ['mx'] });
    expect(new Set(gre.map(nameOf))).toEqual(new Set(['packet 2 mx gre']));
    const xd = draw({ kinds: ['report'], modes: ['xd'] });
    expect(new Set(xd.map(({ report }) => report?.type))).toEqual(new Set(['int-xd']));
    const short = draw({ kinds: ['int'], maxStackWords: 5 });
    expect(
      short.every(
        ({ int, hops }) => int?.mode !== 'md' || int.version === '1.0' || (int.hopMl ?? 0) * hops.length <= 5,
      ),
    ).toBe(true);
  });

  test('IntMon and the eight-field format come with their profiles', () => {
    const names = (profile: 'intmon' | 'int-afxdp-kafka'): Set<string> =>
      new Set(fc.sample(telemetryRecord({ options: { profile } }), RUNS).map(nameOf));
    expect(names('intmon')).toContain('packet intmon md udp');
    expect(names('int-afxdp-kafka')).toContain('report 1.0  2016 md tcp');
  });

  test('constraints that leave nothing, and bad ones, are refused', () => {
    expect(() => telemetryRecord({ kinds: [] })).toThrow(RangeError);
    expect(() => telemetryRecord({ kinds: ['int'], intVersions: ['0.5'], encapsulations: ['gre'] })).toThrow(
      RangeError,
    );
    expect(() => telemetryRecord({ maxStackWords: -1 })).toThrow(RangeError);
    expect(() => telemetryRecord({ options: { intDscp: { value: 1, mask: 2 } } })).toThrow(RangeError);
    expect(() => reportRecords({ modes: ['gpint'] })).toThrow(RangeError);
    expect(() => hop('2', 0x10000)).toThrow(RangeError);
    expect(() => hop('2', 0, { domainWords: 256 })).toThrow(RangeError);
  });
});

describe('parts', () => {
  test('a hop has exactly the fields that its bitmap selects', () => {
    const [one] = fc.sample(hop('2', 0x8d80, { domainWords: 2 }), { numRuns: 1, seed: SEED });
    expect(Object.keys(one!).sort()).toEqual([
      ...['bufferId', 'bufferOccupancy', 'domain', 'egressTimestamp', 'egressUtilization', 'ingressTimestamp'],
      'nodeId',
    ]);
    expect(one!.domain).toHaveLength(8);
    expect(Object.keys(fc.sample(hop('intmon', 0xff00), 1)[0]!)).toHaveLength(8);
    expect(fc.sample(hop('report-2.0', 0x8001), 1)[0]).toEqual({});
  });

  test('headers are of every version, mode and encapsulation', () => {
    const seen = new Set(
      fc.sample(intHeader(), RUNS).map(({ version, mode, encapsulation }) => `${version} ${mode} ${encapsulation}`),
    );
    expect([...seen].sort()).toEqual([...INT].sort());
  });

  test('flows have ports only where the protocol has', () => {
    const flows = fc.sample(flow({ notDestinationPorts: [0, 65535] }), RUNS);
    for (const { protocol, sourcePort, destinationPort } of flows) {
      if ([6, 17, 132, 136].includes(protocol)) expect([0, 65535]).not.toContain(destinationPort);
      else expect([sourcePort, destinationPort]).toEqual([0, 0]);
    }
    expect(flows.some(({ source }) => source.includes('::'))).toBe(true);
    expect(flows.some(({ source }) => source.includes('.'))).toBe(true);
  });
});
