/** A capture file once more: what one sees is what the collector has made of it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeFrame } from '@int/codec';
import { CaptureSource, Collector, DetectionStage } from '@int/collector';
import { RunningRules, SERIES_METRICS } from '@int/dashboard';
import { DashboardClient } from '@int/dashboard/client';
import { readRules } from '@int/detect/yaml';
import { PcapWriter } from '@int/pcap';
import { TrafficGenerator } from '@int/traffic';
import { afterAll, expect, it } from 'vitest';
import { until } from '../../../.ci/test/until.js';
import { openDashboard } from './pages.js';

const RULES = `version: 1
rules: [{ name: slow, priority: 1, match: any, detect: { threshold: { metric: hopLatency, threshold: 2000, scope: hop } } }]
`;
const FRAMES = 600;

const folder = mkdtempSync(join(tmpdir(), 'int-dashboard-captures-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Writes a capture of some 1.2 s. @returns its path */
function capture(name: string, cut = 0): string {
  const generator = new TrafficGenerator({ topology: 'leaf-spine:4x2', flows: 40, ratePps: 500, seed: 1 });
  const writer = new PcapWriter({ linkType: 1 });
  const records = Array.from({ length: FRAMES }, () => {
    const { records: reports, timeNs } = generator.next();
    return writer.record({ data: encodeFrame(reports), timeNs, linkType: 1 });
  });
  const bytes = Buffer.concat([writer.header(), ...records]);
  const path = join(folder, name);
  writeFileSync(path, bytes.subarray(0, bytes.length - cut));
  return path;
}

it('replays a capture that the program names: the events, with their ids, and the series that the collector had', async () => {
  const path = capture('minute.pcap');
  const facts = {
    captures: [
      { name: 'minute.pcap', path },
      { name: 'gone.pcap', path: join(folder, 'gone.pcap') },
      { name: 'cut.pcap', path: capture('cut.pcap', 10) },
      { name: 'none.pcap', path: join(folder, 'none.pcap') },
    ],
  };
  writeFileSync(join(folder, 'none.pcap'), new PcapWriter({ linkType: 1 }).header());
  const stage = new DetectionStage(readRules(RULES));
  const rules = new RunningRules({ file: null, counters: () => stage.totals().byRule, apply: () => {} }, RULES);
  const dashboard = await openDashboard({ facts, answers: rules.answers });
  const client = new DashboardClient({ url: dashboard.url });
  const collector = new Collector({
    sources: [new CaptureSource({ path, speed: 1 })],
    stages: [stage],
    sinks: [dashboard],
  });
  try {
    expect(await client.captures()).toEqual({
      captures: [
        { name: 'minute.pcap', bytes: expect.any(Number) },
        { name: 'gone.pcap', bytes: null },
        { name: 'cut.pcap', bytes: expect.any(Number) },
        { name: 'none.pcap', bytes: 24 },
      ],
    });
    expect((await client.status()).has.captures).toBe(true);
    await collector.start();
    await collector.finished;
    const seen = await until(
      'all of it',
      async () => {
        const { retained, totals } = await client.status();
        // The series count an event at once; its report is retained when what was gathered is handed over.
        const isAll = totals.reports === collector.totals().reports && totals.events === stage.totals().events;
        return isAll && retained.events === totals.events ? retained : null;
      },
      { everyMs: 60 },
    );
    const range = { from: seen.from!, to: seen.to! };
    const live = await client.events({ limit: 1000 });
    expect(live.rows.length).toBeGreaterThan(5);
    const series = async (): Promise<unknown[]> =>
      Promise.all(
        SERIES_METRICS.map(
          async (metric) =>
            (await client.series({ metric, entities: ['all', 'switch:1', 'queue:5/0'], ...range })).series,
        ),
      );
    const shown = await series();

    const started = await client.startReplay({ capture: 'minute.pcap' }, 50);
    expect(started).toMatchObject({ source: 'capture', capture: 'minute.pcap', speed: 50 });
    await until('its end', async () => (await client.replays()).replays[0]?.isOver === true, { everyMs: 60 });
    client.replay = started.id;
    const replayed = await client.events({ limit: 1000 });
    expect(replayed.rows.map(({ id }) => id).sort()).toEqual(live.rows.map(({ id }) => id).sort());
    expect(await series()).toEqual(shown);
    expect((await client.flows({ limit: 1000 })).matched).toBe(40);
    const biography = await client.biography(live.rows[0]!.id);
    expect(biography.bytes.hex).not.toBe('');
    client.replay = null;
    expect(await client.setReplaySpeed(started.id, 0)).toMatchObject({ speed: 0 });
    expect(await client.endReplay(started.id)).toEqual({ replays: [] });

    // A part of it, and one that is damaged at its end: what is before the damage is shown, and the damage told.
    const part = await client.startReplay(
      { capture: 'minute.pcap', from: range.from + 500, to: range.from + 700 },
      100,
    );
    const cut = await client.startReplay({ capture: 'cut.pcap' }, 100);
    const over = await until(
      'both ends',
      async () => {
        const { replays } = await client.replays();
        return replays.every(({ isOver }) => isOver) ? replays : null;
      },
      { everyMs: 60 },
    );
    expect(over.find(({ id }) => id === cut.id)?.failure).toMatch(/^its rest cannot be read: /);
    client.replay = cut.id;
    expect((await client.status()).totals.reports).toBe(collector.totals().reports - 1);
    client.replay = part.id;
    const some = await client.series({ metric: 'reports', entities: ['all'], ...range });
    const within = (shown[0] as { values: (number | null)[] }[])[0]!.values.slice(5, 7);
    expect(some.series[0]!.values.filter((value) => value !== null)).toEqual(within);
    client.replay = null;

    for (const [name, message] of [
      ['../minute.pcap', 'the configuration names no capture ../minute.pcap'],
      [path, `the configuration names no capture ${path.slice(0, 80)}`],
      ['gone.pcap', 'the capture gone.pcap cannot be replayed: there is no such file'],
      ['none.pcap', 'the capture none.pcap cannot be replayed: there is no report in it'],
    ] as const) {
      const refusal = await client.startReplay({ capture: name }).catch((error: unknown) => error);
      expect(refusal, name).toMatchObject({ status: 404, message });
    }
  } finally {
    await collector.stop();
  }
});

