import { createGrpcTransport } from '@connectrpc/connect-node';
import { type Behaviour, Network } from '@int/netsim';
import { P4Switch } from '@int/netsim/p4';
import { P4RuntimeServer, P4vmTarget } from '@int/p4runtime';
import { describe, expect, it } from 'vitest';
import { until } from '../../../../.ci/test/until.js';
import { Controller } from './controller.js';
import {
  ACTION,
  bytes,
  DEVICE_CONFIG,
  does,
  entry,
  exact,
  frame,
  INFO,
  INSERT,
  PROGRAM,
  station,
  TABLE,
  update,
} from './everything.js';

/** A host that keeps what it gets. */
class Sink implements Behaviour {
  readonly received: Uint8Array[] = [];
  receive(packet: Uint8Array): void {
    this.received.push(packet);
  }
}

/** Hosts a and b at ports 1 and 2 of a switch with a program, and a server of the switch. */
function network() {
  const net = new Network({ seed: 1 });
  const p4 = new P4Switch(PROGRAM, { controlPort: 510 });
  const node = net.add('switch', p4);
  const [a, b] = [new Sink(), new Sink()];
  const host = net.add('a', a);
  net.connect(node, host, { aPort: 1, bPort: 0, delayNs: 1000 });
  net.connect(node, net.add('b', b), { aPort: 2, bPort: 0, delayNs: 1000 });
  const target = new P4vmTarget({ host: p4 });
  const server = new P4RuntimeServer({ devices: [{ deviceId: 1, target }] });
  return { net, p4, host, a, b, server };
}

async function program(controller: Controller) {
  const session = await controller.lead();
  expect(await controller.setPipeline(3, { p4info: INFO, p4DeviceConfig: DEVICE_CONFIG })).toBe(0);
  const toCpu = { action: does(ACTION.toCpu, bytes(5)), idleTimeoutNs: 1_000_000_000n };
  await controller.write([
    update(INSERT, station(1, 1)),
    update(INSERT, station(2, 2)),
    update(INSERT, station(3, 0, toCpu)),
    update(
      INSERT,
      entry({ tableId: TABLE.rules, match: [exact(1, bytes(9))], priority: 1, action: does(ACTION.drop) }),
    ),
  ]);
  return session;
}

describe('a switch of a simulated network', () => {
  it('is programmed in virtual time, by a controller without a socket', async () => {
    const { net, host, a, b, server } = network();
    const controller = new Controller(server.transport());
    const session = await program(controller);
    host.send(0, frame(2));
    host.send(0, frame(3));
    host.send(0, frame(2, [9]));
    net.run(net.nowNs + 1e6);
    expect([a.received, b.received]).toEqual([[], [frame(2)]]);
    expect((await session.next('packet')).payload).toEqual(frame(3));
    session.send({
      update: {
        case: 'packet',
        value: {
          payload: frame(1),
          metadata: [
            { metadataId: 1, value: bytes(0) },
            { metadataId: 2, value: bytes(0) },
            { metadataId: 3, value: bytes(0) },
          ],
        },
      },
    });
    await until('the packet of the controller', () => server.statistics(1)?.packetOuts === 1);
    net.run(net.nowNs + 1e6);
    expect(a.received).toEqual([frame(1)]);
    net.run(net.nowNs + 1.5e9);
    const idle = await session.next('idleTimeoutNotification');
    expect(idle.tableEntry).toHaveLength(1);
    // When the packet for the controller had come by, and a second had passed.
    expect(idle.timestamp).toBeGreaterThanOrEqual(1_000_000_000n);
    expect(idle.timestamp).toBeLessThan(1_010_000_000n);
    await server.close();
  });

  it('is programmed in real time, by a controller behind a port', async () => {
    const { net, host, b, server } = network();
    const { port } = await server.listen({ port: 0 });
    const began = performance.now();
    const timer = setInterval(() => net.run(Math.floor((performance.now() - began) * 1e6)), 5);
    try {
      const controller = new Controller(createGrpcTransport({ baseUrl: `http://127.0.0.1:${port}` }));
      const session = await program(controller);
      host.send(0, frame(2));
      await until('the frame', () => b.received.length === 1);
      expect((await session.next('idleTimeoutNotification')).tableEntry).toHaveLength(1);
      session.close();
    } finally {
      clearInterval(timer);
      await server.close();
    }
  });

  it('is programmed anew after its node failed', async () => {
    const { net, host, b, server, p4 } = network();
    const controller = new Controller(server.transport());
    await program(controller);
    p4.node.fail();
    p4.node.repair();
    expect(await controller.read(entry({ tableId: TABLE.stations }))).toEqual([]);
    await controller.write([update(INSERT, station(2, 2))]);
    host.send(0, frame(2));
    net.run(net.nowNs + 1e6);
    expect(b.received).toEqual([frame(2)]);
    await server.close();
  });
});
