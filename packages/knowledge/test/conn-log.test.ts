import { type ConnectionObservation, ConnLog, ConnLogError, type Incident, KnowledgePlane } from '@int/knowledge';
import { InOrder } from '@int/knowledge/internals';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SEED } from './seed.js';

const HEAD = [
  '#separator \\x09',
  '#set_separator\t,',
  '#unset_field\t-',
  '#path\tconn',
  '#fields\tts\tuid\tid.orig_h\tid.orig_p\tid.resp_h\tid.resp_p\tproto\tservice\tduration\torig_bytes\tresp_bytes\tconn_state\torig_pkts\torig_ip_bytes\tresp_pkts\tresp_ip_bytes',
  '#types\ttime\tstring\taddr\tport\taddr\tport\tenum\tstring\tinterval\tcount\tcount\tstring\tcount\tcount\tcount\tcount',
];
const LINE = '1700000000.250000\tC1\t10.0.0.1\t40000\t10.1.0.1\t443\ttcp\tssl\t0.5\t900\t4000\tSF\t12\t1500\t10\t4600';

function logWith(...lines: string[]): (ConnectionObservation | null)[] {
  const log = new ConnLog();
  return [...HEAD, ...lines].map((line) => log.read(line)).slice(HEAD.length);
}

describe('ConnLog', () => {
  const EXPECTED: ConnectionObservation = {
    timeMs: 1_700_000_000_250,
    source: '10.0.0.1',
    destination: '10.1.0.1',
    sourcePort: 40_000,
    destinationPort: 443,
    protocol: 6,
    answered: true,
    established: true,
    packetsOut: 12,
    packetsIn: 10,
    bytesOut: 1500,
    durationMs: 500,
  };

  it('reads tab-separated lines', () => {
    expect(logWith(LINE)).toEqual([EXPECTED]);
  });

  it('reads JSON', () => {
    const line = {
      ts: 1_700_000_000.25,
      'id.orig_h': '10.0.0.1',
      'id.orig_p': 40_000,
      'id.resp_h': '10.1.0.1',
      'id.resp_p': 443,
      proto: 'tcp',
      conn_state: 'SF',
      orig_pkts: 12,
      orig_ip_bytes: 1500,
      resp_pkts: 10,
      duration: 0.5,
    };
    expect(new ConnLog().read(JSON.stringify(line))).toEqual(EXPECTED);
  });

  it.each([
    ['SF', true],
    ['RSTO', true],
    ['S0', false],
    ['REJ', false],
    ['OTH', null],
    ['SHR', null],
  ])('takes state %s for answered: %o', (state, answered) => {
    expect(logWith(LINE.replace('SF', state))[0]!.answered).toBe(answered);
  });

  it.each([
    ['1700000000\tC1\t', 'id.orig_h is no address: ""'],
    [LINE.replace('tcp', '-'), 'proto is missing'],
    [LINE.replace('1700000000.250000', '-'), 'ts is missing'],
    [LINE.replace('1700000000.250000', 'yesterday'), 'ts is "yesterday"'],
    [LINE.replace('10.0.0.1', 'ten'), 'id.orig_h is no address: "ten"'],
    [LINE.replace('443', '99999'), 'id.resp_p is "99999"'],
    ['{"ts":', 'it is no JSON'],
  ])('refuses %j with the line', (line, message) => {
    const log = new ConnLog();
    for (const each of HEAD) log.read(each);
    try {
      // A line that is too short has no protocol, which alone would be passed over.
      log.read(line.endsWith('C1\t') ? `${line}\t1\t\t2\ttcp` : line);
      expect.unreachable();
    } catch (error) {
      expect(ConnLogError.is(error)).toBe(true);
      expect((error as ConnLogError).line).toBe(HEAD.length + 1);
      expect((error as ConnLogError).message).toContain(message);
    }
  });

  const record = (fields: object): ConnectionObservation =>
    new ConnLog().read(
      JSON.stringify({
        ...{ ts: 1.5, 'id.orig_h': '10.0.0.1', 'id.orig_p': 4000, 'id.resp_h': '10.0.0.2', 'id.resp_p': 80 },
        ...{ proto: 'tcp', conn_state: 'SF' },
        ...fields,
      }),
    )!;

  it.each([
    ['2023-11-14T22:13:20.250000Z', 1_700_000_000_250],
    [1_700_000_000_250, 1_700_000_000_250],
    ['1700000000.25', 1_700_000_000_250],
  ])('reads the time %j', (ts, timeMs) => {
    expect(record({ ts }).timeMs).toBe(timeMs);
  });

  it.each([
    ['a SYN packet that was answered, and no more', { conn_state: 'S1', history: 'Sh' }, true, false],
    ['the same, without a history', { conn_state: 'S1', orig_pkts: 1 }, true, false],
    ['reset by who began it', { conn_state: 'RSTO', history: 'ShR' }, true, false],
    ['a whole handshake', { conn_state: 'S1', history: 'ShA' }, true, true],
    ['a probe with FIN that a closed port resets', { conn_state: 'RSTR', history: 'Fr' }, false, false],
    ['an established one that is reset', { conn_state: 'RSTR', history: 'ShADadr' }, true, true],
    ['of which one direction was seen', { conn_state: 'S0', history: 'SAD' }, null, true],
    ['an echo with an answer', { proto: 'icmp', 'id.orig_p': 8, conn_state: 'OTH', resp_pkts: 1 }, true, false],
    ['an echo without', { proto: 'icmp', 'id.orig_p': 8, conn_state: 'OTH', resp_pkts: 0 }, false, false],
    ['unreachable', { proto: 'icmp', 'id.orig_p': 3, conn_state: 'OTH', resp_pkts: 0 }, null, false],
  ])('knows %s by more than its state', (_, fields, answered, established) => {
    expect(record(fields)).toMatchObject({ answered, established });
  });

  it('counts what it passes over', () => {
    const log = new ConnLog();
    for (const line of HEAD) log.read(line);
    expect(log.read(LINE.replace('tcp', 'unknown_transport'))).toBeNull();
    expect(log.passedOver).toBe(1);
  });

  it('throws nothing else, whatever the line', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.string().map((text) => LINE.replace('443', text)),
        ),
        (line) => {
          try {
            logWith(line);
          } catch (error) {
            expect(ConnLogError.is(error)).toBe(true);
          }
        },
      ),
      { seed: SEED },
    );
  });
});

it('InOrder sorts what it can hold', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 1000 }), { maxLength: 60 }), (times) => {
      const order = new InOrder(64);
      for (const timeMs of times) order.push({ timeMs } as ConnectionObservation);
      expect(Array.from(order.rest(), ({ timeMs }) => timeMs)).toEqual([...times].sort((a, b) => a - b));
    }),
    { seed: SEED },
  );
});

it('a scan in a flow log is found as one in packets is', () => {
  const alarms: Incident[] = [];
  const plane = new KnowledgePlane({}, { incident: (incident) => alarms.push(incident) });
  for (let port = 1; port <= 12; port++) {
    const [connection] = logWith(
      LINE.replace('1700000000.25', `17000000${10 + port}.25`)
        .replace('443', String(port))
        .replace('SF', 'REJ'),
    );
    plane.connection(connection!);
  }
  plane.finish();
  expect(alarms.map(({ kind, entity, state }) => `${kind} ${entity} ${state}`)).toEqual([
    'scan-vertical host:10.0.0.1 open',
    'scan-vertical host:10.0.0.1 close',
  ]);
});
