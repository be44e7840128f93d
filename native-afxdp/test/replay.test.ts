import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LinkType, PcapngWriter, PcapWriter } from '@int/pcap';
import { describe, expect, it, onTestFinished } from 'vitest';
import { requires } from '../../.ci/test/requires.js';
import { inTime, until } from '../../.ci/test/until.js';
import type { End, VethPair } from '../../.ci/test/veth-pair.js';
import { addon } from './addon.js';
import { FrameMaker } from './frames.js';
import { MODES, MOSTLY_DRIVER, pairFor } from './pair.js';
import { type Program, start } from './program.js';
import type { Receiver } from './replay.program.js';

/** The `int` command as it is installed. */
const INT = fileURLToPath(new URL('../../packages/cli/bin/int.js', import.meta.url));

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The command, running in the namespace of an end. */
class Replay {
  readonly child: ChildProcess;
  readonly ended: Promise<Outcome>;
  stdout = '';
  stderr = '';

  constructor(at: End, args: readonly string[]) {
    const ip = requires('ip', 'npm run setup:system');
    const words = ['netns', 'exec', at.namespace, process.execPath, INT, 'replay', ...args];
    this.child = spawn(ip, words, { env: { ...process.env, INT_AFXDP_ADDON: addon() } });
    this.child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
    });
    this.child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    const closed = new Promise<Outcome>((resolve) => {
      this.child.once('close', (code) => resolve({ code, stdout: this.stdout, stderr: this.stderr }));
    });
    this.ended = inTime('the end of int replay', closed, {
      withinMs: 50_000,
      found: () => this.stdout + this.stderr,
      inVain: () => this.child.kill('SIGKILL'),
    });
    // Whoever awaits it sees the rejection.
    this.ended.catch(() => {});
    onTestFinished(() => {
      this.child.kill('SIGKILL');
    });
  }

  /** Waits for text on standard error. @throws Error if it does not come */
  async saying(pattern: RegExp): Promise<void> {
    for (const since = Date.now(); !pattern.test(this.stderr); await new Promise((resolve) => setTimeout(resolve, 5))) {
      if (this.child.exitCode !== null || Date.now() - since > 20_000) throw new Error(`not said: ${this.stderr}`);
    }
  }
}

function replay(at: End, ...args: string[]): Promise<Outcome> {
  return new Replay(at, args).ended;
}

/** The last line of JSON. */
function total(stdout: string): Record<string, unknown> {
  return JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as Record<string, unknown>;
}

/** What is said besides that a busy machine was late. */
function said(stderr: string): string {
  return stderr.replace(/^int: .* s late: .*\n/gm, '');
}