it('counts the reports of a capture that it does not play, by reason, and with them all reports add up', async () => {
  const generator = new TrafficGenerator({ topology: 'leaf-spine:4x2', flows: 40, ratePps: 200, seed: 2 });
  const writer = new PcapWriter({ linkType: 1 });
  const timed = Array.from({ length: 2000 }, () => {
    const { records, timeNs } = generator.next();
    return { timeMs: Number(timeNs) / 1e6, record: writer.record({ data: encodeFrame(records), timeNs, linkType: 1 }) };
  });
  const first = timed[0]!.timeMs;
  // Some ten seconds. Seven reports of the second second come at the end, and three of the first half second.
  const moved = (from: number, to: number, count: number): typeof timed =>
    timed.filter(({ timeMs }) => timeMs >= first + from && timeMs < first + to).slice(0, count);
  const late = moved(1000, 2000, 7);
  const early = moved(100, 500, 3);
  const order = [...timed.filter((each) => !late.includes(each) && !early.includes(each)), ...late, ...early];
  const path = join(folder, 'order.pcap');
  writeFileSync(path, Buffer.concat([writer.header(), ...order.map(({ record }) => record)]));
  const dashboard = await openDashboard({ facts: { captures: [{ name: 'order.pcap', path }] } });
  const client = new DashboardClient({ url: dashboard.url });
  try {
    const ended = async (from: number | undefined): Promise<{ readonly leftOut: unknown; readonly played: number }> => {
      const { id } = await client.startReplay({ capture: 'order.pcap', ...(from !== undefined && { from }) }, 100);
      const { leftOut } = await until(
        'its end',
        async () => (await client.replays()).replays.find((each) => each.id === id && each.isOver) ?? null,
        { everyMs: 20 },
      );
      client.replay = id;
      const played = (await client.status()).totals.reports;
      client.replay = null;
      await client.endReplay(id);
      return { leftOut, played };
    };
    const count = timed.length;
    expect(await ended(undefined)).toEqual({ leftOut: { late: 10 }, played: count - 10 });
    const from = first + 600;
    const before = timed.filter(({ timeMs }) => timeMs < from).length;
    expect(before).toBeGreaterThan(50);
    expect(await ended(from)).toEqual({ leftOut: { early: before, late: 7 }, played: count - before - 7 });
  } finally {
    await dashboard.close();
  }
});
