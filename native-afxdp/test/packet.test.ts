import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { requires } from '../../.ci/test/requires.js';
import { until } from '../../.ci/test/until.js';
import { type End, VethPair } from '../../.ci/test/veth-pair.js';
import type { Build } from './addon.js';
import type { Packets } from './packet.program.js';
import { mostly } from './pair.js';
import { type Program, start } from './program.js';

const PROGRAM = new URL('packet.program.ts', import.meta.url);

function frame(number: number, length = 60): Uint8Array {
  const bytes = new Uint8Array(length);
  bytes.set([2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8, 0x88, 0xb5]);
  if (length >= 16) bytes.set([number >> 8, number & 255], 14);
  for (let at = 16; at < length; at++) bytes[at] = at * number;
  return bytes;
}

const digest = (frames: readonly Uint8Array[]): string[] =>
  frames.map((each) => `${each.length} ${createHash('sha256').update(each).digest('hex').slice(0, 12)}`);

async function scene(
  build: Build,
  frameSize = 2048,
): Promise<{ pair: VethPair; left: Program<Packets>; right: Program<Packets> }> {
  const pair = VethPair.make();
  onTestFinished(() => pair.remove());
  const open = async (end: End): Promise<Program<Packets>> => {
    const program = await start<Packets>(PROGRAM, { at: end, build });
    await program.call('open', end.interface, frameSize);
    return program;
  };
  return { pair, left: await open(pair.left), right: await open(pair.right) };
}

/** Runs a command at an end. */
function at(end: End, ...command: readonly string[]): void {
  const { status, stderr } = spawnSync('ip', ['netns', 'exec', end.namespace, ...command], {
    encoding: 'utf8',
    timeout: 30_000,
  });
  if (status !== 0) throw new Error(`${command.join(' ')}: ${stderr}`);
}

describe.each(mostly('sanitized'))('a packet socket, %s', (_, build) => {
  it('sends and receives all frames of its interface, in order, and none that it has sent', async () => {
    const { left, right } = await scene(build);
    const frames = Array.from({ length: 60 }, (_, i) => frame(i, 14 + i * 24));
    frames[0] = frame(0, 14);
    expect(await left.call('send', frames)).toBe(0);
    expect(digest(await right.call('received', 60))).toEqual(digest(frames));
    await right.call('send', [frame(500)]);
    expect(digest(await left.call('received', 1))).toEqual(digest([frame(500)]));
    const bytes = frames.reduce((sum, { length }) => sum + length, 0);
    expect(await left.call('stats')).toMatchObject({ sent: 60, sentBytes: bytes, received: 1, unsent: 0 });
    expect(await right.call('stats')).toMatchObject({
      received: 60,
      receivedBytes: bytes,
      tooLong: 0,
      kernel: { rxDropped: 0 },
    });
    await Promise.all([left.stop(), right.stop()]);
  });

  it('counts what is too long for its memory or for the interface, and goes on', async () => {
    const { left, right } = await scene(build, 1024);
    expect(await left.call('send', [frame(1), frame(2, 1020), frame(3)])).toBe(0);
    expect(digest(await right.call('received', 3))).toEqual(digest([frame(1), frame(2, 1020), frame(3)]));
    await Promise.all([left.stop(), right.stop()]);

    const { pair, left: other, right: short } = await scene(build);
    await other.call('send', [frame(4, 1600), frame(5)]);
    expect(digest(await short.call('received', 1))).toEqual(digest([frame(5)]));
    expect(await other.call('stats')).toMatchObject({ sent: 1, unsent: 1 });
    await short.stop();
    const tiny = await start<Packets>(PROGRAM, { at: pair.right, build });
    await tiny.call('open', pair.right.interface, 128);
    await other.call('send', [frame(6, 125), frame(7, 124), frame(8)]);
    expect(digest(await tiny.call('received', 2))).toEqual(digest([frame(7, 124), frame(8)]));
    expect(await tiny.call('stats')).toMatchObject({ received: 2, tooLong: 1 });
    await Promise.all([other.stop(), tiny.stop()]);
  });

  it('restores VLAN tags that the kernel takes out, and completes checksums left to a card', async () => {
    requires('ethtool', 'npm run setup:system');
    const { pair, left, right } = await scene(build);
    const tagged = frame(9, 80);
    tagged.set([0x81, 0x00, 0x20, 0x07, 0x08, 0x00], 12);
    await left.call('send', [tagged]);
    expect(digest(await right.call('received', 1))).toEqual(digest([tagged]));
    // Of the kernel itself, which leaves the checksum of UDP to a card.
    at(pair.left, 'ethtool', '-K', pair.left.interface, 'tx', 'on');
    at(
      pair.left,
      process.execPath,
      '-e',
      `const s = require('node:dgram').createSocket('udp4'); s.send('telemetry', 9, '${pair.right.ipv4}', () => s.close())`,
    );
    const [datagram] = await right.call('received', 1);
    const sum = (bytes: Uint8Array): number => {
      let total = 0;
      for (let i = 0; i < bytes.length; i += 2) total += (bytes[i]! << 8) | (bytes[i + 1] ?? 0);
      while (total > 0xffff) total = (total & 0xffff) + (total >> 16);
      return total;
    };
    const udp = datagram!.subarray(34, 34 + 17);
    const pseudo = Uint8Array.of(...datagram!.subarray(26, 34), 0, 17, 0, 17, ...udp);
    expect(sum(pseudo)).toBe(0xffff);
    expect(await right.call('stats')).toMatchObject({ checksumsCompleted: 1 });
    await Promise.all([left.stop(), right.stop()]);
  });

  it('refuses misuse, and tells of an interface that goes down or away', async () => {
    const { pair, left, right } = await scene(build);
    expect(await left.call('misuse')).toEqual([
      'RangeError: the batch holds no received frames of this socket',
      'RangeError: the batch holds no frames of this socket to send',
      'RangeError: the batch holds frames',
      '0',
      'nothing',
      expect.stringMatching(/^RangeError: a row of the batch is no frame/),
      expect.stringMatching(/^RangeError: a row of the batch is no frame/),
      'nothing',
      'XdpError: ERR_XDP_CLOSED',
    ]);
    const waiting = right.failure('received', 1);
    pair.setRight('down');
    expect(await waiting).toMatchObject({ name: 'XdpError', code: 'ERR_XDP_DOWN' });
    pair.setRight('up');
    const again = await start<Packets>(PROGRAM, { at: pair.left, build });
    await again.call('open', pair.left.interface, 2048);
    // It works again.
    await until('a frame', async () => {
      await again.call('send', [frame(77)]);
      return (await right.call('stats')).received > 0 || (await right.call('received', 1)).length > 0;
    });
    pair.removeLink();
    expect(await again.failure('send', [frame(1)])).toMatchObject({ name: 'XdpError', code: 'ERR_XDP_NO_DEVICE' });
    await Promise.all([left.stop(), right.kill(), again.kill()]);
    const none = await start<Packets>(PROGRAM, { at: pair.left, build });
    expect(await none.failure('open', 'nothing0', 2048)).toMatchObject({ code: 'ERR_XDP_NO_DEVICE' });
    expect(await none.failure('open', 'lo', 10)).toMatchObject({ name: 'RangeError' });
    await none.stop();
  });
});
