/** The same monitor in real time, over UDP sockets; the network answers through sockets of its own. */
import { Monitor, type SessionReport } from '@int/gpint';
import { realClock, UdpProbeTransport } from '@int/gpint/node';
import { buildNetwork } from '@int/netsim';
import { RealTimeGateway } from '@int/netsim/node';
import { linksOf } from './network.js';
import { FRAME_MS, prepare, scenarioOf, type World, type WorldSetup } from './worlds.js';

const LOOPBACK = '127.0.0.1';

/** Opens a socket for each switch that the monitor is attached to, and one for the monitor. @throws if it cannot */
export async function udpWorld(setup: WorldSetup): Promise<World> {
  const { graph, plan, seed, network: wiring, monitor: settings } = scenarioOf(setup);
  const built = buildNetwork({
    ...wiring,
    seed,
    switches: graph.nodeCount,
    names: graph.names,
    links: linksOf(graph),
  });
  const tap = prepare(built, setup.failures);
  const gateway = await RealTimeGateway.open(built, { host: LOOPBACK });
  // Nobody but the switches is listened to.
  const switches = new Set(
    built.entries.map((entry) => gateway.addressOf(entry)).map(({ host, port }) => `${host} ${port}`),
  );
  const transport = await UdpProbeTransport.open({
    host: LOOPBACK,
    addressOf: (node) => gateway.addressOf(node),
    accepts: ({ host, port }) => switches.has(`${host} ${port}`),
    // A socket does not show the DSCP: the monitor tells packets apart by their content.
    onPayload: (payload) => monitor.receive(payload, null),
  }).catch(async (error: unknown) => {
    await gateway.close();
    throw error;
  });
  const clock = realClock();
  const monitor: Monitor = new Monitor({ ...settings, graph, plan, transport, clock });
  const collect = async (signal: AbortSignal): Promise<SessionReport> => {
    const stop = (): void => monitor.stop();
    const timer = setInterval(() => setup.onFrame(clock.nowNs()), FRAME_MS);
    signal.addEventListener('abort', stop, { once: true });
    try {
      return await monitor.collect();
    } finally {
      clearInterval(timer);
      signal.removeEventListener('abort', stop);
    }
  };
  const close = async (): Promise<void> => {
    await Promise.all([transport.close(), gateway.close()]);
  };
  return { monitor, collect, pcap: () => tap.bytes(), close };
}
