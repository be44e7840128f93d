/** A signal ends the commands of the network in every state, also where what they wait for never comes. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { startCluster } from '../../../.ci/kafka/cluster.mjs';
import { requireKafka } from '../../../.ci/kafka/for-tests.js';
import { limit, requires } from '../../../.ci/test/requires.js';
import { inTime, until } from '../../../.ci/test/until.js';
import { pcap, reportFrame } from './captures.js';
import { payload, send } from './datagrams.js';
import { BIN, ndjson, temporaryFolder } from './run.js';

const files = temporaryFolder();

/** INT_LONG=1: all states. */
const inLong = test.runIf(process.env.INT_LONG === '1');
/** What never ends by itself has ended by then, however busy the machine is. */
const PATIENCE_MS = 40_000;

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

interface End {
  readonly code: number | null;
  readonly by: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command in a process of its own. */
class Command {
  readonly child: ChildProcess;
  stdout = '';
  stderr = '';
  readonly #ended: Promise<End>;

  /** @param options `reads`: whether anybody reads what it prints; `through`: a command in front of it */
  constructor(
    args: readonly string[],
    { reads = true, through = [] }: { reads?: boolean; through?: readonly string[] } = {},
  ) {
    const [program, ...rest] = [...through, process.execPath, BIN, ...args];
    this.child = spawn(program!, rest, { stdio: 'pipe' });
    ends.push(() => this.child.kill('SIGKILL'));
    if (reads) this.child.stdout!.setEncoding('utf8').on('data', (text: string) => this.#print(text));
    this.child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    this.#ended = new Promise((resolve) => {
      this.child.once('exit', (code, by) => {
        resolve({ code, by, stdout: this.stdout, stderr: this.stderr });
        // What nobody has read keeps the pipe open.
        this.child.stdout!.destroy();
      });
    });
  }

  #print(text: string): void {
    this.stdout += text;
  }

  async until(what: string, holds: () => boolean): Promise<void> {
    await until(`${what} of ${this.child.spawnargs.join(' ')}`, () => {
      const { exitCode, signalCode } = this.child;
      if (exitCode === null && signalCode === null) return holds();
      throw new Error(`ended (${exitCode ?? signalCode}): ${this.stderr}`);
    });
  }

  /** It prints something, of which no more is read than that: it is at work, and a signal is told to it. */
  async prints(): Promise<void> {
    await inTime(`output of ${this.child.spawnargs.join(' ')}`, once(this.child.stdout!, 'readable'), {
      found: () => this.stderr,
    });
  }

  saying(pattern: RegExp): Promise<void> {
    return this.until(String(pattern), () => pattern.test(this.stderr));
  }

  /** The port that it says that it listens on. */
  async port(): Promise<number> {
    await this.saying(/listening on udp:\/\/127\.0\.0\.1:(\d+)/);
    return Number(/udp:\/\/127\.0\.0\.1:(\d+)/.exec(this.stderr)![1]);
  }

  /** Ends it by signals, one after the other. */
  async signal(...signals: readonly NodeJS.Signals[]): Promise<End> {
    for (const [index, signal] of signals.entries()) {
      if (index > 0) await sleep(200);
      this.child.kill(signal);
    }
    return inTime(`the end after ${signals.join(', ')}`, this.#ended, {
      withinMs: PATIENCE_MS,
      found: () => this.stderr,
    });
  }
}

/** A server that takes connections and never answers. @returns its address, and how many connections it has taken */
async function silence(): Promise<{ readonly address: string; taken(): number }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.resume();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { address: `127.0.0.1:${(server.address() as { port: number }).port}`, taken: () => sockets.size };
}

/**
 * A server of names that does not answer.
 * @returns what to put in front of a command so that it asks this one, and how many have asked
 */
async function namesUnanswered(): Promise<{ readonly through: readonly string[]; asked(): number }> {
  const server = createSocket('udp4');
  const ports = new Set<number>();
  server.on('message', (_question, { port }) => ports.add(port));
  try {
    server.bind(53, '127.53.53.53');
    await once(server, 'listening');
  } catch {
    limit('port 53 cannot be had here, for a server of names');
  }
  ends.push(() => server.close());
  const resolv = await files.write('resolv.conf', 'nameserver 127.53.53.53\noptions timeout:30 attempts:5\n');
  const script = `mount --bind ${resolv} /etc/resolv.conf && exec "$@"`;
  try {
    execFileSync('unshare', ['--mount', 'sh', '-c', script, 'sh', 'true'], { stdio: 'ignore' });
  } catch {
    limit('the file with the servers of names cannot be replaced here for one command');
  }
  return { through: ['unshare', '--mount', 'sh', '-c', script, 'sh'], asked: () => ports.size };
}

