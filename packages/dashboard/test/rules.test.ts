/** Rules by the programming interface: what is wrong with them, what they would raise, how they come into force. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Collector, DetectionStage } from '@int/collector';
import {
  type AppliedAnswer,
  type Biography,
  type CheckAnswer,
  type Dashboard,
  type DryRunAnswer,
  type ErrorAnswer,
  type EventsAnswer,
  type ReportsAnswer,
  type RulesAnswer,
  RunningRules,
  type TablesAnswer,
} from '@int/dashboard';
import { readRules } from '@int/detect/yaml';
import { afterAll, describe, expect, it } from 'vitest';
import { until } from '../../../.ci/test/until.js';
import { openDashboard } from './pages.js';
import { RecordSource } from './record-source.js';

const folder = mkdtempSync(join(tmpdir(), 'int-rules-'));
afterAll(() => rmSync(folder, { recursive: true }));

const textOf = (name: string, detect: string): string => `# who changes this tells the others
version: 1
default: drop
rules:
  - name: ${name}   # what is slow
    priority: 10
    match: any
    detect: ${detect}
`;
const SLOW = textOf('slow', '{ threshold: { metric: hopLatency, threshold: 2000, scope: hop } }');
const STEP = textOf('step', '{ perHop: { metric: hopLatency, threshold: 1500 } }');

interface Running {
  readonly source: RecordSource;
  readonly collector: Collector;
  readonly dashboard: Dashboard;
  readonly stage: DetectionStage;
  stop(): Promise<void>;
}

/** A collector that detects, with its dashboard. */
async function running(yaml: string, file: string | null = null, readOnly = false): Promise<Running> {
  const stage = new DetectionStage(readRules(yaml));
  const rules = new RunningRules(
    {
      file,
      counters: () => stage.totals().byRule,
      apply: (text) => stage.setRules(readRules(text)),
    },
    yaml,
  );
  const dashboard = await openDashboard({ answers: rules.answers, readOnly });
  const source = new RecordSource(2000, 30);
  const collector = new Collector({ sources: [source], stages: [stage], sinks: [dashboard] });
  dashboard.setPipeline(() => ({ totals: collector.totals(), degraded: collector.degraded() }));
  await collector.start();
  return { source, collector, dashboard, stage, stop: async () => void (await collector.stop()) };
}

