import type { Prefilter } from '@int/afxdp/prefilter';
import { frame, malformed } from '@int/arbitraries';
import { encodeFrame, FrameDecoder, type TelemetryRecord } from '@int/codec';
import { Detector } from '@int/detect';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SEED } from '../seed.js';
import { reports, rules } from './arbitraries.js';
import { loadFilter } from './kernel.js';
import { frameOf, type Report, recordOf } from './reports.js';
import { rule, ruleSet } from './rules.js';

const OPTIONS = { reportPorts: [32766] } as const;
const NEVER = ruleSet([
  rule('never', { kind: 'threshold', metric: 'hopLatency', threshold: 0xffffffff, scope: 'endToEnd' }),
]);

const REPORT: Report = {
  flow: { source: '10.0.0.1', destination: '10.0.0.2', protocol: 17, sourcePort: 1, destinationPort: 80 },
  hops: [
    { nodeId: 1, hopLatency: 10 },
    { nodeId: 2, hopLatency: 20 },
  ],
};

/** The record of the report above with another report header or INT header. */
function changed(report: Partial<TelemetryRecord['report']>, int: object = {}): TelemetryRecord {
  const record = recordOf(REPORT);
  return {
    ...record,
    report: { ...record.report!, ...report },
    int: { ...record.int!, ...int } as TelemetryRecord['int'],
  };
}

const MX = { mode: 'mx', hopMl: null, remainingHopCount: null, hopExceeded: false, mtuExceeded: false } as const;

/** Reports that user space reads and the kernel does not. */
const FOREIGN: Readonly<Record<string, () => Uint8Array>> = {
  'report v1.0': () => encodeFrame(changed({ version: '1.0', ingressTimestamp: 5n })),
  'report v0.5': () => encodeFrame(changed({ version: '0.5', ingressTimestamp: 5n, nodeId: null })),
  'INT v1.0': () => encodeFrame(changed({}, { version: '1.0', encapsulation: 'tcp' })),
  'INT-MX': () => encodeFrame({ ...changed({ type: 'int-mx' }, MX), hops: [] }),
  'two reports in a datagram': () => encodeFrame([recordOf(REPORT), { ...recordOf(REPORT), index: 1 }]),
  'a packet without INT': () => encodeFrame({ ...changed({ type: 'ethernet' }), int: null, hops: [] }),
  'more hops than 32': () =>
    frameOf({ ...REPORT, hops: Array.from({ length: 33 }, (_, k) => ({ nodeId: k, hopLatency: 1 })) }),
  'domain-specific metadata': () => {
    const record = changed({}, { hopMl: 3, domainId: 1 });
    return encodeFrame({ ...record, hops: record.hops.map((hop) => ({ ...hop, domain: new Uint8Array(4) })) });
  },
  'less than a header': () => {
    const bytes = frameOf(REPORT).slice(0, 50);
    const view = new DataView(bytes.buffer);
    view.setUint16(16, 36);
    view.setUint16(38, 16);
    return bytes;
  },
};

/** Frames that are no reports, by their ports. */
const PLAIN: Readonly<Record<string, () => Uint8Array>> = {
  'another UDP port': () => encodeFrame(recordOf(REPORT), { reportPort: 32767 }),
  'not UDP': () => {
    const bytes = frameOf(REPORT);
    bytes[23] = 6;
    return bytes;
  },
  'not IP': () => {
    const bytes = frameOf(REPORT);
    bytes.set([0x08, 0x06], 12);
    return bytes;
  },
  'fourteen bytes': () => frameOf(REPORT).slice(0, 14),
};

/** The only one of frames that the kernel may drop: one whole report without an event. */
function check(filter: Prefilter, detector: Detector, bytes: Uint8Array): void {
  const { action, verdict } = filter.run(bytes);
  if (action !== 'drop' && verdict?.outcome !== 'event') return;
  const records = new FrameDecoder(OPTIONS).decode(bytes);
  expect(records.map(({ status }) => status)).toEqual(['ok']);
  expect(records[0]!.report?.version).toBe('2.0');
  const events = detector.observe(records[0]!);
  expect(events.length).toBe(verdict?.events ?? 0);
  const [event] = events;
  if (verdict === null) return;
  expect({ ...verdict, name: filter.ruleName(verdict) }).toMatchObject({
    name: event?.rule,
    detector: event?.detector,
    hop: event?.hop,
    nodeId: event?.nodeId,
    value: event?.value,
    threshold: event?.threshold,
  });
}

describe('what the filter does not understand', () => {
  for (const [name, make] of Object.entries(FOREIGN)) {
    test(`${name} is handed on and counted as undecided`, () => {
      const filter = loadFilter({ rules: NEVER });
      const { action, verdict } = filter.run(make());
      expect([action, verdict?.outcome, verdict?.rule, verdict?.events]).toEqual(['pass', 'undecided', null, 0]);
      expect(filter.counts()).toMatchObject({ passed: 0, reports: 0, filtered: 0, undecided: 1, noSocket: 1 });
      filter.close();
    });
  }

  for (const [name, make] of Object.entries(PLAIN)) {
    test(`${name}: the frame goes to the network stack`, () => {
      const filter = loadFilter({ rules: NEVER });
      expect(filter.run(make())).toMatchObject({ action: 'pass', verdict: null });
      expect(filter.counts()).toMatchObject({ passed: 1, reports: 0, filtered: 0, undecided: 0, noSocket: 0 });
      filter.close();
    });
  }

  test('a report that is cut anywhere is not dropped', () => {
    const filter = loadFilter({ rules: NEVER });
    const whole = frameOf(REPORT);
    expect(filter.run(whole).action).toBe('drop');
    for (let length = 14; length < whole.length; length++) {
      const { action } = filter.run(whole.subarray(0, length));
      expect(action, `${length} bytes`).toBe('pass');
    }
    const counts = filter.counts();
    expect(counts.passed + counts.undecided).toBe(whole.length - 14);
    expect(counts.reports).toBe(1);
    filter.close();
  });

  // Thousands of frames, one call of the kernel each.
  test('a damaged frame is dropped only if it is one whole report without an event', () => {
    const stateless = rules.map((set) => ({
      ...set,
      rules: set.rules.filter(({ detector: { kind } }) => kind === 'noop' || kind === 'threshold'),
    }));
    const sound = frame({ kinds: ['report'], reportVersions: ['2.0'], options: OPTIONS }).map(({ bytes }) => bytes);
    const ours = reports(1, 1).map(([report]) => frameOf(report!));
    const bytes = fc.oneof(sound, malformed(sound), { weight: 3, arbitrary: malformed(ours) });
    const frames = fc.array(bytes, { minLength: 100, maxLength: 100 });
    const filter = loadFilter({ rules: NEVER });
    let sent = 0;
    fc.assert(
      fc.property(stateless, frames, (set, list) => {
        filter.setRules(set);
        const detector = new Detector(set);
        for (const bytes of list) {
          if (bytes.length < 14 || bytes.length > 3520) continue;
          sent++;
          check(filter, detector, bytes);
        }
      }),
      { seed: SEED, numRuns: process.env.INT_LONG === '1' ? 500 : 10 },
    );
    const counts = filter.counts();
    expect(counts.passed + counts.reports + counts.undecided).toBe(sent);
    // Frames that nobody takes for reports would test nothing.
    expect(counts.filtered).toBeGreaterThan(sent / 50);
    filter.close();
  }, 180_000);
});
