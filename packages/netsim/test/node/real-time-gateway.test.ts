import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { probeKind } from '@int/codec';
import { probeRequestId } from '@int/codec/internals';
import { buildNetwork, UdpTraffic } from '@int/netsim';
import { GatewayError, RealTimeGateway } from '@int/netsim/node';
import { afterEach, describe, expect, it } from 'vitest';
import { inTime, until } from '../../../../.ci/test/until.js';
import { line, probeOf, walk } from '../switches/probe-frames.js';

const MS = 1_000_000;
const open: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

const row = (count: number, entries?: number[]) =>
  buildNetwork({
    seed: 1,
    switches: count,
    links: line(count),
    link: { delayNs: MS },
    gpint: { timeoutNs: 20 * MS },
    hosts: { count: 2 },
    ...(entries === undefined ? {} : { monitor: { entries } }),
  });

async function client(): Promise<Socket> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await inTime('a UDP port', once(socket, 'listening'));
  open.push(socket);
  return socket;
}

/** The next datagrams, as `port of the sender: kind request`. */
async function datagrams(socket: Socket, count: number): Promise<string[]> {
  const got: string[] = [];
  const take = (payload: Buffer, from: { port: number }): void => {
    got.push(`${from.port}: ${probeKind(payload)} ${probeRequestId(payload)}`);
  };
  socket.on('message', take);
  await until(`${count} datagrams`, () => got.length >= count, { found: () => got }).finally(() => {
    socket.off('message', take);
  });
  return got.slice(0, count).sort();
}

describe('the gateway', () => {
  it('lets a UDP monitor probe simulated switches', async () => {
    const built = row(3);
    const gateway = await RealTimeGateway.open(built);
    open.push(gateway);
    const socket = await client();
    const [port0, , port2] = [0, 1, 2].map((entry) => gateway.addressOf(entry).port);
    const answers = datagrams(socket, 2);
    socket.send(probeOf(7, walk(built, [0, 1, 2])), port0!, '127.0.0.1');
    // The probe comes home from the last switch, which the monitor has never sent anything to.
    expect(await answers).toEqual([`${port0}: feedback 7`, `${port2}: probe 7`].sort());
    await until('the end of all copies', () => built.switches.every((each) => each.pendingClones === 0));
    gateway.change(() => built.links[1]!.fail());
    const more = datagrams(socket, 2);
    socket.send(probeOf(8, walk(built, [0, 1, 2])), port0!, '127.0.0.1');
    expect(await more).toEqual([`${port0}: feedback 8`, `${gateway.addressOf(1).port}: recovery 8`].sort());
    expect(gateway).toMatchObject({ received: 2, sent: 4, dropped: 0 });
  });

  it('answers each of several monitors at the switch it sent to', async () => {
    const built = row(2);
    const gateway = await RealTimeGateway.open(built, { speed: 10 });
    open.push(gateway);
    const [first, second] = [await client(), await client()];
    const answers = [datagrams(first, 2), datagrams(second, 2)];
    first.send(probeOf(1, walk(built, [0])), gateway.addressOf(0).port, '127.0.0.1');
    second.send(probeOf(2, walk(built, [1])), gateway.addressOf(1).port, '127.0.0.1');
    expect((await Promise.all(answers)).map((each) => each.map((text) => text.split(': ')[1]))).toEqual([
      ['feedback 1', 'probe 1'],
      ['feedback 2', 'probe 2'],
    ]);
  });

  it('has sockets for the entries only, and drops what it cannot deliver', async () => {
    const built = row(3, [1]);
    const gateway = await RealTimeGateway.open(built);
    open.push(gateway);
    expect(() => gateway.addressOf(0)).toThrow(RangeError);
    gateway.change(() => built.monitor.send(1, probeOf(9, walk(built, [1]))));
    // Feedback and probe come before anyone is known to send them to.
    await until('two drops', () => gateway.dropped === 2);
    const socket = await client();
    const answers = datagrams(socket, 2);
    socket.send(probeOf(10, walk(built, [1, 0])), gateway.addressOf(1).port, '127.0.0.1');
    const { port } = gateway.addressOf(1);
    expect(await answers).toEqual([`${port}: feedback 10`, `${port}: probe 10`]);
    expect(gateway.dropped).toBe(2);
  });

  it('keeps background traffic going, and stops with it when closed; the network can then be run by hand', async () => {
    const built = row(2);
    const handler = (): void => {};
    built.monitor.onPayload = handler;
    const traffic = new UdpTraffic(built.network, { hosts: built.hosts, packetsPerSecond: 2000 });
    traffic.start();
    const gateway = await RealTimeGateway.open(built);
    const socket = await client();
    const answers = datagrams(socket, 2);
    socket.send(probeOf(1, walk(built, [0, 1, 0, 1, 0, 1])), gateway.addressOf(0).port, '127.0.0.1');
    await answers;
    expect(traffic.sent).toBeGreaterThan(5);
    const { port } = gateway.addressOf(0);
    await Promise.all([gateway.close(), gateway.close()]);
    const { sent } = traffic;
    const { nowNs } = built.network;
    expect(built.monitor.onPayload).toBe(handler);
    // The port is free again.
    const again = createSocket('udp4');
    again.bind(port, '127.0.0.1');
    await inTime('the same UDP port', once(again, 'listening'));
    again.close();
    expect([traffic.sent, built.network.nowNs]).toEqual([sent, nowNs]);
    built.network.run(nowNs + 100 * MS);
    expect(Math.abs(traffic.sent - sent - 200)).toBeLessThanOrEqual(1);
  });

  it('catches up in slices, so that a network too large for the processor does not keep sockets from their turn', async () => {
    const built = row(2);
    new UdpTraffic(built.network, { hosts: built.hosts, packetsPerSecond: 50_000_000 }).start();
    const gateway = await RealTimeGateway.open(built);
    open.push(gateway);
    const socket = await client();
    const answers = datagrams(socket, 1);
    socket.send(probeOf(1, walk(built, [0])), gateway.addressOf(0).port, '127.0.0.1');
    expect((await answers).length).toBeGreaterThan(0);
    expect(gateway.lagNs).toBeGreaterThan(0);
  });

  it('hands what an event throws to whoever asked for it, and stands still', async () => {
    const built = row(2);
    built.network.at(MS, () => {
      throw new Error('of an event');
    });
    let gateway: RealTimeGateway | undefined;
    const thrown = new Promise<unknown>((resolve) => {
      void RealTimeGateway.open(built, { onError: resolve }).then((opened) => {
        gateway = opened;
      });
    });
    const error = await inTime('what the event throws', thrown);
    expect(error).toMatchObject({ message: 'of an event' });
    await gateway!.close();
  });

  it('says which switch has no socket, and leaves none open', async () => {
    const taken = await client();
    const { port } = taken.address();
    const built = row(2);
    const error = await RealTimeGateway.open(built, { portOf: (entry) => (entry === 1 ? port : 0) }).catch(
      (e: unknown) => e,
    );
    expect(GatewayError.is(error)).toBe(true);
    expect(error).toMatchObject({ code: 'ERR_GATEWAY_SOCKET', entry: 1, cause: { code: 'EADDRINUSE' } });
    await expect(RealTimeGateway.open(built, { speed: 0 })).rejects.toThrow(RangeError);
  });
});