async function ask<T>(dashboard: Dashboard, path: string, method = 'GET', body?: unknown): Promise<T> {
  const answer = await fetch(new URL(path, dashboard.url), {
    method,
    ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  return (await answer.json()) as T;
}

/** Sends so many reports, as many at a time as the dashboard's thread takes: all of them are retained. */
async function sendAll({ source, dashboard, collector }: Running, count = 480): Promise<void> {
  for (let sent = 0; sent < count; sent += 60) {
    source.send(60);
    if (sent + 60 >= count) source.pass(1500);
    let found: unknown;
    const areThere = async (): Promise<true | null> => {
      const status = await ask<Record<string, Record<string, number>>>(dashboard, 'api/v1/status');
      found = status;
      return status.retained!.reports === collector.totals().reports ? true : null;
    };
    await until('all reports', areThere, { everyMs: 50, found: () => JSON.stringify(found) });
  }
}

const idsOf = async (dashboard: Dashboard): Promise<string[]> => {
  const { rows, matched } = await ask<EventsAnswer>(dashboard, 'api/v1/events?limit=1000');
  expect(rows.length).toBe(matched);
  return rows.map(({ id }) => id).sort();
};

describe('rules in the dashboard', () => {
  it.each([
    ['a threshold', SLOW],
    ['a rule with state', STEP],
  ])('dry-runs %s: the events, with their ids, that a run with the rule raises', async (_, yaml) => {
    const without = await running(textOf('other', '{ pathChange: {} }'));
    const withIt = await running(yaml);
    try {
      await sendAll(without);
      await sendAll(withIt);
      const dry = await ask<DryRunAnswer>(without.dashboard, 'api/v1/rules/dry-run', 'POST', { yaml, seconds: 600 });
      const expected = await idsOf(withIt.dashboard);
      expect(expected.length).toBeGreaterThan(10);
      expect(dry.eventIds.toSorted()).toEqual(expected);
      expect(dry).toMatchObject({ problems: [], reports: 480, share: 1 });
      expect(dry.first.map(({ id }) => id)).toEqual(dry.eventIds.slice(0, 10));
      const name = readRules(yaml).rules[0]!.name;
      expect(dry.byRule.find(({ rule }) => rule === name)).toEqual({
        rule: name,
        events: expected.length,
        running: null,
      });
      // The rules in force are as they were.
      expect(await ask<RulesAnswer>(without.dashboard, 'api/v1/rules')).toMatchObject({ rules: [{ name: 'other' }] });
    } finally {
      await without.stop();
      await withIt.stop();
    }
  });

  it('tells problems with line and column, and words for completion', async () => {
    const { dashboard, stop } = await running(SLOW);
    try {
      const yaml = SLOW.replace('hopLatency', 'hopLatencies');
      const { problems } = await ask<CheckAnswer>(dashboard, 'api/v1/rules/check', 'POST', { yaml });
      expect(problems).toEqual([expect.objectContaining({ severity: 'error', line: 8, column: 36 })]);
      const hidden = `${SLOW}  - { name: never, priority: 1, match: any, detect: { pathChange: {} } }\n`;
      expect(await ask<CheckAnswer>(dashboard, 'api/v1/rules/check', 'POST', { yaml: hidden })).toMatchObject({
        problems: [{ severity: 'warning', line: 9 }],
      });
      const { words, rules, file } = await ask<RulesAnswer>(dashboard, 'api/v1/rules');
      expect(words.metrics).toContain('queueOccupancy');
      expect(words.detectors).toContain('baseline');
      expect({ rules, file }).toEqual({ rules: [{ name: 'slow', line: 5, matched: 0, events: 0 }], file: null });
      const tables = await ask<TablesAnswer>(dashboard, 'api/v1/rules/tables', 'POST', { yaml: SLOW });
      expect(tables.commands.length).toBeGreaterThan(0);
      expect(await ask<DryRunAnswer>(dashboard, 'api/v1/rules/dry-run', 'POST', { yaml })).toMatchObject({
        problems: [{ line: 8 }],
        eventIds: [],
      });
    } finally {
      await stop();
    }
  });

  it('puts rules into force without losing a report or state, and saves them with their comments', async () => {
    const file = join(folder, 'rules.yaml');
    writeFileSync(file, SLOW, { mode: 0o640 });
    const run = await running(SLOW, file);
    const { dashboard, stage, stop } = run;
    try {
      await sendAll(run, 300);
      const before = await ask<RulesAnswer>(dashboard, 'api/v1/rules');
      const yaml = `${SLOW}  - { name: paths, priority: 20, match: any, detect: { pathChange: {} } }\n`;
      const change = { yaml, revision: before.revision, save: true };
      const applied = await ask<AppliedAnswer>(dashboard, 'api/v1/rules', 'PUT', change);
      expect(applied).toEqual({ revision: expect.stringMatching(/^[0-9a-f]{16}$/), saved: true });
      expect(readFileSync(file, 'utf8')).toBe(yaml);
      expect(statSync(file).mode & 0o777).toBe(0o640);
      expect(stage.detector.rules().map(({ name }) => name)).toEqual(['slow', 'paths']);
      // Somebody who looked at the rules before the change must not undo it.
      expect(await ask<ErrorAnswer>(dashboard, 'api/v1/rules', 'PUT', change)).toMatchObject({
        error: { code: 'ERR_CONFLICT' },
      });
      const refused = { yaml: yaml.replace('any', 'none'), revision: applied.revision, save: false };
      expect(await ask<ErrorAnswer>(dashboard, 'api/v1/rules', 'PUT', refused)).toMatchObject({
        error: { code: 'ERR_RULES', at: { line: 7 } },
      });
      await sendAll(run, 300);
      expect(stage.totals().reports).toBe(600);
      const after = await ask<RulesAnswer>(dashboard, 'api/v1/rules');
      expect(after.versions.map(({ by }) => by)).toEqual(['dashboard', 'start']);
      expect(after.versions.map((each) => each.yaml)).toEqual([yaml, SLOW]);
    } finally {
      await stop();
    }
  });

  it('changes nothing in a read-only dashboard', async () => {
    const { dashboard, stage, stop } = await running(SLOW, null, true);
    try {
      const { revision } = await ask<RulesAnswer>(dashboard, 'api/v1/rules');
      const change = { yaml: STEP, revision, save: false };
      expect(await ask<ErrorAnswer>(dashboard, 'api/v1/rules', 'PUT', change)).toMatchObject({
        error: { code: 'ERR_READ_ONLY' },
      });
      expect(stage.detector.rules().map(({ name }) => name)).toEqual(['slow']);
    } finally {
      await stop();
    }
  });

  it('tells of an event which rule, with which values, found it in which packet', async () => {
    const run = await running(SLOW);
    const { dashboard, stop } = run;
    try {
      await sendAll(run);
      const { rows } = await ask<EventsAnswer>(dashboard, 'api/v1/events?limit=1');
      const [row] = rows;
      const biography = await ask<Biography>(dashboard, `api/v1/events/${row!.id}`);
      expect(biography.event).toEqual(row);
      expect(biography.rule).toMatchObject({
        name: 'slow',
        yaml: SLOW.slice(SLOW.indexOf('- name')).trimEnd().replaceAll('\n    ', '\n  '),
        threshold: 'above 2,000',
        operands: [{ name: 'hopLatency', value: row!.record.value, switchId: row!.switchId }],
      });
      expect(biography.report.id).toBe(row!.reportId);
      const cause = biography.hops.filter(({ isCause }) => isCause);
      expect(cause.map(({ switchId, values }) => [switchId, values.hopLatency])).toEqual([
        [row!.switchId, row!.record.value],
      ]);
      const names = biography.fields.map(({ name }) => name);
      expect(names).toEqual(['ethernet', 'ipv4', 'udp', 'report']);
      expect(biography.bytes.linkType).toBe(1);
      const { rows: reports } = await ask<ReportsAnswer>(dashboard, 'api/v1/reports?limit=1000');
      const { timeNs, flow } = biography.report;
      const ofFlow = reports
        .filter((each) => JSON.stringify(each.flow) === JSON.stringify(flow))
        .sort((a, b) => Number(BigInt(a.timeNs) - BigInt(b.timeNs)));
      const ids = (of: typeof ofFlow): string[] => of.map(({ id }) => id);
      const [before, after] = [biography.before, biography.after].map((list) => list.map(({ reportId }) => reportId));
      expect(before).toEqual(ids(ofFlow.filter((each) => BigInt(each.timeNs) < BigInt(timeNs)).slice(-50)));
      expect(after).toEqual(ids(ofFlow.filter((each) => BigInt(each.timeNs) > BigInt(timeNs)).slice(0, 50)));
      const own = await ask<Biography>(dashboard, `api/v1/reports/${row!.reportId}/biography`);
      expect(own).toEqual({ ...biography, event: null, rule: null, hops: own.hops });
    } finally {
      await stop();
    }
  });
});
