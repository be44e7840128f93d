import { rm, writeFile } from 'node:fs/promises';
import { PassThrough, Readable, Writable } from 'node:stream';
import { main } from '@int/cli';
import { describe, expect, onTestFinished, test } from 'vitest';
import { inTime } from '../../../.ci/test/until.js';
import { coalescedFrame, malformedFrame, pcap, plainFrame, reportFrame } from './captures.js';
import { listening, payload, send } from './datagrams.js';
import { ndjson, run, temporaryFolder } from './run.js';

const files = temporaryFolder();

/** Rules with one rule that decides everything. */
const one = (name: string, detector: string): string =>
  `version: 1\nrules:\n  - { name: ${name}, priority: 1, match: any, detect: { ${detector} } }\n`;
const EVERYTHING = one('all', 'noop: {}');
const STEP = 'perHop: { metric: hopLatency, threshold: 100 }';

interface Total {
  readonly received: number;
  readonly decoded: number;
  readonly reports: number;
  readonly dropped: Readonly<Record<string, number>>;
  readonly kernelDropped: number | null;
}

/** The last lines of `int collect --json`. */
function endOf(stdout: string): { events: Record<string, unknown>[]; summary: Record<string, unknown>; total: Total } {
  const lines = ndjson(stdout);
  const total = lines.at(-1) as unknown as Total;
  const summary = lines.at(-2)!;
  expect([summary.type, lines.at(-1)!.type]).toEqual(['summary', 'total']);
  const dropped = Object.values(total.dropped).reduce((sum, count) => sum + count, 0);
  expect(total.received).toBe(total.decoded + dropped);
  return { events: lines.filter(({ type }) => type === 'event'), summary, total };
}

describe('int collect --pcap --rules', () => {
  test('gives the events that int detect gives, then the summary and the totals', async () => {
    const path = files.path('fabric.pcap');
    await run(['generate', '--packets', '3000', '--seed', '5', '-o', path]);
    const rules = await files.write('step.yaml', one('step', 'perHop: { metric: hopLatency, threshold: 2000 }'));
    const detected = ndjson((await run(['detect', path, '--rules', rules, '--json'])).stdout);
    const { events: count, byRule, survivors } = detected.pop()!;
    const { stdout, code } = await run(['collect', '--pcap', path, '--rules', rules, '--json']);
    expect(code).toBe(0);
    const { events, summary, total } = endOf(stdout);
    expect(events).toEqual(detected);
    expect(events.length).toBeGreaterThan(50);
    expect(summary).toMatchObject({ reports: 3000, events: count, survivors, byRule, notShown: 0 });
    expect(total).toMatchObject({ received: 3000, decoded: 3000 });
    const stats = ndjson(stdout).findLast(({ type }) => type === 'stats');
    expect(stats).toMatchObject({ detection: { reports: 3000, events: count, survivors, notShown: 0 } });
  });

  test('takes the options of the detector, and numbers all frames', async () => {
    const path = await files.write(
      'mixed.pcap',
      pcap([plainFrame(), malformedFrame(), reportFrame(), coalescedFrame()]),
    );
    const rules = await files.write('all.yaml', EVERYTHING);
    const { stdout, code } = await run(['collect', '--pcap', path, '--rules', rules, '--state', 'exact', '--json']);
    expect(code).toBe(1);
    const { events, summary } = endOf(stdout);
    expect(events.map(({ frame, index }) => [frame, index])).toEqual([
      [3, 0],
      [4, 0],
      [4, 1],
      [4, 2],
    ]);
    expect(summary).toMatchObject({ reports: 4, events: 4 });
  });

  test('in words tells what a pre-filter would be worth, before the last line', async () => {
    const path = await files.write('words.pcap', pcap([reportFrame(), reportFrame(), reportFrame(), reportFrame()]));
    const rules = await files.write('step.yaml', one('step', STEP));
    const { stdout } = await run(['collect', '--pcap', path, '--rules', rules]);
    expect(stdout).toMatch(/^4 reports, 3 events: 25\.00 % of reports have events: 1 in 4\.0$/m);
    expect(stdout).toMatch(/^step +4 +3 +25\.00 % +4\.0$/m);
    expect(stdout.trimEnd().split('\n').at(-1)).toBe('4 received, 4 decoded, 0 dropped');
  });

  test('shows events and rules in the live view of a terminal', async () => {
    const path = await files.write('view.pcap', pcap([reportFrame(), reportFrame()]));
    const rules = await files.write('step.yaml', one('step', STEP));
    const { stdout } = await run(['collect', '--pcap', path, '--rules', rules, '--speed', '1e-9'], {
      terminal: { columns: 130, rows: 40 },
      interruptWhen: ({ stdout }) => stdout.includes('Events 3 '),
    });
    const [view] = stdout.split('\x1b[?25h\x1b[?1049l');
    expect(view).toContain('Events 3  100.00 % of reports have events: 1 in 1.0');
    expect(view).toMatch(/step +1 +3 +100\.00 % +1\.0/);
    expect(view).toMatch(
      /step {2}perHop hopLatency at switch 153, hop 2: 0 to 500 \(threshold 100\) {2}10\.0\.1\.1:40000 >/,
    );
  });

  test('refuses broken rules with code 1 and missing ones with code 3, before it opens a source', async () => {
    const broken = await files.write('broken.yaml', 'version: 1\nrules: 7\n');
    const { code, stdout, stderr } = await run(['collect', '--pcap', files.path('none.pcap'), '--rules', broken]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/broken\.yaml:2:8: /);
    const missing = await run(['collect', '--demo', '--rules', files.path('none.yaml')]);
    expect(missing).toMatchObject({ code: 3, stdout: '' });
    expect(missing.stderr).toContain('none.yaml');
  });
});

