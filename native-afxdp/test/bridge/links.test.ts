/** `int bridge` when an interface goes down, or away, and comes back. */
import { describe, expect, test } from 'vitest';
import { type Sent, SHAPES, sent } from './packets.js';
import { type Command, IN, OUT, Wire } from './wire.js';

/** INT_LONG=1: in both modes, and more outages. */
const IS_LONG = process.env.INT_LONG === '1';
const ROUNDS = IS_LONG ? [1, 2, 3] : [1, 2];

const hex = (frames: readonly Uint8Array[]): string[] => frames.map((frame) => Buffer.from(frame).toString('hex'));
const BY_PORT = SHAPES.find(({ name }) => name === 'by port')!;

const packets = (from: number, count: number): Sent[] =>
  Array.from({ length: count }, (_, index) => sent(BY_PORT, from + index, 2));

type Counters = Readonly<Record<'received' | 'forwarded' | 'decoded' | 'kernelDropped', number>> & {
  readonly dropped: Readonly<Record<string, number>>;
};

/** The last statistics, once they fulfil something. */
async function counted(bridge: Command, holds: (counters: Counters) => boolean): Promise<void> {
  await bridge.until(() => {
    const last = bridge.stdout.endsWith('\n') ? bridge.lines('stats').at(-1) : undefined;
    return last !== undefined && holds(last as unknown as Counters);
  });
}

const outages = (bridge: Command, what: RegExp): number => bridge.stderr.match(new RegExp(what, 'g'))?.length ?? 0;

interface Scene {
  readonly wire: Wire;
  readonly bridge: Command;
  /** Sends packets and expects that they arrive without their INT. */
  pass(some: readonly Sent[]): Promise<void>;
  /** Sends packets. */
  send(some: readonly Sent[]): Promise<void>;
  /** What has arrived at the destination, when there is so much. */
  arrived(count: number): Promise<readonly Uint8Array[]>;
}

async function scene(mode: string): Promise<Scene> {
  const wire = await Wire.make();
  const bridge = wire.bridge(IN, OUT, '--json', '--rows', '1024', '--mode', mode);
  await bridge.bridging();
  const source = await wire.end(wire.source);
  await source.call('open', wire.source.interface);
  const destination = await wire.end(wire.destination);
  await destination.call('open', wire.destination.interface);
  const send = async (some: readonly Sent[]): Promise<void> => {
    await source.call(
      'send',
      some.map(({ frame }) => frame),
    );
  };
  const arrived = (count: number): Promise<readonly Uint8Array[]> => destination.call('received', count);
  return {
    wire,
    bridge,
    send,
    arrived,
    async pass(some) {
      await send(some);
      expect(hex(await arrived(some.length))).toEqual(hex(some.map(({ packet }) => packet)));
    },
  };
}

