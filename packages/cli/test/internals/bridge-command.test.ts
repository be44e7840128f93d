/** `int bridge` with ports in memory: what it prints, and how it ends. */
import { PassThrough, Readable } from 'node:stream';
import { SourceError } from '@int/collector';
import { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { inTime, until } from '../../../../.ci/test/until.js';
import type { OpenSides, OpenSidesOptions } from '../../src/bridge/frame-port.js';
import { define } from '../../src/commands/bridge.js';
import { CliError, type Io } from '../../src/io.js';
import { hostFrame, unsoundFrame, withInt } from '../bridge-frames.js';
import { reportFrame } from '../captures.js';
import { ndjson, run, temporaryFolder } from '../run.js';
import { MemoryPort, MemoryRows, MemorySide } from './bridge-ports.js';

const files = temporaryFolder();

const RULES = `version: 1
units: { hopLatency: ns }
rules:
  - name: slow
    priority: 1
    match: any
    detect: { threshold: { metric: hopLatency, threshold: 500ns, scope: hop } }
`;

/** A terminal, or a pipe. */
class Screen extends PassThrough {
  isTTY = false;
  columns = 120;
  rows = 30;
  text = '';

  constructor(isTTY: boolean) {
    super();
    this.isTTY = isTTY;
    this.on('data', (chunk: Buffer) => {
      this.text += chunk.toString();
    });
  }
}

/** The command at work, with the ends of both wires in the test's hands. */
class Bridge {
  readonly innerSide = new MemorySide('in0', () => [new MemoryPort('in0')]);
  readonly outerSide = new MemorySide('out0', () => [new MemoryPort('out0')]);
  readonly inner = this.innerSide.port;
  readonly outer = this.outerSide.port;
  readonly stdout: Screen;
  readonly stderr: Screen;
  asked: OpenSidesOptions | null = null;
  readonly #stopping = new AbortController();
  readonly #ended: Promise<number>;

  constructor(
    args: readonly string[],
    { isTTY = false, fails = null }: { isTTY?: boolean; fails?: Error | null } = {},
  ) {
    this.stdout = new Screen(isTTY);
    this.stderr = new Screen(isTTY);
    const { signal } = this.#stopping;
    const io: Io = { stdin: Readable.from([]), stdout: this.stdout, stderr: this.stderr, env: {}, signal };
    const open: OpenSides = async (options) => {
      this.asked = options;
      if (fails !== null) throw fails;
      return { inner: this.innerSide, outer: this.outerSide, rows: (capacity) => new MemoryRows(capacity) };
    };
    this.#ended = new Promise((resolve, reject) => {
      const program = new Command('int').exitOverride();
      define(program.command('bridge'), io, resolve, open);
      program.parseAsync(['node', 'int', 'bridge', 'in0', 'out0', '--rows', '1024', ...args]).catch(reject);
    });
    this.#ended.catch(() => {});
  }

  async forwarded(count: number): Promise<void> {
    await until(`${count} frames forwarded`, () => this.outer.sent.length === count);
  }

  interrupt(): Promise<number> {
    this.#stopping.abort();
    return this.ended();
  }

  ended(): Promise<number> {
    return inTime('the end of int bridge', this.#ended, { found: () => this.stdout.text + this.stderr.text });
  }
}