const config = (name: string, text: string): Promise<string> => files.write(name, `version: 1\n${text}`);
const UDP = 'sources: [{ udp: { listen: "127.0.0.1:0" } }]\n';

describe('while it opens', () => {
  test('a name that nobody resolves: the first signal ends it, and a second one at once', async () => {
    const { through, asked } = await namesUnanswered();
    const address = 'udp://collector.example:32766';
    const commands = [
      ['collect', '--listen', address],
      ['generate', '--to', address],
      ['replay', await files.write('one.pcap', ''), '--to', address],
      ['process', '--kafka', 'broker.example:9092'],
    ].map((args) => new Command(args, { through }));
    await until('a question from each', () => asked() >= commands.length);
    const [second, ...others] = commands;
    // Where the system's threads wait, the process ends by the signal itself.
    expect(await second!.signal('SIGTERM', 'SIGINT')).toMatchObject({ code: null, by: expect.stringMatching(/^SIG/) });
    for (const each of await Promise.all(others.map((command) => command.signal('SIGTERM')))) {
      expect(each.stderr).toMatch(/interrupted before .* open/);
    }
  });

  inLong('brokers that do not answer', async () => {
    const [one, other] = [await silence(), await silence()];
    const source = await config('source.yaml', `sources: [{ kafka: { brokers: ["${one.address}"] } }]\n`);
    const commands = [
      ['collect', '--config', source],
      ['process', '--kafka', other.address],
    ].map((args) => new Command(args));
    await until('a connection of each', () => one.taken() > 0 && other.taken() > 0);
    for (const { code, stderr } of await Promise.all(commands.map((command) => command.signal('SIGTERM')))) {
      expect(code).toBe(143);
      expect(stderr).toMatch(/interrupted before .* open/);
    }
  });
});

