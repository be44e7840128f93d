/** A monitor on UDP sockets among answers that nobody was asked for. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { gpint, Monitor, type SessionReport, wattsStrogatz } from '@int/gpint';
import { realClock, UdpProbeTransport } from '@int/gpint/node';
import { buildNetwork } from '@int/netsim';
import { RealTimeGateway } from '@int/netsim/node';
import { Random } from '@int/random';
import { describe, expect, it } from 'vitest';
import { until } from '../../../../.ci/test/until.js';
import { SEED } from '../seed.js';

const graph = wattsStrogatz(20, 4, 0.1, SEED);
const timeoutNs = 150_000_000;
const REQUEST_IDS = 0x8000;

/** Sends answers in the name of others: to every request id, and what has come with something else in it. */
class Forger {
  sent = 0;
  readonly #socket: Socket = createSocket('udp4');
  readonly #random = new Random(SEED);
  readonly #seen: Uint8Array[] = [];
  #isOver = false;

  /** What has come to the monitor, so that it can be sent again. */
  see(payload: Uint8Array): void {
    if (this.#seen.length < 200) this.#seen.push(payload.slice());
  }

  async run(port: number): Promise<void> {
    this.#socket.bind(0, '127.0.0.1');
    await once(this.#socket, 'listening');
    for (let id = 0; !this.#isOver; id = (id + 1) % REQUEST_IDS) {
      // Feedback is its request id; anything else has to be of the right route as well.
      const bytes = id % 2 === 0 || this.#seen.length === 0 ? new Uint8Array(2) : this.#other();
      bytes[0] = id >>> 7;
      bytes[1] = (id << 1) & 0xff;
      this.sent += 1;
      await new Promise((resolve) => this.#socket.send(bytes, port, '127.0.0.1', resolve));
      if (id % 16 === 0) await nextTurn();
    }
  }

  #other(): Uint8Array {
    const copy = this.#seen[this.#random.integer(this.#seen.length)]!.slice();
    copy[this.#random.integer(copy.length)]! ^= 1 << this.#random.integer(8);
    return copy;
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    const closed = once(this.#socket, 'close');
    this.#socket.close();
    await closed;
  }
}

interface Scene {
  readonly monitor: Monitor;
  readonly transport: UdpProbeTransport;
  readonly forger: Forger;
  readonly report: SessionReport;
}

/** A session while somebody forges answers. */
async function session(isGuarded: boolean): Promise<Scene> {
  const built = buildNetwork({
    seed: SEED,
    switches: graph.nodeCount,
    links: graph.pairs(),
    link: { delayNs: 1_000_000 },
    gpint: { timeoutNs },
  });
  const gateway = await RealTimeGateway.open(built);
  const switches = new Set(graph.names.map((_, node) => JSON.stringify(gateway.addressOf(node))));
  const transport = await UdpProbeTransport.open({
    host: '127.0.0.1',
    addressOf: (node) => gateway.addressOf(node),
    ...(isGuarded && { accepts: ({ host, port }) => switches.has(JSON.stringify({ host, port })) }),
  });
  const forger = new Forger();
  const { paths } = gpint(graph, { paths: 5, seed: SEED });
  const config = { timeoutNs, maxAttempts: 3 };
  const monitor = new Monitor({ graph, plan: paths, transport, clock: realClock(), config });
  transport.onPayload = (payload) => {
    forger.see(payload);
    monitor.receive(payload, null);
  };
  const forging = forger.run(transport.address.port);
  try {
    await until('200 forged answers', () => forger.sent >= 200);
    return { monitor, transport, forger, report: await monitor.collect() };
  } finally {
    await forger.stop();
    await forging;
    await transport.close();
    await gateway.close();
  }
}

describe('a monitor on UDP sockets, while somebody forges answers', () => {
  it('collects all switches, if only switches are listened to, and counts the others', async () => {
    const { monitor, report, transport } = await session(true);
    expect(report).toMatchObject({ complete: true, collected: 20 });
    expect(transport.counters.strangers).toBeGreaterThan(100);
    expect(transport.counters.received).toBe(monitor.counters.received);
    expect(monitor.counters).toMatchObject({ malformed: 0, unknown: 0, foreign: 0, stale: 0 });
  });

  it('ends its session by the bound, and counts every packet once, if everybody is listened to', async () => {
    const { monitor, report } = await session(false);
    // Timers of a busy machine are late.
    expect(report.endedNs - report.startedNs).toBeLessThan(10 * monitor.boundNs);
    const { feedback, lateFeedback, home, lateHome, notice, lateNotice } = monitor.counters;
    const { duplicate, foreign, malformed, received, stale, unknown } = monitor.counters;
    const taken = feedback + lateFeedback + home + lateHome + notice + lateNotice;
    expect(taken + duplicate + foreign + malformed + stale + unknown).toBe(received);
    expect(unknown + stale + foreign).toBeGreaterThan(100);
    expect(report.collected + report.uncollected.length).toBe(20);
  });

  it('begins at a request id that nobody can tell, unless it is given a seed', async () => {
    const firstIds = async (seed?: number): Promise<Set<number>> => {
      const ids = new Set<number>();
      for (let round = 0; round < 6; round++) {
        const transport = { send: (): void => undefined };
        const { paths } = gpint(graph, { paths: 5, seed: SEED });
        const monitor = new Monitor({
          graph,
          plan: paths,
          transport,
          clock: realClock(),
          ...(seed !== undefined && { seed }),
          onEvent: (event) => {
            if (event.kind === 'sent' && event.path === 0) ids.add(event.requestId);
          },
        });
        void monitor.collect();
        monitor.stop();
      }
      return ids;
    };
    expect((await firstIds(7)).size).toBe(1);
    expect((await firstIds()).size).toBeGreaterThan(4);
  });
});