/** A file for the running test. */
function file(name: string, ...parts: Uint8Array[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'int-replay-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, name);
  writeFileSync(path, Buffer.concat(parts));
  return path;
}

function capture(frames: readonly Uint8Array[]): string {
  const writer = new PcapWriter({ linkType: LinkType.ETHERNET });
  const records = frames.map((data, index) => writer.record({ data, timeNs: BigInt(index) * 100_000n }));
  return file('frames.pcap', writer.header(), ...records);
}

/** Numbered frames of several lengths. */
function numbered(count: number): Uint8Array[] {
  const maker = new FrameMaker({ sizes: [60, 61, 122, 500, 1514] });
  return Array.from({ length: count }, (_, index) => Uint8Array.from(maker.make(index)));
}

async function receiver(pair: VethPair, mode: (typeof MODES)[number]): Promise<Program<Receiver>> {
  const program = await start<Receiver>(new URL('replay.program.ts', import.meta.url), { at: pair.right });
  await program.call('listen', pair.right.interface, mode);
  return program;
}

async function finish(program: Program<Receiver>): Promise<void> {
  await program.call('close');
  await program.stop();
}

describe.each(MODES)('int replay --afxdp, received in %s mode', (mode) => {
  it('brings every frame of a capture across, byte for byte and in order, and counts what has left', async () => {
    const pair = await pairFor();
    const frames = numbered(4_000);
    const program = await receiver(pair, mode);
    const path = capture(frames);
    const args = ['--afxdp', pair.left.interface, '--loop', '2', '--rate', '8000', '--json'];
    const { code, stdout, stderr } = await replay(pair.left, path, ...args);
    expect({ code, said: said(stderr) }).toEqual({ code: 0, said: '' });
    expect(total(stdout)).toMatchObject({
      type: 'total',
      frames: 8_000,
      sent: 8_000,
      bytes: 2 * frames.reduce((sum, { length }) => sum + length, 0),
      skipped: { 'link-type': 0, 'too-long': 0, truncated: 0 },
      failed: {},
      loops: 2,
    });
    const arrived = await program.call('arrived', 8_000, 0);
    expect(arrived).toHaveLength(8_000);
    expect(arrived.findIndex((frame, index) => Buffer.compare(frame, frames[index % 4_000]!) !== 0)).toBe(-1);
    expect(pair.counters(pair.left).tx_packets).toBe(8_000);
    await finish(program);
  });
});

describe.each(MOSTLY_DRIVER)('int replay --afxdp, received in %s mode', (mode) => {
  it('keeps the pace of the capture and changes nothing but the addresses that are given', async () => {
    const pair = await pairFor();
    const frames = numbered(50);
    const program = await receiver(pair, mode);
    const path = capture(frames);
    const given = ['--destination-mac', '02:00:00:00:00:77', '--source-mac', '02:00:00:00:00:78'];
    const { code, stdout } = await replay(pair.left, path, '--afxdp', `${pair.left.interface}:0`, ...given);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^50 sent, 0 skipped, 0 failed in /);
    const arrived = await program.call('arrived', 50, 0);
    for (const [index, frame] of arrived.entries()) {
      expect(Buffer.from(frame.subarray(0, 12)).toString('hex')).toBe('020000000077020000000078');
      expect(Buffer.compare(frame.subarray(12), frames[index]!.subarray(12))).toBe(0);
    }
    await finish(program);
  });
});