describe.each(IS_LONG ? ['driver', 'generic'] : ['driver'])('int bridge, %s mode', (mode) => {
  test('waits while OUT is down: reads and counts what it cannot forward, and goes on when OUT is up', async () => {
    const { wire, bridge, pass, send } = await scene(mode);
    await pass(packets(0, 20));
    for (const round of ROUNDS) {
      wire.setInterface(OUT, 'down');
      await send(packets(100 * round, 50));
      await counted(bridge, ({ dropped }) => dropped.failed === 50 * round);
      wire.setInterface(OUT, 'up');
      await bridge.until(() => outages(bridge, /left0 is up again/) === round);
      // Nothing of what came meanwhile arrives late.
      await pass(packets(100 * round + 50, 20));
    }
    const rounds = ROUNDS.length;
    expect(outages(bridge, /int: left0 is down.* Waiting for it\./)).toBe(rounds);
    expect(await bridge.interrupt()).toBe(0);
    expect(bridge.lines('total')[0]).toMatchObject({
      received: 20 + 70 * rounds,
      forwarded: 20 + 20 * rounds,
      stripped: 20 + 20 * rounds,
      dropped: { discard: 0, 'tx-full': 0, failed: 50 * rounds },
      decoded: 20 + 70 * rounds,
      kernelDropped: 0,
      outages: { in: 0, out: rounds },
    });
    for (const name of [IN, OUT]) expect(wire.state(name)).toEqual({ attached: false, promiscuous: false });
  });

  test('waits while IN is down, and for both that were removed and made again', async () => {
    const { wire, bridge, pass } = await scene(mode);
    await pass(packets(0, 20));
    wire.setInterface(IN, 'down');
    await bridge.until(() => outages(bridge, /right0 is down/) === 1);
    wire.setInterface(IN, 'up');
    await bridge.until(() => outages(bridge, /right0 is up again/) === 1);
    await pass(packets(20, 20));
    wire.removeInterface(OUT);
    wire.removeInterface(IN);
    await bridge.until(() => outages(bridge, /(left0|right0) has been removed.* Waiting for it\./) === 2);
    wire.remakeInterface(OUT);
    await bridge.until(() => outages(bridge, /left0 is up again/) === 1);
    wire.remakeInterface(IN);
    await bridge.until(() => outages(bridge, /right0 is up again/) === 2);
    for (const name of [IN, OUT]) expect(wire.state(name)).toEqual({ attached: true, promiscuous: true });
    const [source, destination] = [await wire.end(wire.source), await wire.end(wire.destination)];
    await source.call('open', wire.source.interface);
    await destination.call('open', wire.destination.interface);
    const some = packets(40, 20);
    await source.call(
      'send',
      some.map(({ frame }) => frame),
    );
    expect(hex(await destination.call('received', 20))).toEqual(hex(some.map(({ packet }) => packet)));
    await destination.call('send', [some[0]!.packet]);
    expect(hex(await source.call('received', 1))).toEqual(hex([some[0]!.packet]));
    expect(await bridge.interrupt()).toBe(0);
    expect(bridge.lines('total')[0]).toMatchObject({
      received: 60,
      forwarded: 60,
      decoded: 60,
      returned: 1,
      outages: { in: 2, out: 1 },
    });
  });
});

describe('int bridge', () => {
  test.runIf(IS_LONG)('ends at a signal while its interfaces are down or away, with totals', async () => {
    const { wire, bridge, send } = await scene('driver');
    wire.setInterface(OUT, 'down');
    await send(packets(0, 30));
    await counted(bridge, ({ received }) => received === 30);
    wire.removeInterface(IN);
    await bridge.until(() => outages(bridge, /right0 has been removed/) === 1);
    expect(await bridge.interrupt()).toBe(0);
    expect(bridge.lines('total')[0]).toMatchObject({ received: 30, forwarded: 0, dropped: { failed: 30 } });
  });

  test.runIf(IS_LONG)('accounts for every frame of an outage that is over at once', async () => {
    const { wire, bridge, send, arrived } = await scene('driver');
    let sent = 0;
    for (let round = 0; round < 4; round++) {
      await send(packets(sent, 20));
      wire.setInterface(OUT, 'down');
      await send(packets(sent + 20, 40));
      wire.setInterface(OUT, 'up');
      sent += 60;
    }
    await counted(bridge, ({ received }) => received === sent);
    expect(await bridge.interrupt()).toBe(0);
    const total = bridge.lines('total')[0] as unknown as Counters & { outages: { out: number } };
    expect(total).toMatchObject({ received: sent, decoded: sent, dropped: { discard: 0, 'tx-full': 0 } });
    expect(total.forwarded + total.dropped.failed!).toBe(sent);
    expect(total.outages.out).toBeGreaterThanOrEqual(1);
    // Each of those that it forwarded is there, and none that it did not: in order, and once.
    const frames = await arrived(total.forwarded);
    const all = packets(0, sent).map(({ packet }) => packet);
    expect(hex(frames)).toEqual(hex(all).filter((packet) => hex(frames).includes(packet)));
    expect(await arrived(0)).toEqual([]);
  });
});