describe('int bridge --json', () => {
  test('prints events, statistics, flows, and totals that add up', async () => {
    const bridge = new Bridge(['--json', '--rules', await files.write('rules.yaml', RULES)]);
    await until('the start', () => bridge.stderr.text.includes('bridging'));
    expect(bridge.stderr.text).toBe('int: bridging in0 (memory) to out0 (memory)\n');
    expect(bridge.asked).toMatchObject({ inner: 'in0', outer: 'out0', mode: 'auto', isOneWay: false });
    bridge.inner.deliver(withInt(hostFrame(1), [100, 600]));
    bridge.inner.deliver(withInt(hostFrame(1), [100, 200]));
    bridge.inner.deliver(withInt(hostFrame(2), [100], { discard: true }));
    bridge.inner.deliver(hostFrame(3));
    bridge.outer.deliver(hostFrame(4));
    await bridge.forwarded(3);
    await until('a frame returned', () => bridge.inner.sent.length === 1);
    expect(await bridge.interrupt()).toBe(0);
    expect([bridge.innerSide.detached, bridge.outerSide.detached]).toEqual([true, true]);

    const lines = ndjson(bridge.stdout.text);
    const of = (type: string): Record<string, unknown>[] => lines.filter((line) => line.type === type);
    expect(of('event')).toMatchObject([{ rule: 'slow', nodeId: 2, value: 600, frame: 1, index: 0 }]);
    expect(of('summary')).toMatchObject([{ reports: 3, events: 1 }]);
    expect(of('flow').map(({ packets, flow }) => [packets, (flow as { sourcePort: number }).sourcePort])).toEqual([
      [2, 1025],
      [1, 1026],
    ]);
    const counters = {
      received: 4,
      forwarded: 3,
      stripped: 2,
      plain: 1,
      unstripped: 0,
      dropped: { discard: 1, 'tx-full': 0, failed: 0 },
      returned: 1,
      returnDropped: { 'tx-full': 0, failed: 0 },
      kernelDropped: 0,
      returnKernelDropped: 0,
      outages: { in: 0, out: 0 },
      decoded: 3,
      reports: 3,
      errors: {},
    };
    expect(of('stats').at(-1)).toMatchObject({ ...counters, detection: { events: 1 } });
    expect((of('stats').at(-1)!.switches as { nodeId: number }[]).map(({ nodeId }) => nodeId)).toEqual([1, 2]);
    const flows = {
      packets: 3,
      flows: 2,
      evicted: { entries: 0, packets: 0 },
      aged: { entries: 0, packets: 0 },
      lost: {},
      pathChanges: 0,
      hopsBeyond: 0,
      notOk: 0,
    };
    expect(lines.at(-1)).toEqual({ type: 'total', ...counters, flows });
  });

  test('forwards and strips what unknown senders and switches send, and takes none of it as telemetry', async () => {
    const rules = await files.write('who-rules.yaml', RULES);
    const topology = await files.write('who.yaml', 'switches: { 1: { name: leaf-1 }, 2: { name: leaf-2 } }\n');
    const args = ['--rules', rules, '--topology', topology, '--from', '10.0.1.1'];
    const deliver = async (bridge: Bridge): Promise<void> => {
      await until('the start', () => bridge.stderr.text.includes('bridging'));
      bridge.inner.deliver(withInt(hostFrame(1), [100, 600]));
      bridge.inner.deliver(withInt(hostFrame(2), [100, 600, 700]));
      const foreign = withInt(hostFrame(3), [100, 600]);
      // 10.0.1.9
      foreign[29] = 9;
      bridge.inner.deliver(foreign);
      bridge.inner.deliver(hostFrame(4));
      await bridge.forwarded(4);
      expect(await bridge.interrupt()).toBe(0);
    };
    const json = new Bridge(['--json', ...args]);
    await deliver(json);
    const lines = ndjson(json.stdout.text);
    const refused = { 'unknown-source': 1, 'unknown-switch': 1 };
    expect(lines.at(-1)).toMatchObject({ received: 4, forwarded: 4, stripped: 3, decoded: 1, reports: 1, refused });
    expect(lines.filter(({ type }) => type === 'event')).toHaveLength(1);
    expect(lines.filter(({ type }) => type === 'flow')).toHaveLength(1);
    const words = new Bridge(args);
    await deliver(words);
    expect(words.stdout.text).toContain('forwarded, and not taken as telemetry: unknown-source 1, unknown-switch 1\n');
    const kept = new Bridge(['--json', '--topology', topology, '--keep-unknown-switches']);
    await deliver(kept);
    expect(ndjson(kept.stdout.text).at(-1)).toMatchObject({ decoded: 3 });
    expect(ndjson(kept.stdout.text).at(-1)).not.toHaveProperty('refused');
  });

  test('with --report-port, also reads reports that pass, and forwards them as they are', async () => {
    const bridge = new Bridge(['--json', '--report-port', '32766', '--one-way', '--mode', 'generic']);
    const report = reportFrame();
    await until('the start', () => bridge.asked !== null);
    expect(bridge.asked).toMatchObject({ inner: 'in0', outer: 'out0', mode: 'generic', isOneWay: true });
    bridge.inner.deliver(report);
    await bridge.forwarded(1);
    expect(Buffer.from(bridge.outer.sent[0]!).equals(report)).toBe(true);
    await bridge.interrupt();
    expect(ndjson(bridge.stdout.text).at(-1)).toMatchObject({ received: 1, plain: 1, decoded: 1, reports: 1 });
  });

  test('does not look into reports that pass otherwise', async () => {
    const bridge = new Bridge(['--json']);
    await until('the start', () => bridge.asked !== null);
    bridge.inner.deliver(reportFrame());
    await bridge.forwarded(1);
    expect(await bridge.interrupt()).toBe(0);
    expect(ndjson(bridge.stdout.text).at(-1)).toMatchObject({ received: 1, plain: 1, decoded: 0, reports: 0 });
  });

  test('finds INT by the options', async () => {
    const bridge = new Bridge(['--json', '--int-port', '6000']);
    await until('the start', () => bridge.asked !== null);
    const packet = hostFrame(1);
    bridge.inner.deliver(withInt(packet, [1], { intPorts: [6000] }));
    bridge.inner.deliver(withInt(packet, [1]));
    await bridge.forwarded(2);
    await bridge.interrupt();
    expect(bridge.outer.sent.map((frame) => Buffer.from(frame).equals(packet))).toEqual([true, false]);
  });
});

