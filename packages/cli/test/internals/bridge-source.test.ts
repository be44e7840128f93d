import { Collector, FlowStage, type Stage } from '@int/collector';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { until } from '../../../../.ci/test/until.js';
import { BridgeSource, type BridgeSourceOptions } from '../../src/bridge/bridge-source.js';
import { hostFrame, unsoundFrame, withInt } from '../bridge-frames.js';
import { SEED } from '../seed.js';
import { MemoryPort, type MemoryPortOptions, MemoryRows, MemorySide } from './bridge-ports.js';

fc.configureGlobal({ seed: SEED });

interface Bridge {
  /** The first ports. */
  readonly inner: MemoryPort;
  readonly outer: MemoryPort;
  readonly innerSide: MemorySide;
  readonly outerSide: MemorySide;
  readonly source: BridgeSource;
  readonly collector: Collector;
  readonly flows: FlowStage;
  readonly problems: Error[];
}

async function bridge(
  options: {
    inner?: MemoryPortOptions;
    outer?: MemoryPortOptions;
    stages?: Stage[];
  } & Partial<BridgeSourceOptions> = {},
): Promise<Bridge> {
  const { inner: innerOptions, outer: outerOptions, stages = [], ...rest } = options;
  const innerSide = new MemorySide('in0', () => [new MemoryPort('in0', innerOptions)]);
  const outerSide = new MemorySide('out0', () => [new MemoryPort('out0', outerOptions)]);
  const [inner, outer] = [innerSide.port, outerSide.port];
  const source = new BridgeSource({
    name: 'in0 to out0',
    open: async () => ({ inner: innerSide, outer: outerSide, rows: (capacity) => new MemoryRows(capacity) }),
    ...rest,
  });
  const flows = new FlowStage({ rows: 1024 });
  const problems: Error[] = [];
  const collector = new Collector({
    sources: [source],
    decode: { reportPorts: [] },
    stages: [flows, ...stages],
    onProblem: ({ error }) => problems.push(error),
  });
  await collector.start();
  return { inner, outer, innerSide, outerSide, source, collector, flows, problems };
}

/** Of a host, for a round. */
const number = (round: number): number => 1000 + round;

const hex = (frames: readonly Uint8Array[]): string[] => frames.map((frame) => Buffer.from(frame).toString('hex'));