describe('int collect --listen --rules', () => {
  test('prints events as they come, with the time of arrival and the number of the datagram', async () => {
    const rules = await files.write('step.yaml', one('step', STEP));
    const before = BigInt(Date.now()) * 1_000_000n;
    const { process, port } = await listening('--rules', rules, '--json');
    await send(port, [payload(reportFrame()).subarray(0, 30), payload(coalescedFrame()), payload(reportFrame())]);
    await process.until(() => process.stdout.endsWith('\n') && ndjson(process.stdout).length >= 5);
    process.child.kill('SIGINT');
    const { code, stdout } = await process.end();
    expect(code).toBe(1);
    const { events, summary, total } = endOf(stdout);
    // Hops of 100 are not above the threshold; switch 153 reports 500 each time.
    expect(events.map(({ frame, index, nodeId, hop, previous, value }) => [frame, index, nodeId, hop, previous, value]))
      // biome-ignore format: one event a line
      .toEqual([
      [2, 0, 153, 1, 0, 500],
      [3, 0, 1, 0, 0, 1200],
      [3, 0, 2, 1, 0, 800],
    ]);
    for (const { timeNs } of events) {
      const arrived = BigInt(timeNs as string);
      expect(arrived > before - 1_000_000_000n && arrived < before + 600_000_000_000n).toBe(true);
    }
    expect(summary).toMatchObject({ reports: 4, events: 3, survivors: 0.5, notShown: 0 });
    expect(total).toMatchObject({ received: 3, decoded: 2, reports: 4 });
  });

  test('loads rules anew while telemetry comes in, loses no report, and keeps what it knows', async () => {
    const rules = await files.write('live.yaml', one('first', STEP));
    const { process, port } = await listening('--rules', rules, '--json');
    const datagram = payload(reportFrame());
    let sent = 0;
    let isDone = false;
    const sending = (async (): Promise<void> => {
      while (!isDone) {
        // Fails if the command does not read any more.
        await send(port, new Array<Uint8Array>(20).fill(datagram));
        sent += 20;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    })();
    /** Waits until the command has said it so often. */
    const said = (text: string, times: number): Promise<void> =>
      process.until(() => process.stderr.split(text).length > times);

    onTestFinished(() => {
      isDone = true;
    });

    // The three events, of which there will be no others, are those of the first rules.
    await process.until(() => process.stdout.split('"type":"event"').length > 3);
    await writeFile(rules, one('second', STEP));
    await said('1 rule in force', 1);
    await writeFile(rules, one('second', 'perHop: { metric: hoplatency, threshold: 100 }'));
    await said('the rules in force stay as they were', 1);
    await rm(rules);
    process.child.kill('SIGHUP');
    await said('the rules in force stay as they were', 2);
    await writeFile(rules, one('third', STEP));
    await said('1 rule in force', 2);
    process.child.kill('SIGHUP');
    await said('1 rule in force', 3);
    const inForce = sent;
    await process.until(() => sent >= inForce + 200);
    isDone = true;
    await sending;
    process.child.kill('SIGINT');
    const { code, stdout, stderr } = await process.end();
    // Rules that were wrong are input that was wrong.
    expect(code).toBe(1);
    const { events, summary, total } = endOf(stdout);
    expect(total.received + (total.kernelDropped ?? 0)).toBe(sent);
    expect(summary.reports).toBe(total.reports);
    // The latencies never change: what was known of the switches stayed known.
    expect(events.map(({ rule, previous, value }) => [rule, previous, value])).toEqual([
      ['first', 0, 1200],
      ['first', 0, 800],
      ['first', 0, 500],
    ]);
    const byRule = summary.byRule as Record<string, { reports: number; events: number }>;
    const removed = summary.removed as { reports: number; events: number };
    expect(Object.keys(byRule)).toEqual(['third']);
    expect(byRule.third!.reports).toBeGreaterThan(0);
    expect(byRule.third!.reports + removed.reports).toBe(total.reports);
    expect(removed.events).toBe(3);
    expect(stderr).toMatch(/^\/.*live\.yaml:3:74: .*hopLatency.*$/m);
    expect(stderr).toMatch(/^int: cannot open .*live\.yaml: no such file or folder$/m);
  });

  test('waits for nobody: events that cannot be printed in time are counted', async () => {
    const rules = await files.write('all.yaml', EVERYTHING);
    let take: (() => void) | null = null;
    let isReading = false;
    let text = '';
    // A reader that takes nothing until told to.
    const stdout = new Writable({
      write(chunk: Buffer, _encoding, done) {
        text += chunk.toString();
        if (isReading) done();
        else take = done;
      },
    });
    const stderr = new PassThrough();
    const stopping = new AbortController();
    const ended = main(['node', 'int', 'collect', '--listen', 'udp://127.0.0.1:0', '--rules', rules, '--json'], {
      stdin: Readable.from([]),
      stdout,
      stderr,
      env: {},
      signal: stopping.signal,
    });
    const [words] = (await inTime('the port of int collect', stderr.toArray.call(stderr.take(1)))) as Buffer[];
    const port = Number(/127\.0\.0\.1:(\d+)/.exec(String(words))![1]);
    // 8 Mi characters are kept, some 30,000 events. Three times as many come, in few datagrams, each of which has been
    // read when the next one is sent: how fast the machine is makes no difference.
    const reports = 600;
    const sent = 150;
    const datagram = payload(coalescedFrame(reports));
    for (let count = 0; count < sent; count++) await send(port, [datagram]);
    stopping.abort();
    // It has nothing to do any more but to print.
    await new Promise((resolve) => setTimeout(resolve, 100));
    isReading = true;
    take!();
    expect(await inTime('the end of int collect', ended)).toBe(0);
    const { events, summary, total } = endOf(text);
    expect(total.received + (total.kernelDropped ?? 0)).toBe(sent);
    expect(total.dropped.overrun).toBe(0);
    expect(total.reports).toBe(total.received * reports);
    expect(summary.events).toBe(total.reports);
    expect(summary.notShown).toBeGreaterThan(0);
    expect(events.length).toBeGreaterThan(10_000);
    expect(events.length + (summary.notShown as number)).toBe(summary.events);
  });
});
