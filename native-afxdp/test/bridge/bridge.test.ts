/** `int bridge` on real interfaces: what goes in at one end comes out at the other as it was before INT. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MODES, MOSTLY_DRIVER } from '../pair.js';
import { flowOf, type Sent, SHAPES, sent } from './packets.js';
import { IN, OUT, Wire } from './wire.js';

const hex = (frames: readonly Uint8Array[]): string[] => frames.map((frame) => Buffer.from(frame).toString('hex'));
const WINDOW = 100;

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'int-bridge-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function rulesFile(threshold: string): string {
  const path = join(folder, `${threshold}.yaml`);
  writeFileSync(
    path,
    `version: 1
units: { hopLatency: ns }
rules:
  - name: slow
    priority: 1
    match: any
    detect: { threshold: { metric: hopLatency, threshold: ${threshold}, scope: hop } }
`,
  );
  return path;
}

describe.each(MODES)('int bridge in %s mode', (mode) => {
  test('gives the destination every packet byte for byte as it was before the source switch, and reads what INT told', async () => {
    const wire = await Wire.make();
    const bridge = wire.bridge(IN, OUT, '--mode', mode, '--json', '--rows', '1024', '--rules', rulesFile('500ns'));
    await bridge.bridging();
    expect(bridge.stderr).toContain(`bridging ${IN} (${mode}) to ${OUT} (${mode})`);
    const [source, destination] = [await wire.end(wire.source), await wire.end(wire.destination)];
    await source.call('open', wire.source.interface);
    await destination.call('open', wire.destination.interface);

    const rounds = 40;
    const all: Sent[] = [];
    for (let round = 0; round < rounds; round++) {
      // One packet in ten of each flow is slow, at both hops.
      for (const [index, shape] of SHAPES.entries()) all.push(sent(shape, index, 2, round % 10 === 9 ? 1000 : 100));
    }
    for (let from = 0; from < all.length; from += WINDOW) {
      const some = all.slice(from, from + WINDOW);
      await source.call(
        'send',
        some.map(({ frame }) => frame),
      );
      const arrived = await destination.call('received', some.length);
      expect(hex(arrived)).toEqual(hex(some.map(({ packet }) => packet)));
    }
    expect(await bridge.interrupt()).toBe(0);

    const withInt = SHAPES.filter(({ config }) => config !== null);
    const [total] = bridge.lines('total');
    expect(total).toMatchObject({
      received: all.length,
      forwarded: all.length,
      stripped: rounds * withInt.length,
      plain: rounds * (SHAPES.length - withInt.length),
      unstripped: 0,
      dropped: { discard: 0, 'tx-full': 0, failed: 0 },
      returned: 0,
      kernelDropped: 0,
      decoded: rounds * withInt.length,
      reports: rounds * withInt.length,
      errors: {},
      flows: { packets: rounds * withInt.length, flows: withInt.length },
    });
    const flows = bridge.lines('flow') as {
      flow: object;
      packets: number;
      hops: { nodeId: number; hopLatency: { count: number; last: number } }[];
    }[];
    expect(flows).toHaveLength(withInt.length);
    for (const [index, shape] of SHAPES.entries()) {
      // In a tunnel, the flow is that of the packet inside.
      const flow = { ...flowOf(shape, index), ...(shape.port !== undefined && { destinationPort: 99 }) };
      const found = flows.find(
        (one) => JSON.stringify(Object.entries(one.flow).sort()) === JSON.stringify(Object.entries(flow).sort()),
      );
      if (shape.config === null) expect(found).toBeUndefined();
      else {
        expect(found, shape.name).toMatchObject({ packets: rounds });
        expect(found!.hops.map(({ nodeId, hopLatency }) => [nodeId, hopLatency.count, hopLatency.last])).toEqual([
          [1, rounds, 1001],
          [2, rounds, 1002],
        ]);
      }
    }
    const events = bridge.lines('event') as { nodeId: number; value: number }[];
    expect(events).toHaveLength((rounds / 10) * withInt.length * 2);
    expect(new Set(events.map(({ nodeId, value }) => `${nodeId} ${value}`))).toEqual(new Set(['1 1001', '2 1002']));
    expect(bridge.lines('summary')[0]).toMatchObject({ reports: rounds * withInt.length, events: events.length });
    for (const name of [IN, OUT]) expect(wire.state(name)).toEqual({ attached: false, promiscuous: false });
  });
});

describe.each(MOSTLY_DRIVER)('int bridge in %s mode', (mode) => {
  test('lets the ends talk: UDP, TCP and ICMP pass both ways', async () => {
    const wire = await Wire.make();
    const bridge = wire.bridge(IN, OUT, '--mode', mode, '--json', '--rows', '1024');
    await bridge.bridging();
    const [client, server] = [await wire.end(wire.source), await wire.end(wire.destination)];
    const address = wire.destination.ipv4;
    await server.call('echo', address, 7000);
    expect(await client.call('datagrams', address, 7000, 50)).toBe(50);
    expect(await client.call('bytes', address, 7000, 200_000)).toBe(200_000);
    expect(await client.call('refused', address, 7001)).toBe('ECONNREFUSED');
    expect(await bridge.interrupt()).toBe(0);
    const total = bridge.lines('total')[0] as Record<string, number>;
    expect(total).toMatchObject({ stripped: 0, unstripped: 0, kernelDropped: 0, returnKernelDropped: 0 });
    expect(total.forwarded).toBe(total.received);
    expect(total.plain).toBe(total.received);
    expect(total.received).toBeGreaterThan(50 + 1 + 200_000 / 1500);
    expect(total.returned).toBeGreaterThan(50 + 1);
  });
});

describe('int bridge', () => {
  test('with INT towards a service of the destination, is answered by it', async () => {
    // The destination has no idea of INT: its own stack takes the packets that the bridge has stripped.
    const wire = await Wire.make();
    const bridge = wire.bridge(IN, OUT, '--json', '--rows', '1024');
    await bridge.bridging();
    const [source, server] = [await wire.end(wire.source), await wire.end(wire.destination)];
    await server.call('echo', wire.destination.ipv4, 80);
    await source.call('open', wire.source.interface);
    const shape = SHAPES.find(({ name }) => name === 'by port')!;
    const packets = Array.from({ length: 20 }, (_, number) => sent(shape, number, 3));
    const addressed = packets.map(({ frame }) => {
      const bytes = Buffer.from(frame);
      bytes.set(Buffer.from(wire.destination.mac.replaceAll(':', ''), 'hex'), 0);
      return bytes;
    });
    await source.call('send', addressed);
    const answers = await source.call('received', 20);
    // Payload, with a checksum that the destination's stack has found right.
    expect(hex(answers.map((answer) => answer.subarray(42)))).toEqual(
      hex(packets.map(({ packet }) => packet.subarray(42))),
    );
    expect(await bridge.interrupt()).toBe(0);
    expect(bridge.lines('total')[0]).toMatchObject({ received: 20, stripped: 20, returned: 20 });
  });

  test('forwards INT that is not sound as it is, tells of it, and ends with 1', async () => {
    const wire = await Wire.make();
    const bridge = wire.bridge(IN, OUT, '--rows', '1024');
    await bridge.bridging();
    const [source, destination] = [await wire.end(wire.source), await wire.end(wire.destination)];
    await source.call('open', wire.source.interface);
    await destination.call('open', wire.destination.interface);
    const shape = SHAPES.find(({ name }) => name === 'by port')!;
    const bad = Buffer.from(sent(shape, 1, 2).frame);
    bad[42] = 0xf0;
    const good = sent(shape, 2, 2);
    await source.call('send', [bad, good.frame]);
    expect(hex(await destination.call('received', 2))).toEqual(hex([bad, good.packet]));
    expect(await bridge.interrupt()).toBe(1);
    const lines = bridge.stdout.trimEnd().split('\n');
    expect(lines.at(-1)).toBe('2 received, 2 forwarded, 0 dropped');
    expect(bridge.stdout).toContain('INT that is not sound: BAD_SHIM_TYPE 1');
    expect(bridge.stdout).toMatch(/in to out +2 +1 +0 +1 +0 +0\n/);
  });

  test('accounts for every frame, those too that the kernel had no room for', async () => {
    const wire = await Wire.make();
    const bridge = wire.bridge(IN, OUT, '--json', '--rows', '1024');
    await bridge.bridging();
    const [source, destination] = [await wire.end(wire.source), await wire.end(wire.destination)];
    await source.call('open', wire.source.interface);
    await destination.call('open', wire.destination.interface);
    const shape = SHAPES.find(({ name }) => name === 'by port')!;
    const some = Array.from({ length: WINDOW }, (_, number) => sent(shape, number, 3));
    // Nobody takes frames for a while.
    bridge.signal('SIGSTOP');
    await source.call(
      'flood',
      some.map(({ frame }) => frame),
      60,
    );
    bridge.signal('SIGCONT');
    const taken = (): number => Number(bridge.lines('stats').at(-1)?.received ?? 0);
    await bridge.until(() => bridge.stdout.endsWith('\n') && taken() >= 4000);
    expect(await bridge.interrupt()).toBe(0);
    const total = bridge.lines('total')[0] as Record<'received' | 'kernelDropped', number>;
    expect(total.received + total.kernelDropped).toBe(60 * WINDOW);
    expect(total.kernelDropped).toBeGreaterThan(0);
    expect(total).toMatchObject({ forwarded: total.received, stripped: total.received, reports: total.received });
    const arrived = await destination.call('received', total.received);
    expect(arrived).toHaveLength(total.received);
    expect(new Set(hex(arrived))).toEqual(new Set(hex(some.map(({ packet }) => packet))));
  });

  test('leaves nothing behind when it is killed', async () => {
    const wire = await Wire.make();
    const bridge = wire.bridge(IN, OUT);
    await bridge.bridging();
    for (const name of [IN, OUT]) expect(wire.state(name)).toEqual({ attached: true, promiscuous: true });
    await bridge.kill();
    await expect
      .poll(() => [wire.state(IN), wire.state(OUT)], { timeout: 5000 })
      .toEqual([
        { attached: false, promiscuous: false },
        { attached: false, promiscuous: false },
      ]);
  });

  test('one way, leaves what comes from OUT to the machine', async () => {
    const wire = await Wire.make();
    const bridge = wire.bridge(IN, OUT, '--one-way', '--json', '--rows', '1024');
    await bridge.bridging();
    expect(bridge.stderr).toContain('one way');
    expect(wire.state(IN)).toEqual({ attached: true, promiscuous: true });
    expect(wire.state(OUT)).toEqual({ attached: false, promiscuous: false });
    const [source, destination] = [await wire.end(wire.source), await wire.end(wire.destination)];
    await source.call('open', wire.source.interface);
    await destination.call('open', wire.destination.interface);
    const [packet] = [sent(SHAPES[0]!, 1, 0).packet];
    await destination.call('send', [packet]);
    await source.call('send', [packet]);
    expect(hex(await destination.call('received', 1))).toEqual(hex([packet]));
    expect(await bridge.interrupt()).toBe(0);
    expect(bridge.lines('total')[0]).toMatchObject({ received: 1, forwarded: 1, returned: 0 });
    expect(await source.call('received', 0)).toEqual([]);
  });

  test('has a socket for each queue', async () => {
    const wire = await Wire.make({ queues: 2 });
    const bridge = wire.bridge(IN, OUT, '--json', '--rows', '1024');
    await bridge.bridging();
    expect(bridge.stderr).toMatch(/right0 \(driver, 2 queues\) to left0 \(driver, 2 queues\)/);
    const [client, server] = [await wire.end(wire.source), await wire.end(wire.destination)];
    await server.call('echo', wire.destination.ipv4, 7000);
    const good = await Promise.all(
      Array.from({ length: 8 }, () => client.call('bytes', wire.destination.ipv4, 7000, 20_000)),
    );
    expect(good).toEqual(good.map(() => 20_000));
    expect(await bridge.interrupt()).toBe(0);
    const total = bridge.lines('total')[0]!;
    expect(total).toMatchObject({ forwarded: total.received, kernelDropped: 0, returnKernelDropped: 0 });
  });

  test('names the interface that is not there, and leaves nothing behind on the other', async () => {
    const wire = await Wire.make();
    for (const names of [
      ['nowhere0', OUT],
      [IN, 'nowhere0'],
    ] as const) {
      const bridge = wire.bridge(...names);
      expect(await bridge.ended()).toBe(3);
      expect(bridge.stderr).toMatch(/^int: cannot open nowhere0: .*nowhere0/);
      expect(bridge.stdout).toBe('');
      for (const name of [IN, OUT]) expect(wire.state(name)).toEqual({ attached: false, promiscuous: false });
    }
  });

  test.each(['down', 'away'])('--on-down exit: ends with totals and says which interface went %s', async (where) => {
    const wire = await Wire.make();
    const bridge = wire.bridge(IN, OUT, '--json', '--rows', '1024', '--on-down', 'exit');
    await bridge.bridging();
    if (where === 'down') wire.setInterface(OUT, 'down');
    else wire.removeInterface(OUT);
    expect(await bridge.ended()).toBe(3);
    expect(bridge.stderr).toMatch(where === 'down' ? /int: right0 to left0: left0 is down/ : /left0 .*removed/);
    expect(bridge.lines('total')[0]).toMatchObject({ received: 0, forwarded: 0, outages: { in: 0, out: 1 } });
    expect(wire.state(IN)).toEqual({ attached: false, promiscuous: false });
  });
});