describe('while it works', () => {
  test('int collect under a burst, and for a sink that is dead, with totals that add up', async () => {
    const { address } = await silence();
    const path = await config(
      'burst.yaml',
      `${UDP}drain: 1s\nsinks: [{ kafka: { brokers: ["${address}"], whenFull: drop } }]\n`,
    );
    const command = new Command(['collect', '--config', path, '--json']);
    const port = await command.port();
    const socket = createSocket('udp4');
    let isOver = false;
    const datagram = payload(reportFrame());
    const bursting = (async (): Promise<void> => {
      for (; !isOver; await sleep(1)) {
        for (let n = 0; n < 50; n++) {
          await new Promise<void>((resolve) => socket.send(datagram, port, '127.0.0.1', () => resolve()));
        }
      }
    })();
    await command.until('reports', () => /"received":\d{4}/.test(command.stdout));
    const { code, stdout } = await command.signal('SIGTERM');
    isOver = true;
    await bursting;
    socket.close();
    expect(code).toBe(1);
    const total = ndjson(stdout).at(-1) as {
      type: string;
      received: number;
      decoded: number;
      dropped: Record<string, number>;
      sinks: { kafka: { reports: { offered: number; pending: number; dropped: Record<string, number> } } };
    };
    expect(total.type).toBe('total');
    const sum = (counts: Record<string, number>): number => Object.values(counts).reduce((a, b) => a + b, 0);
    expect(total.received).toBe(total.decoded + sum(total.dropped));
    const { offered, pending, dropped } = total.sinks.kafka.reports;
    expect([offered, pending]).toEqual([sum(dropped), 0]);
    expect(offered).toBe(total.decoded);
  });

  inLong('a sink that holds the pipeline up and is dead', async () => {
    const path = await config(
      'wait.yaml',
      `${UDP}drain: 2s\nsinks: [{ kafka: { brokers: ["${(await silence()).address}"], memory: 1MiB, batch: 256KiB } }]\n`,
    );
    const command = new Command(['collect', '--config', path, '--json']);
    const port = await command.port();
    // More than there is memory for: the pipeline waits.
    const socket = createSocket('udp4');
    for (let n = 0; n < 12_000; n++) {
      await new Promise<void>((resolve) => socket.send(payload(reportFrame()), port, '127.0.0.1', () => resolve()));
      if (n % 500 === 0) await sleep(1);
    }
    socket.close();
    await command.until('reports', () => /"received":\d{4}/.test(command.stdout));
    const { code, stdout } = await command.signal('SIGTERM');
    expect(code).toBe(1);
    expect(ndjson(stdout).at(-1)).toMatchObject({ type: 'total' });
  });

  test('pipes that nobody reads, or writes to, are given up when the time is over', async () => {
    const rules = await files.write(
      'rules.yaml',
      'version: 1\nrules: [{ name: all, priority: 1, match: any, detect: { noop: {} } }]\n',
    );
    const fifo = files.path('silent.pcap');
    execFileSync(requires('mkfifo', 'npm run setup:system'), [fifo]);
    const to = 'udp://127.0.0.1:9';
    const collect = ['collect', '--listen', 'udp://127.0.0.1:0', '--rules', rules, '--json', '--drain-timeout', '1s'];
    const collecting = new Command(collect, { reads: false });
    const others = [
      ['generate', '--packets', '100000000', '--output', '-'],
      ['replay', '-', '--to', to, '--json'],
      ['replay', fifo, '--to', to, '--json'],
    ].map((args) => new Command(args, { reads: false }));
    await send(
      await collecting.port(),
      Array.from({ length: 1500 }, () => payload(reportFrame())),
    );
    for (const command of [collecting, ...others]) await command.prints();
    // More than anybody reads.
    const { stdout } = collecting.child;
    await until('events', () => stdout!.readableLength >= stdout!.readableHighWaterMark);
    const commands = [collecting, ...others];
    const [collected] = await Promise.all(commands.map((command) => command.signal('SIGTERM')));
    expect(collected!.stderr).toMatch(/not ended \d s after the signal: given up/);
  });

  test('int generate and int replay while they send', async () => {
    // One each: what sends fast leaves no room for what sends slowly.
    const heard: Promise<unknown>[] = [];
    const open = async (): Promise<string> => {
      const sink = createSocket('udp4');
      sink.bind(0, '127.0.0.1');
      await once(sink, 'listening');
      ends.push(() => sink.close());
      heard.push(once(sink, 'message'));
      return `udp://127.0.0.1:${sink.address().port}`;
    };
    const capture = await files.write('replay.pcap', pcap([reportFrame()]));
    const replay = (to: string, rate: string): Command =>
      new Command(['replay', capture, '--to', to, '--loop', '0', '--rate', rate, '--json']);
    const commands = [
      new Command(['generate', '--packets', '100000000', '--to', await open()]),
      replay(await open(), '1000'),
      replay(await open(), '0.01'),
    ];
    await inTime('a datagram of each', Promise.all(heard));
    const [generated, fast, slow] = await Promise.all(commands.map((command) => command.signal('SIGINT')));
    expect(generated).toMatchObject({ code: 0, stderr: expect.stringMatching(/\d+ reports? sent/) as string });
    for (const { code, stdout } of [fast!, slow!]) {
      expect(code).toBe(0);
      expect(ndjson(stdout).at(-1)).toMatchObject({ type: 'total' });
    }
  });

  inLong('int process whose brokers have gone', async () => {
    requireKafka();
    const cluster = await startCluster({ brokers: 1 });
    ends.push(() => cluster.close());
    const command = new Command(['process', '--kafka', cluster.bootstrap.join(), '--json']);
    await command.saying(/working on/);
    const [broker] = cluster.brokers;
    // It takes connections, and does not answer any more.
    process.kill(broker!.pid!, 'SIGSTOP');
    try {
      await sleep(500);
      const { stdout } = await command.signal('SIGTERM');
      expect(ndjson(stdout).at(-1)).toMatchObject({ type: 'total' });
    } finally {
      process.kill(broker!.pid!, 'SIGCONT');
    }
  });

  inLong('a second signal ends it at once', async () => {
    const path = await config(
      'twice.yaml',
      `${UDP}drain: 1h\nsinks: [{ kafka: { brokers: ["${(await silence()).address}"] } }]\n`,
    );
    const command = new Command(['collect', '--config', path, '--json']);
    await send(await command.port(), [payload(reportFrame())]);
    await command.until('a report', () => command.stdout.includes('"received":1,'));
    expect(await command.signal('SIGTERM', 'SIGTERM')).toMatchObject({ code: null, by: 'SIGTERM' });
  });
});
