import { type EventRow, Filter, FilterError, type FilterNetwork, type FlowRow, type IncidentRow } from '@int/dashboard';
import { DeviceProfile } from '@int/network';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../.ci/test/length.js';

const NAMES: Readonly<Record<number, string>> = { 1: 'leaf-1', 2: 'leaf-2', 101: 'spine-1' };
const profile = new DeviceProfile({
  units: { hopLatency: 'us', queueOccupancy: { cell: '80B' } },
  switches: { 101: { units: { hopLatency: 'ns' } } },
});
const network: FilterNetwork = {
  switchName: (id) => NAMES[id] ?? null,
  unit: (metric, id) => profile.unit(metric, id ?? undefined),
};

const flow: FlowRow = {
  id: 'f1',
  source: '10.1.2.3',
  destination: '192.168.0.9',
  sourcePort: 40_000,
  destinationPort: 443,
  protocol: 6,
  dscp: 46,
  reports: 120,
  reportsPerSecond: 12,
  events: 0,
  path: [1, 101, 2],
  pathLatencyNs: 705_900,
  congested: true,
  lastMs: 0,
  hops: [
    { nodeId: 1, hopLatency: 5, queueOccupancy: 10, queueId: 0 },
    { nodeId: 101, hopLatency: 900, queueOccupancy: 4, queueId: 3 },
    { nodeId: 2, hopLatency: 700, queueOccupancy: 900, queueId: 0 },
  ],
};

const event = {
  id: 'e1',
  timeMs: 0,
  rule: 'deep-queue',
  severity: 'warning',
  state: 'begin',
  switchId: 2,
  reportId: 'r1',
  record: {
    detector: 'threshold',
    metric: 'queueOccupancy',
    value: 900,
    threshold: 100,
    previous: null,
    flow,
    path: [1, 101, 2],
  },
} as unknown as EventRow;

const passes = (text: string): boolean => new Filter(text).passesFlow(flow, network);

describe('conditions on a flow', () => {
  it.each([
    '',
    'switch=leaf-1 and dst in 192.168.0.0/16 and latency>500us',
    'switch = 101',
    'switch~spine',
    'switch=LEAF-2',
    'src=10.1.2.3 sport>=40000',
    'host in (10.9.0.0/16, 192.168.0.0/24)',
    'dport in 80-443',
    'port=443',
    'proto=tcp && !proto=udp',
    // 900 ns at the spine, 5 us and 700 us at the leaves.
    'latency<1us',
    'latency>=0.7ms',
    'hopLatency=900',
    'occupancy>=72000B',
    'hop(switch=leaf-2 and latency>500us)',
    'not hop(switch=leaf-1 and latency>500us)',
    'pathLatency>700us',
    'hops=3',
    'dscp=46',
    'congested',
    'congested=true or latency>1s',
    'leaf-2',
    '192.168',
    '101',
    '"leaf-1" and (port=1 or port=443)',
    'src!=10.1.2.4',
    'switch!=leaf-9',
  ])('%s holds', (text) => {
    expect(passes(text)).toBe(true);
  });

  it.each([
    'switch=leaf',
    'switch!=leaf-1',
    'dst in 10.0.0.0/8',
    'src=2001:db8::1',
    'latency>1ms',
    'hop(switch=leaf-1 and latency>500us)',
    'not congested',
    'proto=udp',
    // The switches do not say what their utilisation is in, and a hop has none.
    'utilization>10%',
    'leaf-3',
    '7',
    'congested and port=1',
  ])('%s does not hold', (text) => {
    expect(passes(text)).toBe(false);
  });
});

describe('conditions on an event', () => {
  it.each(['rule=deep-queue', 'rule~queue', 'severity=warning', 'switch=leaf-2', 'value>=900', 'detector=threshold'])(
    '%s holds',
    (text) => expect(new Filter(text).passesEvent(event, network)).toBe(true),
  );

  it.each(['rule=other', 'switch=leaf-1', 'value>900', 'not rule~deep'])('%s does not hold', (text) => {
    expect(new Filter(text).passesEvent(event, network)).toBe(false);
  });

  it('what a row cannot answer decides nothing, whichever way it is asked, and is named', () => {
    for (const text of ['rule=x', 'not rule=x', 'rule=x and port=443', 'congested and not rule=y']) {
      expect(passes(text), text).toBe(true);
    }
    expect(passes('rule=x and port=444')).toBe(false);
    expect(new Filter('rule=x and rule=y and port=1').ignored('flow')).toEqual(['rule']);
    expect(new Filter('latency>500us').passesEvent(event, network)).toBe(true);
    const report = { flow, path: [1], hops: [{ nodeId: 1, hopLatency: 5 }], report: null } as never;
    expect(new Filter('latency>500us').passesEvent(event, network, report)).toBe(false);
  });
});