describe('int bridge', () => {
  test('ends in words, with 1 if INT was not sound', async () => {
    const bridge = new Bridge([]);
    await until('the start', () => bridge.asked !== null);
    bridge.inner.deliver(withInt(hostFrame(1), [100, 600]));
    bridge.inner.deliver(unsoundFrame(2));
    await bridge.forwarded(2);
    expect(await bridge.interrupt()).toBe(1);
    const text = bridge.stdout.text;
    expect(text).toMatch(/in to out +2 +1 +0 +1 +0 +0\nout to in +0 +0 +0 +0 +0 +0\n/);
    expect(text).toContain('INT that is not sound: BAD_SHIM_TYPE 1\n');
    expect(text).toMatch(/10\.0\.1\.1:1025 > 10\.0\.2\.2:80.* 1 > 2\n|10\.0\.1\.1.*1025.*\n/);
    expect(text.trimEnd().split('\n').at(-1)).toBe('2 received, 2 forwarded, 0 dropped');
  });

  test('prints a line each second', async () => {
    const bridge = new Bridge([]);
    await until('a line', () => bridge.stdout.text.includes('1 s'));
    bridge.inner.deliver(withInt(hostFrame(1), [100]));
    await until('another line', () => bridge.stdout.text.includes('1 received  1 forwarded  1 stripped  0 dropped'));
    expect(await bridge.interrupt()).toBe(0);
  });

  test('shows a live view in a terminal, and the totals after it', async () => {
    const bridge = new Bridge(['--rules', await files.write('rules.yaml', RULES)], { isTTY: true });
    await until('the start', () => bridge.asked !== null);
    for (let number = 0; number < 10; number++) bridge.inner.deliver(withInt(hostFrame(number), [100, 600]));
    bridge.outer.deliver(hostFrame(4));
    await until('the view', () =>
      bridge.stdout.text.includes('int bridge  in0 to out0: 10 of 10 forwarded, 10 stripped, 1 back  '),
    );
    expect(bridge.stdout.text).toContain('slow');
    expect(await bridge.interrupt()).toBe(0);
    expect(bridge.stdout.text.trimEnd().split('\n').at(-1)).toBe('10 received, 10 forwarded, 0 dropped');
  });

  test('ends with totals and 3 when an interface fails', async () => {
    const bridge = new Bridge([]);
    await until('the start', () => bridge.asked !== null);
    bridge.inner.deliver(hostFrame(1));
    await bridge.forwarded(1);
    bridge.outer.failure = new Error('out0 is down');
    expect(await bridge.ended()).toBe(3);
    expect(bridge.stderr.text).toContain('int: in0 to out0: out0 is down\n');
    expect(bridge.stdout.text.trimEnd().split('\n').at(-1)).toBe('1 received, 1 forwarded, 0 dropped');
  });

  test('ends when nobody reads any more', async () => {
    const bridge = new Bridge(['--json']);
    await until('the start', () => bridge.asked !== null);
    bridge.stdout.destroy();
    expect(await bridge.ended()).toBe(0);
    expect(bridge.inner.closed).toBe(true);
  });

  test('says which interface could not be opened', async () => {
    const fails = new SourceError('ERR_SOURCE_OPEN', 'out0', 'it is taken');
    await expect(new Bridge([], { fails }).ended()).rejects.toMatchObject({
      message: 'cannot open out0: it is taken',
      exitCode: 3,
    });
    await expect(new Bridge([], { fails: new CliError('not there', 3) }).ended()).rejects.toThrow('not there');
  });

  test('does not start with rules that are wrong', async () => {
    const rules = await files.write('wrong.yaml', 'version: 2\n');
    const bridge = new Bridge(['--rules', rules]);
    await expect(bridge.ended()).rejects.toMatchObject({ exitCode: 1 });
    expect(bridge.asked).toBeNull();
  });

  test.each([
    [['in0', 'in0'], 'a bridge needs two interfaces'],
    [['in0'], "missing required argument 'OUT'"],
    [['in0', 'out0', '--state', 'exact'], 'go with --rules FILE'],
    [['in0', 'out0', '--idle', '0'], 'Give a time above 0'],
    [['in0', 'out0', '--mode', 'fast'], 'Allowed choices are auto, driver, generic'],
  ])('refuses %j', async (args, words) => {
    const { code, stdout, stderr } = await run(['bridge', ...args]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(words);
  });

  test('without such interfaces, or AF_XDP at all, ends with 3 and names one', async () => {
    const { code, stdout, stderr } = await run(['bridge', 'nowhere0', 'nowhere1']);
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toMatch(/^int: cannot open nowhere0: .+\n$/);
  });
});
