import { once } from 'node:events';
import { rename } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { freeTcpPort, freeUdpPort } from '../../../.ci/test/ports.mjs';
import { inTime, until } from '../../../.ci/test/until.js';
import { coalescedFrame, reportFrame } from './captures.js';
import { payload, send } from './datagrams.js';
import { ndjson, Running, run, temporaryFolder } from './run.js';

const files = temporaryFolder();
const DATAGRAM = payload(reportFrame());

interface Counts {
  readonly offered: number;
  readonly delivered: number;
  readonly pending: number;
  readonly dropped: Readonly<Record<string, number>>;
}

interface Line {
  readonly type: string;
  readonly received: number;
  readonly decoded: number;
  readonly reports: number;
  readonly dropped: Readonly<Record<string, number>>;
  readonly stages: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly sinks: Readonly<Record<string, Readonly<Record<string, Counts>>>>;
}

const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((total, count) => total + count, 0);

/** The last line, of which all accounts must close. */
function totalOf(stdout: string): Line {
  const total = ndjson(stdout).at(-1) as unknown as Line;
  expect(total.type).toBe('total');
  expect(total.received).toBe(total.decoded + sum(total.dropped));
  for (const kinds of Object.values(total.sinks ?? {})) {
    for (const { offered, delivered, pending, dropped } of Object.values(kinds)) {
      expect(offered).toBe(delivered + pending + sum(dropped));
    }
  }
  return total;
}

/** Replaces a file as editors and package managers do. */
async function replace(name: string, text: string): Promise<string> {
  await rename(await files.write(`${name}.new`, text), files.path(name));
  return files.path(name);
}

/** Starts the real command with a configuration, and waits until it listens. */
async function collecting(name: string, text: string): Promise<{ process: Running; port: number }> {
  const path = await replace(name, text);
  const process = new Running(['collect', '--config', path, '--json']);
  const match = await process.saying(/listening on udp:\/\/127\.0\.0\.1:(\d+)/);
  return { process, port: Number(match[1]) };
}

/** Writes another configuration, and waits until the command says what has become of it. */
async function reconfigured(process: Running, name: string, text: string, isHungUp = true): Promise<string> {
  const from = process.stderr.length;
  await replace(name, text);
  if (isHungUp) process.child.kill('SIGHUP');
  const answer = /: (?:in force: .*|nothing has changed|the configuration in force stays as it was)$/m;
  await process.until(() => answer.test(process.stderr.slice(from)));
  // The change of the file is seen as well, if SIGHUP came first.
  if (isHungUp) await process.until(() => process.stderr.slice(from).match(new RegExp(answer, 'gm'))!.length === 2);
  return process.stderr.slice(from);
}

/** Sends all the time, at the pace of the reader, until told to stop. */
function sending(port: number): { stop(): Promise<number> } {
  let [isOver, sent] = [false, 0];
  const loop = (async () => {
    while (!isOver) {
      await send(port, Array<Uint8Array>(50).fill(DATAGRAM));
      sent += 50;
      // Thousands in a second show what gets lost; more would only cost time.
      await sleep(5);
    }
  })();
  return {
    async stop() {
      isOver = true;
      await loop;
      return sent;
    },
  };
}

/** Waits until the line of a second satisfies. */
function lineWith(process: Running, holds: (line: Line) => boolean): Promise<void> {
  return process.until(() => {
    const last = ndjson(process.stdout)
      .filter(({ type }) => type === 'stats')
      .at(-1);
    return last !== undefined && holds(last as unknown as Line);
  });
}

/** Reports in the Parquet files of a folder. */
async function reportsIn(folder: string): Promise<number> {
  const sql = 'SELECT count(DISTINCT id) AS reports FROM hops';
  const { code, stdout, stderr } = await run(['query', sql, '--store', files.path(folder), '--json']);
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  return Number(ndjson(stdout)[0]!.reports);
}

/** A port where everything is taken and nothing answered. */
async function silence(): Promise<number> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {}).resume();
  });
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await inTime('a TCP port', once(server, 'listening'));
  return (server.address() as { port: number }).port;
}

const UDP = '{ udp: { listen: "127.0.0.1:0" } }';
const config = (sinks: readonly string[], rest = ''): string =>
  `version: 1\nsources: [${UDP}]\ndrain: 20s\n${rest}sinks:\n${sinks.map((sink) => `  - ${sink}\n`).join('')}`;
