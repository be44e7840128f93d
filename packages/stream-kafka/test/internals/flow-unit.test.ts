import { StreamProcessor } from '@int/stream';
import { describe, expect, it } from 'vitest';
import { topicsOf } from '../../src/findings.js';
import { FlowUnit } from '../../src/flow-unit.js';
import type { LogRecord } from '../../src/kafka/committed.js';
import { batchOf, ReportWriter, troubledReports } from './reports.js';

describe('the flow side of a partition', () => {
  it('finds the same however many reports it is given at a time: a flow that vanished and came back in one of them', () => {
    const reports = troubledReports();
    const expected: string[] = [];
    const whole = new StreamProcessor({}, { event: ({ id, kind }) => kind === 'blackHole' && expected.push(id) });
    const batch = batchOf(reports);
    whole.observe(batch);
    expect(expected).toHaveLength(2);
    const encode = new ReportWriter();
    const records: LogRecord[] = [];
    for (let at = 0; at < reports.length; at += 500) {
      for (const { key, value, headers = {} } of encode.messages(reports.slice(at, at + 500))) {
        const named = Object.entries(headers).map(([name, text]) => [Buffer.from(name), Buffer.from(text)] as const);
        records.push({ offset: records.length, key, value, headers: named });
      }
    }
    for (const piece of [50, 5000]) {
      const unit = new FlowUnit(
        { side: {}, format: 'auto', writers: { waitMs: 30_000, forgetMs: 60_000 } },
        topicsOf('test.'),
        true,
      );
      for (let from = 0; from < records.length; from += piece) {
        unit.take(records, from, Math.min(records.length, from + piece));
      }
      const found = unit.results().findings.events.filter(({ kind }) => kind === 'blackHole');
      expect(found.map(({ id }) => id)).toEqual(expected);
    }
  });

  it('drops reports that name unknown switches, counted, and finds what it would find without them', () => {
    const reports = troubledReports();
    const ids = new Set(reports.flatMap(({ path }) => path));
    const encode = new ReportWriter();
    const records: LogRecord[] = [];
    const add = (given: typeof reports): void => {
      for (const { key, value, headers = {} } of encode.messages(given)) {
        const named = Object.entries(headers).map(([name, text]) => [Buffer.from(name), Buffer.from(text)] as const);
        records.push({ offset: records.length, key, value, headers: named });
      }
    };
    // Between all reports of the network, as many of the same flows that name a switch that it does not have.
    const forged = reports.map((report) => ({ ...report, path: report.path.map(() => 0xdead_beef) }));
    for (let at = 0; at < reports.length; at += 100) {
      add(forged.slice(at, at + 100));
      add(reports.slice(at, at + 100));
    }
    const writers = { waitMs: 30_000, forgetMs: 60_000 };
    const unit = new FlowUnit({ side: {}, format: 'auto', writers, knownSwitches: [...ids] }, topicsOf('test.'), true);
    unit.take(records, 0, records.length);
    expect(unit.counts()).toMatchObject({ taken: reports.length, unknownSwitch: reports.length, bad: 0, repeated: 0 });
    const { events, windows } = unit.results().findings;
    expect(events.filter(({ kind }) => kind === 'blackHole')).toHaveLength(2);
    expect(JSON.stringify([events, windows])).not.toContain('3735928559');
  });
});