describe('int replay --afxdp', () => {
  it('skips and counts what the interface does not take', async () => {
    const pair = await pairFor({ mtu: 1000 });
    const program = await receiver(pair, 'driver');
    const writer = new PcapngWriter({ interfaces: [{ linkType: LinkType.ETHERNET }, { linkType: LinkType.RAW }] });
    const frame = (length: number, interfaceId = 0, originalLength = length): Uint8Array =>
      writer.record({ data: new Uint8Array(length).fill(length), timeNs: 0n, interfaceId, originalLength });
    const path = file(
      'mixed.pcapng',
      writer.header(),
      frame(1018),
      frame(1019),
      frame(100, 1),
      frame(100, 0, 101),
      frame(13),
      frame(60),
    );
    const { code, stdout } = await replay(pair.left, path, '--afxdp', pair.left.interface, '--json');
    // Something that was asked for was not sent.
    expect(code).toBe(1);
    expect(total(stdout)).toMatchObject({
      frames: 6,
      sent: 2,
      bytes: 1078,
      skipped: { 'link-type': 1, 'too-long': 1, truncated: 2 },
    });
    const arrived = await program.call('arrived', 2, 0);
    expect(arrived.map(({ length }) => length)).toEqual([1018, 60]);
    await finish(program);
  });

  it('goes as fast as the interface takes frames, and all that it took are completed', async () => {
    const pair = await pairFor();
    const path = capture(numbered(1_000));
    const args = ['--afxdp', pair.left.interface, '--loop', '30', '--rate', 'max', '--json'];
    const { code, stdout } = await replay(pair.left, path, ...args);
    expect(code).toBe(0);
    expect(total(stdout)).toMatchObject({ frames: 30_000, sent: 30_000, failed: {}, loops: 30 });
    expect(pair.counters(pair.left).tx_packets + pair.counters(pair.left).tx_dropped).toBe(30_000);
  });

  it('ends with what has left when it is interrupted', async () => {
    const pair = await pairFor();
    const program = await receiver(pair, 'driver');
    const path = capture(numbered(10));
    const args = [path, '--afxdp', pair.left.interface, '--loop', '0', '--rate', '300', '--json'];
    const running = new Replay(pair.left, args);
    await program.call('arrived', 25, 0);
    running.child.kill('SIGINT');
    const { code, stdout, stderr } = await running.ended;
    expect(code).toBe(0);
    const sent = total(stdout).sent as number;
    expect(said(stderr)).toBe(`int: interrupted after ${sent} frames\n`);
    expect(await program.call('arrived', sent, 0)).toHaveLength(sent);
    await finish(program);
  });

  it('says what to do when the interface cannot be opened', async () => {
    const pair = await pairFor();
    const path = capture(numbered(1));
    const none = await replay(pair.left, path, '--afxdp', 'none0');
    expect(none.code).toBe(3);
    expect(none.stderr).toMatch(/^int: cannot open none0: .*none0/);
    expect(none.stdout).toBe('');
    const queue = await replay(pair.left, path, '--afxdp', `${pair.left.interface}:7`);
    expect(queue.code).toBe(3);
    expect(queue.stderr).toMatch(/queue 7/);
  });

  it('waits for the interface, also for one that was made again, and sends what is left', async () => {
    const pair = await pairFor();
    const first = await receiver(pair, 'driver');
    const frames = numbered(300);
    const numbers = new Map(frames.map((frame, number) => [Buffer.from(frame).toString('hex'), number]));
    const path = capture(frames);
    const running = new Replay(pair.left, [path, '--afxdp', pair.left.interface, '--rate', '100', '--json']);
    await first.call('arrived', 20, 0);
    pair.ip(pair.left, 'link', 'set', pair.left.interface, 'down');
    await running.saying(/int: left0 is down.* Waiting for it\.\n/);
    pair.ip(pair.left, 'link', 'set', pair.left.interface, 'up');
    await running.saying(/int: left0 is up again after \d+\.\d s\n/);
    const before = await first.call('arrived', 30, 0);
    pair.removeLink();
    await running.saying(/up again[\s\S]*int: left0 .* Waiting for it\.\n/);
    pair.makeLink();
    const second = await receiver(pair, 'driver');
    await running.saying(/up again[\s\S]*up again/);
    const { code, stdout } = await running.ended;
    const totals = total(stdout) as { sent: number; failed: { 'not-completed'?: number } };
    const lost = totals.failed['not-completed'] ?? 0;
    expect(totals).toMatchObject({ frames: 300, sent: 300 - lost, outages: 2, loops: 1 });
    expect(code).toBe(lost === 0 ? 0 : 1);
    const numberOf = (frame: Uint8Array): number => numbers.get(Buffer.from(frame).toString('hex')) ?? -1;
    let after: readonly Uint8Array[] = [];
    for (const since = Date.now(); numberOf(after.at(-1) ?? frames[0]!) !== 299 && Date.now() - since < 20_000; ) {
      after = await second.call('arrived', 1, 0);
    }
    // In order, and none twice; what was on its way when the cable went is lost.
    const all = [...before, ...after].map(numberOf);
    expect(all).toEqual([...new Set(all)].sort((a, b) => a - b));
    expect(all.at(-1)).toBe(299);
    await finish(second);
  });

  it('ends at a signal while it waits for the interface', async () => {
    const pair = await pairFor();
    const path = capture(numbered(10));
    const args = [path, '--afxdp', pair.left.interface, '--loop', '0', '--rate', '500', '--json'];
    const running = new Replay(pair.left, args);
    await until('20 frames', () => pair.counters(pair.left).tx_packets >= 20, { everyMs: 10 });
    pair.removeLink();
    await running.saying(/left0 .* Waiting for it/);
    running.child.kill('SIGINT');
    const { stdout } = await running.ended;
    expect(total(stdout)).toMatchObject({ type: 'total', outages: 1 });
  });

  it.each([
    ['down', 'set'],
    ['away', 'delete'],
  ])('--on-down exit: ends when the interface goes %s, with the totals of what left before', async (_where, how) => {
    const pair = await pairFor();
    const path = capture(numbered(10));
    const exit = ['--on-down', 'exit'];
    const args = [path, '--afxdp', pair.left.interface, '--loop', '0', '--rate', '500', '--json', ...exit];
    const running = new Replay(pair.left, args);
    await until('20 frames', () => pair.counters(pair.left).tx_packets >= 20, { everyMs: 10 });
    pair.ip(pair.left, 'link', how, pair.left.interface, ...(how === 'set' ? ['down'] : []));
    const { code, stdout, stderr } = await running.ended;
    expect(code).toBe(3);
    expect(stderr).toContain(`cannot send by ${pair.left.interface}: `);
    expect(total(stdout)).toMatchObject({ type: 'total' });
    expect(total(stdout).sent).toBeGreaterThanOrEqual(20);
  });
});