const parquet = (name: string, more = ''): string => `parquet: { name: ${name}, directory: ${name}${more} }`;

describe('int collect, when its configuration changes', () => {
  test('adds, replaces and removes sinks while datagrams flow, and loses none', { timeout: 180_000 }, async () => {
    const { process, port } = await collecting(
      'sinks.yaml',
      config([parquet('stays'), parquet('goes'), parquet('changes')]),
    );
    const sender = sending(port);
    await lineWith(process, ({ received }) => received > 0);
    const told = await reconfigured(
      process,
      'sinks.yaml',
      config([parquet('stays'), parquet('changes', ', rotate: { rows: 5000 }'), parquet('comes')]),
    );
    expect(told).toMatch(/sinks\.yaml: in force: sink changes replaced, sink comes added, sink goes removed$/m);
    const { received } = ndjson(process.stdout).at(-1) as unknown as Line;
    await lineWith(process, (line) => line.received > received + 100);
    const sent = await sender.stop();
    process.child.kill('SIGTERM');
    const { code, stdout } = await process.end();
    const total = totalOf(stdout);
    expect([code, total.received, total.decoded]).toEqual([0, sent, sent]);
    const written = await Promise.all(['stays', 'goes', 'changes', 'comes'].map(reportsIn));
    const [stays, goes, changes, comes] = written;
    expect([stays, changes, goes! + comes!]).toEqual([sent, sent, sent]);
    expect(Math.min(goes!, comes!)).toBeGreaterThan(0);
    // What a sink that is gone has counted stays in the totals.
    const counted = ['stays', 'goes', 'changes', 'comes'].map((name) => total.sinks[name]!.reports!.delivered);
    expect(counted).toEqual(written);
  });

  test('sees the change of the file by itself, and keeps the state of what has not changed', async () => {
    await files.write('first.yaml', rules('first'));
    await files.write('second.yaml', rules('second'));
    const rest = 'flows: { rows: 16 }\ndetect: { rules: first.yaml }\n';
    const { process, port } = await collecting('state.yaml', config([parquet('state')], rest));
    await send(port, [DATAGRAM, DATAGRAM]);
    await lineWith(process, ({ received }) => received === 2);
    const changed = config([parquet('state')], rest.replace('first', 'second'));
    const told = await reconfigured(process, 'state.yaml', changed, false);
    expect(told).toContain('in force: detect changed');
    await send(port, [DATAGRAM]);
    await lineWith(process, ({ received }) => received === 3);
    process.child.kill('SIGTERM');
    const { stdout } = await process.end();
    const total = totalOf(stdout);
    // The flow cache has gone on; the detector is a new one, and counts anew.
    expect(total.stages).toMatchObject({
      flows: { offered: 3 },
      'report loss': { duplicates: 2 },
      detection: { reports: 1 },
    });
    expect(total.sinks.state!.flows).toMatchObject({ offered: 1, delivered: 1 });
    expect(total.sinks.state!.events).toMatchObject({ offered: 3, delivered: 3 });
    const events = ndjson(stdout).filter(({ type }) => type === 'event');
    expect(events.map(({ rule }) => rule)).toEqual(['first', 'first', 'second']);
  });

  test('refuses a broken file with line and column, and what needs a new start by name; nothing changes', async () => {
    const good = config([parquet('kept')]);
    const { process, port } = await collecting('broken.yaml', good);
    const broken: [string, string, RegExp][] = [
      ['wrong', good.replace('drain: 20s', 'drain: soon'), /broken\.yaml:3:8: /],
      ['no YAML', 'version: 1\nsources: [', /broken\.yaml:2:\d+: /],
      ['standard input', good.replace(UDP, '{ pcap: { file: "-" } }'), /broken\.yaml:2:11: standard input is read at/],
      ['rules', `${good}detect: { rules: none.yaml }\n`, /none\.yaml/],
      ['a folder', good.replace('directory: kept', 'directory: /dev/null/x'), /parquet: cannot use \/dev\/null\/x/],
    ];
    for (const [what, text, message] of broken) {
      const told = await reconfigured(process, 'broken.yaml', text, false);
      expect(told, what).toMatch(message);
      expect(told, what).toMatch(/the configuration in force stays as it was$/m);
    }
    const again = await reconfigured(process, 'broken.yaml', good, false);
    expect(again).toMatch(/broken\.yaml: nothing has changed$/m);
    await send(port, [DATAGRAM]);
    await lineWith(process, ({ received }) => received === 1);
    process.child.kill('SIGTERM');
    const { code, stdout } = await process.end();
    expect([code, totalOf(stdout).sinks.kept!.reports!.delivered]).toEqual([1, 1]);
  });

  test('moves the page for Prometheus to another port; its counters go on', async () => {
    const [first, second] = [await freeTcpPort(), await freeTcpPort()];
    const page = (port: number, more = ''): string => `prometheus: { listen: "127.0.0.1:${port}"${more} }`;
    const { process, port } = await collecting('page.yaml', config([page(first)]));
    await process.saying(/metrics on /);
    const texts = async (at: number): Promise<string> => (await fetch(`http://127.0.0.1:${at}/metrics`)).text();
    await send(port, [DATAGRAM]);
    await lineWith(process, ({ received }) => received === 1);
    const told = await reconfigured(process, 'page.yaml', config([page(second)]), false);
    expect(told).toContain(`metrics on http://127.0.0.1:${second}/metrics`);
    await expect(fetch(`http://127.0.0.1:${first}/metrics`)).rejects.toThrow();
    await send(port, [DATAGRAM]);
    await until('both datagrams on the page', async () =>
      (await texts(second)).includes('int_switch_hops_total{switch="153"} 2') ? true : null,
    );
    // Labels change on the server that is there.
    await reconfigured(process, 'page.yaml', config([page(second, ', labels: { site: a }')]), false);
    await until('the label', async () => ((await texts(second)).includes('site="a"') ? true : null));
    // Other names by which it may be asked for need another server on the same port.
    const told2 = await reconfigured(
      process,
      'page.yaml',
      config([page(second, ', labels: { site: a }, allowHosts: [metrics.example]')]),
      false,
    );
    expect(told2).toContain('in force: sink prometheus replaced');
    expect(await texts(second)).toContain('int_switch_hops_total{switch="153",site="a"} 2');
    // A port that somebody has.
    const taken = await reconfigured(process, 'page.yaml', config([page(await silence())]), false);
    expect(taken).toMatch(/another program listens on this port/);
    expect(await texts(second)).toContain('site="a"');
    process.child.kill('SIGTERM');
    expect((await process.end()).code).toBe(1);
  });

  test('moves a source to another port, and changes one on its port', async () => {
    const [first, second, taken] = [await freeUdpPort(), await freeUdpPort(), await freeUdpPort()];
    const text = (...sources: string[]): string => `version: 1\nsources: [${sources.join(', ')}]\n`;
    const udp = (at: number, more = ''): string => `{ udp: { listen: "127.0.0.1:${at}"${more} } }`;
    const { process } = await collecting('ports.yaml', text(udp(first)));
    await send(first, [DATAGRAM]);
    await lineWith(process, ({ received }) => received === 1);
    let told = await reconfigured(process, 'ports.yaml', text(udp(first), udp(second)), false);
    expect(told).toContain(`listening on udp://127.0.0.1:${second}`);
    expect(told).not.toContain(`listening on udp://127.0.0.1:${first}`);
    await send(first, [DATAGRAM]);
    await send(second, [DATAGRAM]);
    await lineWith(process, ({ received }) => received === 3);
    // The old socket closes, then the new one opens.
    told = await reconfigured(process, 'ports.yaml', text(udp(second, ', slabs: 8')), false);
    expect(told).toContain(`listening on udp://127.0.0.1:${second}`);
    await send(second, [DATAGRAM]);
    await lineWith(process, ({ received }) => received === 4);
    const other = new Running(['collect', '--listen', `udp://127.0.0.1:${taken}`]);
    await other.saying(/listening/);
    told = await reconfigured(process, 'ports.yaml', text(udp(taken)), false);
    expect(told).toMatch(/another program listens on this port/);
    await send(second, [DATAGRAM]);
    await lineWith(process, ({ received }) => received === 5);
    process.child.kill('SIGTERM');
    other.child.kill('SIGTERM');
    const { stdout } = await process.end();
    expect(totalOf(stdout)).toMatchObject({ received: 5, decoded: 5 });
  });

  test('hands the spool of a Kafka sink over to one of other options or another name, and loses nothing', async () => {
    const brokers = `"127.0.0.1:${await silence()}"`;
    const bus = (more: string): string =>
      `kafka: { brokers: [${brokers}], durability: spool, spool: { directory: spool${more}`;
    const brief = (sinks: readonly string[]): string => config(sinks).replace('20s', '1s');
    const { process, port } = await collecting('spool.yaml', brief([bus(', limit: 8MiB } }')]));
    const sender = sending(port);
    await lineWith(process, ({ sinks }) => (sinks.kafka?.reports?.pending ?? 0) > 200);
    // The same name: one line in the totals, in which nothing is counted twice.
    let told = await reconfigured(process, 'spool.yaml', brief([bus(', limit: 16MiB }, prefix: other. }')]));
    expect(told).toMatch(/in force: sink kafka replaced$/m);
    const { received } = ndjson(process.stdout).at(-1) as unknown as Line;
    await lineWith(process, (line) => line.received > received + 200);
    const wrong = bus(', limit: 16MiB }, batch: 1B }');
    told = await reconfigured(process, 'spool.yaml', brief([wrong]), false);
    expect(told).toMatch(/spool\.yaml:\d+:\d+: batchBytes/);
    await lineWith(process, (line) => line.received > received + 400);
    const sent = await sender.stop();
    process.child.kill('SIGTERM');
    const { stdout } = await process.end();
    const total = totalOf(stdout);
    const { offered, pending, delivered, dropped } = total.sinks.kafka!.reports!;
    expect({ offered, delivered, dropped: sum(dropped) }).toEqual({ offered: total.reports, delivered: 0, dropped: 0 });
    expect([pending, total.received]).toEqual([total.reports, sent]);
    // Another run finds all of them.
    const named = bus(', limit: 16MiB }, name: later }');
    const again = await collecting('spool.yaml', brief([named]));
    await lineWith(again.process, ({ sinks }) => sinks.later?.reports?.pending === pending);
    told = await reconfigured(again.process, 'spool.yaml', brief([named.replace('later', 'last')]));
    expect(told).toMatch(/in force: sink last added, sink later removed$/m);
    await lineWith(again.process, ({ sinks }) => sinks.last?.reports?.pending === pending);
    again.process.child.kill('SIGTERM');
    totalOf((await again.process.end()).stdout);
  });

  test('begins with more, fewer and no workers, whose flows go to the sinks', async () => {
    const rest = (workers: string): string => `${workers}flows: { rows: 1024 }\n`;
    const text = (workers: string): string => config([parquet('by-workers')], rest(workers));
    const { process, port } = await collecting('workers.yaml', text(''));
    const sender = sending(port);
    await lineWith(process, ({ received }) => received > 50);
    for (const [workers, words] of [
      ['workers: 2\n', 'workers changed'],
      ['workers: 1\n', 'workers changed'],
      ['', 'workers changed'],
    ] as const) {
      const told = await reconfigured(process, 'workers.yaml', text(workers), false);
      expect(told).toContain(`in force: ${words}`);
      const { received } = ndjson(process.stdout).at(-1) as unknown as Line;
      await lineWith(process, (line) => line.received > received + 50);
    }
    const sent = await sender.stop();
    process.child.kill('SIGTERM');
    const { code, stdout } = await process.end();
    const total = totalOf(stdout);
    // While threads begin and end the source fills its slabs; on a busy machine they are not enough, which is counted.
    const read = sent - total.dropped.overrun!;
    expect([code, total.received, total.reports]).toEqual([0, sent, read]);
    expect(read).toBeGreaterThan(0.5 * sent);
    // Each packet that was read is in an entry of one cache, and each entry in a file.
    const sql = 'SELECT sum(packets) AS packets FROM flows';
    const counted = await run(['query', sql, '--store', files.path('by-workers'), '--json']);
    expect(Number(ndjson(counted.stdout)[0]!.packets)).toBe(read);
    expect(total.sinks.workers!.reports!.delivered).toBeGreaterThan(100);
  });

  test('reads reports by other decode options from then on', async () => {
    const { process, port } = await collecting('decode.yaml', config([parquet('decoded')]));
    await send(port, [DATAGRAM]);
    await lineWith(process, ({ received }) => received === 1);
    const told = await reconfigured(
      process,
      'decode.yaml',
      config([parquet('decoded')], 'decode: { intPorts: [5001] }\n'),
    );
    expect(told).toContain('in force: decode changed');
    await send(port, [DATAGRAM, payload(coalescedFrame())]);
    await lineWith(process, ({ received }) => received === 3);
    process.child.kill('SIGTERM');
    const { code, stdout } = await process.end();
    expect([code, totalOf(stdout).decoded]).toEqual([0, 3]);
  });

  test('knows other switches, senders and units from then on', async () => {
    await files.write('net.yaml', 'switches: { 1: { name: a }, 2: {}, 153: {} }\n');
    await files.write('less.yaml', 'switches: { 1: { name: a }, 153: {} }\n');
    const known = (rest: string): string => config([parquet('known'), 'prometheus: { listen: "127.0.0.1:0" }'], rest);
    const { process, port } = await collecting('known.yaml', known('topology: net.yaml\n'));
    await send(port, [DATAGRAM]);
    await lineWith(process, ({ reports }) => reports === 1);
    expect(await reconfigured(process, 'known.yaml', known('topology: less.yaml\n'))).toContain('topology changed');
    await send(port, [DATAGRAM]);
    await lineWith(process, ({ dropped }) => dropped['unknown-switch'] === 1);
    const units = 'device: { units: { hopLatency: us } }\n';
    const all = `topology: less.yaml\nkeepUnknownSwitches: true\n${units}`;
    expect(await reconfigured(process, 'known.yaml', known(all))).toMatch(
      /in force: device changed, keepUnknownSwitches changed$/m,
    );
    await send(port, [DATAGRAM]);
    await lineWith(process, ({ reports }) => reports === 2);
    expect(ndjson(process.stdout).filter(({ type }) => type === 'units')).toMatchObject([
      { units: { hopLatency: { text: 'us' } } },
    ]);
    const from = process.stderr.length;
    await reconfigured(process, 'known.yaml', known(all.replace('us }', 'us }, sources: [10.9.9.9]')));
    const [, next] = /listening on udp:\/\/127\.0\.0\.1:(\d+)/.exec(process.stderr.slice(from))!;
    await send(Number(next), [DATAGRAM]);
    await lineWith(process, ({ dropped }) => dropped['unknown-source'] === 1);
    process.child.kill('SIGTERM');
    const { stdout } = await process.end();
    expect(totalOf(stdout)).toMatchObject({ reports: 2, dropped: { 'unknown-source': 1, 'unknown-switch': 1 } });
    expect(await reportsIn('known')).toBe(2);
  });

  test('ends in time at a signal during a change whose old sink does not close', async () => {
    const redis = `redis: { url: "redis://127.0.0.1:${await silence()}" }`;
    const rest = 'flows: { rows: 16 }\n';
    const { process, port } = await collecting('slow.yaml', config([redis], rest).replace('20s', '3s'));
    await send(port, [DATAGRAM]);
    await lineWith(process, ({ received }) => received === 1);
    // The cache is emptied into the sink, which then has something that nobody takes.
    const changed = config([parquet('slow')]).replace('20s', '3s');
    await replace('slow.yaml', changed);
    process.child.kill('SIGHUP');
    await sleep(500);
    const began = performance.now();
    process.child.kill('SIGTERM');
    const { stdout, stderr } = await process.end();
    expect(performance.now() - began).toBeLessThan(20_000);
    expect(stderr).not.toMatch(/given up$/m);
    const total = totalOf(stdout);
    expect(total.received).toBe(1);
    expect(total.sinks.redis!.flows!.offered).toBe(1);
  });

  test('shows in the live view what has become of it', async () => {
    const path = await replace('view.yaml', config([parquet('view')]));
    let [step, isSent] = [0, false];
    const { stdout } = await run(['collect', '--config', path], {
      terminal: { columns: 120, rows: 40 },
      interruptWhen: ({ stdout: shown }) => {
        if (step === 0 && shown.includes('int collect')) {
          step = 1;
          void replace('view.yaml', 'version: 2\n');
        } else if (step === 1 && shown.includes("view.yaml:1:1: 'sources' is missing")) {
          step = 2;
          void replace('view.yaml', config([parquet('seen')])).then(() => {
            isSent = true;
          });
        }
        return isSent && shown.includes('in force: sink seen added, sink view removed');
      },
    });
    expect(stdout).toContain("view.yaml:1:1: 'sources' is missing");
  });
});

function rules(name: string): string {
  return `version: 1\nrules: [{ name: ${name}, priority: 1, match: any, detect: { noop: {} } }]\n`;
}