describe('mistakes', () => {
  it.each([
    ['latencey>5us', 0, 8, 'did you mean latency?'],
    ['latency>5parsec', 8, 15, 'no unit'],
    ['latency>', 8, 8, 'missing'],
    ['src=10.1.2', 4, 10, 'no address'],
    ['(port=1', 0, 1, 'not closed'],
    ['port=1)', 6, 7, 'nothing to belong to'],
    ['rule="x', 5, 7, 'not closed'],
    ['port=99999', 5, 10, '65535'],
    ['proto=tcpp', 6, 10, 'did you mean tcp?'],
    ['pathLatency>5', 12, 13, 'add a unit'],
    ['switch<5', 7, 8, 'compared by'],
    ['a & b', 2, 3, 'write and'],
    ['and', 0, 3, 'missing'],
    ['> 5', 0, 1, 'no field'],
  ])('%s', (text, start, end, message) => {
    const error = (() => {
      try {
        return new Filter(text);
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(FilterError.is(error), String(error)).toBe(true);
    expect(error).toMatchObject({
      code: 'ERR_FILTER',
      message: expect.stringContaining(message),
      span: { start, end },
    });
  });

  it('long and deep filters are refused', () => {
    expect(() => new Filter('x'.repeat(1001))).toThrow(/1000/);
    expect(() => new Filter('('.repeat(100))).toThrow(/levels/);
    expect(() => new Filter('not '.repeat(100))).toThrow(/levels/);
    expect(() => new Filter('a '.repeat(300))).toThrow(/256/);
  });

  it('any text is a filter or a FilterError with a place in the text', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        'switch',
        'latency',
        '=',
        '!=',
        '>',
        '(',
        ')',
        'and',
        'or',
        'not',
        'in',
        'hop(',
        '5us',
        '10.0.0.0/8',
        '"',
        ',',
      ),
      fc.string({ maxLength: 6 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join(' ');
        try {
          const filter = new Filter(text);
          expect(typeof filter.passesFlow(flow, network)).toBe('boolean');
          expect(typeof filter.passesEvent(event, network)).toBe('boolean');
        } catch (error) {
          if (!FilterError.is(error)) throw error;
          expect(error.span.start).toBeGreaterThanOrEqual(0);
          expect(error.span.end).toBeLessThanOrEqual(text.length);
          expect(error.span.end).toBeGreaterThanOrEqual(error.span.start);
        }
      }),
      { seed: 22, numRuns: runs(5000) },
    );
  });
});

describe('conditions on an incident', () => {
  const incident = (given: Partial<IncidentRow>): IncidentRow => ({
    ...{ id: 'i', kind: 'scan-vertical', entity: 'host:198.51.100.7', name: '', state: 'open', from: 0, to: null },
    ...{ detector: 'random-walk', formula: '', operands: {}, baseline: null, windowMs: 0, confidence: 1, phase: null },
    ...{ otherwise: [], confirm: '', along: [], suggest: null, proposals: [], ...given },
  });
  const block = {
    intent: 'block',
    match: { source: '198.51.100.7', destination: '10.0.0.9', port: 22 },
    ttlMs: 1,
  } as const;
  const scan = incident({ suggest: block });
  const queue = incident({ kind: 'congestion', entity: 'queue:1/3', along: ['switch:101'], state: 'close' });
  const service = incident({ kind: 'scan-distributed', entity: 'service:6/443' });
  const flood = incident({
    ...{ kind: 'syn-flood', entity: 'host:10.0.0.9' },
    suggest: { intent: 'limit', match: { destination: '10.0.0.9', protocol: 'tcp' }, ttlMs: 1 },
  });
  const all = { scan, queue, service, flood };

  it.each([
    ['', 'scan queue service flood'],
    ['host in 198.51.100.0/24', 'scan'],
    ['src=198.51.100.7 dst=10.0.0.9', 'scan'],
    ['dst=10.0.0.9', 'scan flood'],
    ['dport=22', 'scan'],
    ['proto=tcp dport=443', 'service'],
    ['proto=tcp', 'service flood'],
    ['switch=leaf-1', 'queue'],
    ['switch=spine-1', 'queue'],
    ['incident=congestion', 'queue'],
    ['incident~scan state=open', 'scan service'],
    ['not state=open', 'queue'],
    ['flood', 'flood'],
    ['detector~walk', 'scan queue service flood'],
    // What it cannot tell decides nothing.
    ['latency>1s rule=any', 'scan queue service flood'],
    ['hop(switch=leaf-1 queue=3)', 'scan queue service flood'],
  ])('%s', (text, passing) => {
    const filter = new Filter(text);
    const names = Object.entries(all).flatMap(([name, row]) => (filter.passesIncident(row, network) ? [name] : []));
    expect(names.join(' ')).toBe(passing);
  });

  it('names what decides nothing', () => {
    expect(new Filter('switch=1 latency>1 rule=a incident=b congested').ignored('incident')).toEqual([
      'latency',
      'rule',
      'congested',
    ]);
    expect(new Filter('incident=b').ignored('event')).toEqual(['incident']);
    expect(new Filter('incident=b').ignored('flow')).toEqual(['incident']);
  });
});