describe('a bridge', () => {
  test('forwards packets as they were before INT, and all others as they are, in order', async () => {
    const { inner, outer, source, collector, flows } = await bridge();
    const wanted: Uint8Array[] = [];
    for (let number = 0; number < 1000; number++) {
      const packet = hostFrame(number, 80, number % 3 === 0 ? 6 : 17);
      const kind = number % 4;
      const dscp = { encapsulation: 'dscp' as const };
      const arriving =
        kind === 0
          ? packet
          : kind === 3
            ? unsoundFrame(number)
            : withInt(packet, [100, 200], number % 3 === 0 || kind === 2 ? dscp : {});
      inner.deliver(arriving);
      wanted.push(kind === 3 ? arriving : packet);
      if (number % 100 === 99) await until('frames taken', () => inner.waiting === 0);
    }
    await until('frames forwarded', () => outer.sent.length === 1000);
    expect(hex(outer.sent)).toEqual(hex(wanted));
    const read = await collector.stop();
    const { inbound, returning, kernelDropped } = source.totals();
    expect(inbound).toMatchObject({ received: 1000, forwarded: 1000, stripped: 500, plain: 250, unstripped: 250 });
    expect([inbound.droppedCount, returning.received, kernelDropped]).toEqual([0, 0, 0]);
    // What there is to read: INT alone.
    expect(read).toMatchObject({ received: 750, decoded: 500, reports: 500, errors: { BAD_SHIM_TYPE: 250 } });
    const entry = flows.cache.get({
      source: '10.0.1.1',
      destination: '10.0.2.2',
      protocol: 17,
      sourcePort: 1025,
      destinationPort: 80,
    });
    expect(entry?.path).toEqual([1, 2]);
    expect(entry?.hops[1]?.metrics.hopLatency?.last).toBe(200);
    expect([inner.borrowed, outer.borrowed]).toEqual([0, 0]);
    expect([inner.closed, outer.closed]).toEqual([true, true]);
  });

  test('gives the collector INT from where it was received, before its memory is used again', async () => {
    const seen: string[] = [];
    const looking: Stage = {
      name: 'looking',
      process(batch) {
        for (let frame = 0; frame < batch.frames; frame++) {
          const at = batch.frameOffset[frame]!;
          seen.push(Buffer.from(batch.bytes.subarray(at, at + batch.frameLength[frame]!)).toString('hex'));
        }
      },
    };
    const { inner, collector } = await bridge({ inner: { frames: 8 }, stages: [looking] });
    const sent: Uint8Array[] = [];
    for (let number = 0; number < 200; number++) {
      const frame = withInt(hostFrame(number), [number]);
      inner.deliver(frame);
      sent.push(frame);
      if (number % 8 === 7) await until('frames taken', () => inner.waiting === 0 && inner.borrowed === 0);
    }
    await collector.stop();
    expect(seen).toEqual(hex(sent));
  });

  test('returns what comes from the other side as it is, INT and all', async () => {
    const { inner, outer, source, collector } = await bridge();
    const frames = [hostFrame(1), withInt(hostFrame(2), [5]), unsoundFrame(3), new Uint8Array(14)];
    for (const frame of frames) outer.deliver(frame);
    await until('frames returned', () => inner.sent.length === 4);
    expect(hex(inner.sent)).toEqual(hex(frames));
    expect((await collector.stop()).received).toBe(0);
    const { inbound, returning } = source.totals();
    expect([inbound.received, returning.received, returning.forwarded, returning.plain]).toEqual([0, 4, 4, 4]);
  });

  test('one way, leaves the other side alone', async () => {
    const { inner, outer, collector } = await bridge({ isOneWay: true });
    outer.deliver(hostFrame(1));
    inner.deliver(hostFrame(2));
    await until('a frame forwarded', () => outer.sent.length === 1);
    await collector.stop();
    expect([inner.sent.length, outer.waiting]).toEqual([0, 1]);
  });

  test('copies between two places of one memory, too', async () => {
    const memory = new Uint8Array(2 * 128 * 2048 + 64);
    const options = { frames: 64, txFrames: 64 };
    const { inner, outer, collector } = await bridge({
      inner: { ...options, memory: memory.subarray(64) },
      outer: { ...options, memory: memory.subarray(64 + 128 * 2048) },
    });
    const packets = Array.from({ length: 60 }, (_, number) => hostFrame(number));
    for (const packet of packets) inner.deliver(withInt(packet, [1, 2, 3]));
    outer.deliver(packets[0]!);
    await until('frames forwarded', () => outer.sent.length === 60 && inner.sent.length === 1);
    await collector.stop();
    expect(hex(outer.sent)).toEqual(hex(packets));
    expect(hex(inner.sent)).toEqual(hex(packets.slice(0, 1)));
  });

  test('discards packets that end at the sink, and reads them', async () => {
    const { inner, outer, source, collector } = await bridge();
    for (let number = 0; number < 90; number++) {
      inner.deliver(withInt(hostFrame(number), [7], { discard: number % 3 === 0 }));
    }
    await until('frames forwarded', () => outer.sent.length === 60);
    const read = await collector.stop();
    const { inbound } = source.totals();
    expect(inbound).toMatchObject({
      received: 90,
      forwarded: 60,
      stripped: 60,
      dropped: { discard: 30, 'tx-full': 0 },
    });
    expect(read.decoded).toBe(90);
    expect(outer.borrowed).toBe(0);
  });

  test('forwards a tunnel as it is if what it carries is no frame', async () => {
    const { inner, outer, source, collector } = await bridge();
    const frame = withInt(hostFrame(1), [7], { encapsulation: 'gre-new' });
    // Ethernet inside, it says, of four bytes.
    frame.set([0x65, 0x58], 40);
    const short = frame.slice(0, 42 + 4 * frame[39]! + 4);
    short.set([0, short.length - 14], 16);
    inner.deliver(short);
    await until('a frame forwarded', () => outer.sent.length === 1);
    const read = await collector.stop();
    expect(hex(outer.sent)).toEqual(hex([short]));
    expect(source.totals().inbound).toMatchObject({ forwarded: 1, unstripped: 1 });
    expect(read.decoded).toBe(1);
  });

  test('waits for room to send in, and loses nothing if it comes', async () => {
    const { inner, outer, source, collector } = await bridge({ outer: { txFrames: 8, completes: false } });
    outer.onSent = (): void => void setTimeout(() => outer.complete(1), 1);
    for (let number = 0; number < 100; number++) inner.deliver(withInt(hostFrame(number), [7]));
    await until('frames forwarded', () => outer.sent.length === 100);
    await collector.stop();
    expect(source.totals().inbound).toMatchObject({ received: 100, forwarded: 100, dropped: { 'tx-full': 0 } });
  });

  test.each([
    ['no frame to send is free', { txFrames: 8, completes: false }],
    ['the ring is full', { txFrames: 128, txRing: 8, completes: false }],
  ])('drops and counts what does not fit when %s, and reads it all the same', async (_, outerOptions) => {
    const { inner, outer, source, collector } = await bridge({ outer: outerOptions });
    for (let number = 0; number < 70; number++) inner.deliver(withInt(hostFrame(number), [7]));
    await until('frames dropped', () => source.totals().inbound.droppedCount === 62);
    outer.complete();
    inner.deliver(hostFrame(99));
    await until('a frame forwarded', () => outer.sent.length === 9);
    outer.complete();
    const read = await collector.stop();
    const { inbound } = source.totals();
    expect(inbound).toMatchObject({ received: 71, forwarded: 9, stripped: 8, plain: 1 });
    expect(inbound.dropped).toEqual({ discard: 0, 'tx-full': 62, failed: 0 });
    expect(read.decoded).toBe(70);
    expect([inner.borrowed, outer.borrowed]).toEqual([0, 0]);
  });

  test('accounts for every frame when an interface fails, and says which', async () => {
    const { inner, outer, source, collector, problems } = await bridge();
    inner.deliver(hostFrame(1));
    await until('a frame forwarded', () => outer.sent.length === 1);
    outer.failure = new Error('out0 is down');
    for (let number = 0; number < 5; number++) inner.deliver(hostFrame(number));
    await collector.finished;
    await collector.stop();
    expect(source.totals().inbound).toMatchObject({ received: 6, forwarded: 1, dropped: { failed: 5 } });
    expect(problems.map(({ message }) => message)).toEqual(['in0 to out0: out0 is down']);
    expect([inner.closed, outer.closed]).toEqual([true, true]);
  });

  test('waits for an interface that is set down, and goes on when it is up again', async () => {
    const { inner, outer, outerSide, source, collector, problems } = await bridge();
    for (let round = 1; round <= 3; round++) {
      outerSide.set('down');
      const before = source.totals().inbound;
      for (let number = 0; number < 150; number++) inner.deliver(withInt(hostFrame(number), [7]));
      await until('frames taken', () => source.totals().inbound.received === before.received + 150);
      // The other direction goes on, also while it has to be opened anew.
      const returned = source.totals().returning.forwarded;
      await until('ports', () => outerSide.ports.length > 0);
      outerSide.port.deliver(hostFrame(1));
      await until('a frame returned', () => source.totals().returning.forwarded === returned + 1);
      expect(source.totals().inbound.dropped.failed).toBe(before.dropped.failed + 150);
      expect(source.totals().outages).toEqual({ in: 0, out: round });
      outerSide.set('up');
      await until('the interface', () => outerSide.problem === null && outerSide.ports.length > 0);
      inner.deliver(withInt(hostFrame(number(round)), [7]));
      await until('a frame forwarded', () => source.totals().inbound.forwarded === round);
      // What was kept by the interface when it went down did not leave when it was back.
      expect(hex(outerSide.port.sent)).toEqual(hex([hostFrame(number(round))]));
    }
    expect(outer.sent).toEqual([]);
    const read = await collector.stop();
    expect(source.totals().inbound).toMatchObject({ received: 453, forwarded: 3, dropped: { failed: 450 } });
    // What could not be forwarded has been read.
    expect(read.decoded).toBe(453);
    expect(problems).toEqual([]);
    expect([inner.borrowed, inner.closed, outerSide.closed]).toEqual([0, true, true]);
  });

  test.each(['in', 'out'] as const)('opens %s anew when it was removed and made again', async (which) => {
    const { innerSide, outerSide, source, collector, problems } = await bridge();
    const side = which === 'in' ? innerSide : outerSide;
    const gone = side.port;
    for (let number = 0; number < 20; number++) innerSide.port.deliver(withInt(hostFrame(number), [7]));
    side.set('gone');
    await until('the ports closed', () => gone.closed);
    expect(source.totals().inbound.received).toBe(20);
    side.set('up');
    await until('the interface', () => side.problem === null && side.ports.length > 0);
    const { forwarded } = source.totals().inbound;
    for (let number = 0; number < 20; number++) innerSide.port.deliver(withInt(hostFrame(number), [7]));
    await until('frames forwarded', () => source.totals().inbound.forwarded === forwarded + 20);
    expect(source.totals().outages).toEqual(which === 'in' ? { in: 1, out: 0 } : { in: 0, out: 1 });
    const read = await collector.stop();
    expect([read.decoded, problems]).toEqual([40, []]);
    const { inbound } = source.totals();
    expect(inbound.received).toBe(inbound.forwarded + inbound.droppedCount);
  });

  test('stops while both interfaces are away, and while one is down', async () => {
    for (const state of ['gone', 'down'] as const) {
      const { inner, innerSide, outerSide, source, collector } = await bridge();
      outerSide.set(state);
      if (state === 'gone') innerSide.set(state);
      else for (let number = 0; number < 100; number++) inner.deliver(hostFrame(number));
      await until('the outage', () => source.totals().outages.out === 1);
      await collector.stop();
      const { inbound } = source.totals();
      expect(inbound.received).toBe(inbound.forwarded + inbound.droppedCount);
      expect([innerSide.closed, outerSide.closed]).toEqual([true, true]);
    }
  });

  test('ends when an interface goes down, if that is wanted', async () => {
    const { outerSide, source, collector, problems } = await bridge({ onDown: 'exit' });
    outerSide.set('down');
    await collector.finished;
    await collector.stop();
    expect(problems.map(({ message }) => message)).toEqual(['in0 to out0: out0 is down']);
    expect(source.totals().outages).toEqual({ in: 0, out: 1 });
  });

  test('notices that an interface has gone though nothing arrives', async () => {
    const { inner, collector, problems } = await bridge();
    inner.failure = new Error('in0 has gone');
    await collector.finished;
    await collector.stop();
    expect(problems.map(({ message }) => message)).toEqual(['in0 to out0: in0 has gone']);
  });

  test('forwards from every queue, also where the other side has fewer', async () => {
    const inner = [new MemoryPort('in0'), new MemoryPort('in0'), new MemoryPort('in0')] as const;
    const outer = new MemoryPort('out0');
    const source = new BridgeSource({
      name: 'in0 to out0',
      open: async () => ({
        inner: new MemorySide('in0', () => [...inner]),
        outer: new MemorySide('out0', () => [outer]),
        rows: (capacity) => new MemoryRows(capacity),
      }),
    });
    const collector = new Collector({ sources: [source] });
    await collector.start();
    for (let number = 0; number < 300; number++) inner[number % 3]!.deliver(withInt(hostFrame(number), [7]));
    outer.deliver(hostFrame(1));
    await until('frames forwarded', () => outer.sent.length === 300 && inner[0].sent.length === 1);
    const read = await collector.stop();
    expect(new Set(hex(outer.sent))).toEqual(
      new Set(hex(Array.from({ length: 300 }, (_, number) => hostFrame(number)))),
    );
    expect(source.totals().inbound).toMatchObject({ received: 300, forwarded: 300, stripped: 300 });
    expect(read.decoded).toBe(300);
  });

  test('counts frames as failed that an interface going down has taken and dropped', async () => {
    const { inner, outer, outerSide, source, collector } = await bridge();
    outer.toDrop = 7;
    inner.toDrop = 1;
    for (let number = 0; number < 20; number++) inner.deliver(withInt(hostFrame(number), [7]));
    outer.deliver(hostFrame(1));
    await until('frames taken', () => source.totals().inbound.received + source.totals().returning.received === 21);
    await until('frames sent', () => outer.sent.length === 13);
    const expected = { received: 20, forwarded: 13, stripped: 13, plain: 0, dropped: { failed: 7 } };
    expect(source.totals().inbound).toMatchObject(expected);
    outerSide.set('gone');
    await until('the ports closed', () => outer.closed);
    outerSide.set('up');
    await collector.stop();
    expect(source.totals().inbound).toMatchObject(expected);
    expect(source.totals().returning).toMatchObject({ received: 1, forwarded: 0, plain: 0, dropped: { failed: 1 } });
  });

  test('forwards at its end what has arrived', async () => {
    const { inner, outer, source, collector } = await bridge();
    for (let number = 0; number < 200; number++) inner.deliver(hostFrame(number));
    await collector.stop();
    expect(outer.sent.length).toBe(200);
    expect(source.totals().inbound.forwarded).toBe(200);
  });

  test('counts what the kernel had no room for', async () => {
    const { inner, outer, source, collector } = await bridge({ inner: { frames: 16 } });
    for (let number = 0; number < 20; number++) inner.deliver(hostFrame(number));
    await until('frames forwarded', () => outer.sent.length === 16);
    outer.deliver(new Uint8Array(2000));
    await collector.stop();
    const { inbound, kernelDropped, returnKernelDropped } = source.totals();
    expect([inbound.received, kernelDropped, returnKernelDropped]).toEqual([16, 4, 1]);
  });

  test('keeps its balance whatever arrives', async () => {
    const { inner, outer, source, collector } = await bridge();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ minLength: 14, maxLength: 200 }), { maxLength: 40 }),
        async (frames) => {
          const before = outer.sent.length;
          for (const frame of frames) inner.deliver(frame);
          await until('frames forwarded', () => inner.waiting === 0 && outer.sent.length === before + frames.length);
          const { received, forwarded, plain, stripped, unstripped, droppedCount } = source.totals().inbound;
          expect(received).toBe(forwarded + droppedCount);
          expect(forwarded).toBe(plain + stripped + unstripped);
        },
      ),
      { numRuns: 50 },
    );
    await collector.stop();
  });
});
