import { GpintError, gpint, Monitor, type SessionReport, wattsStrogatz } from '@int/gpint';
import { realClock, UdpProbeTransport } from '@int/gpint/node';
import { buildNetwork } from '@int/netsim';
import { RealTimeGateway } from '@int/netsim/node';
import { describe, expect, it } from 'vitest';
import { until } from '../../../../.ci/test/until.js';
import { SEED } from '../seed.js';

const graph = wattsStrogatz(20, 4, 0.1, SEED);
const timeoutNs = 150_000_000;

describe('a monitor on UDP sockets', () => {
  it('collects simulated switches behind sockets, around failed links', async () => {
    const built = buildNetwork({
      seed: SEED,
      switches: graph.nodeCount,
      links: graph.pairs(),
      link: { delayNs: 100_000 },
      gpint: { timeoutNs },
    });
    const gateway = await RealTimeGateway.open(built);
    const transport = await UdpProbeTransport.open({
      host: '127.0.0.1',
      addressOf: (node) => gateway.addressOf(node),
    });
    try {
      const { paths } = gpint(graph, { paths: 5, seed: SEED });
      const monitor = new Monitor({
        graph,
        plan: paths,
        transport,
        clock: realClock(),
        config: { timeoutNs, maxAttempts: 20 },
      });
      transport.onPayload = (payload) => monitor.receive(payload, null);
      const first = await monitor.collect();
      expect(first).toMatchObject({ complete: true, collected: 20 });
      const [a, b] = Array.from(paths.path(0)) as [number, number];
      gateway.change(() => built.linkBetween(a, b)!.fail());
      const second: SessionReport = await monitor.collect();
      expect(second.complete).toBe(true);
      expect(second.links).toContainEqual(expect.objectContaining({ from: a, to: b, status: 'unavailable' }));
      expect(second.sentRecovery).toBeGreaterThan(0);
      expect(transport.counters).toMatchObject({ errors: 0, noAddress: 0 });
      expect(transport.counters.received).toBeGreaterThanOrEqual(monitor.counters.received);
    } finally {
      await transport.close();
      await gateway.close();
    }
  });

  it('names the switches that it has no way to, and counts the probes that did not leave', async () => {
    const transport = await UdpProbeTransport.open({
      host: '127.0.0.1',
      addressOf: (node) => (node === 0 ? { host: 'no address', port: 5017 } : undefined),
      onPayload: () => undefined,
    });
    const small = wattsStrogatz(4, 2, 0, SEED);
    const { paths } = gpint(small, { paths: 2, seed: SEED });
    const clock = realClock();
    const config = { timeoutNs: 1_000_000, maxAttempts: 0 };
    const monitor = new Monitor({ graph: small, plan: paths, transport, clock, config });
    const report = await monitor.collect();
    expect(report.uncollected.map(({ reason }) => reason)).toEqual(new Array(4).fill('no-feedback'));
    expect(report.endedNs - report.startedNs).toBeGreaterThan(0);
    // Looking for a host that is none may take longer than the session.
    const unsent = (): number => transport.counters.noAddress + transport.counters.errors;
    await until('an end of all probes', () => unsent() === report.counters.sent, { found: unsent });
    await transport.close();
    await transport.close();
    const { sent, noAddress, errors } = transport.counters;
    expect(sent).toBe(0);
    expect(noAddress).toBeGreaterThan(0);
    expect(noAddress + errors).toBe(report.counters.sent);
    transport.send(0, new Uint8Array(8), false);
    expect(transport.counters.errors).toBe(errors + 1);
  });

  it('counts every probe that was sent before it closed, as sent or as an error', async () => {
    for (const turns of [0, 1, 2]) {
      const transport = await UdpProbeTransport.open({
        host: '127.0.0.1',
        addressOf: () => ({ host: '127.0.0.1', port: 9 }),
      });
      for (let probe = 0; probe < 50; probe++) transport.send(0, new Uint8Array(8), false);
      for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
      await transport.close();
      const { sent, errors } = transport.counters;
      expect(sent + errors).toBe(50);
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(transport.counters).toMatchObject({ sent, errors });
    }
  });

  it('says so if its port is taken', async () => {
    const options = { host: '127.0.0.1', addressOf: () => undefined, onPayload: () => undefined };
    const first = await UdpProbeTransport.open(options);
    const second = UdpProbeTransport.open({ ...options, port: first.address.port });
    await expect(second).rejects.toMatchObject({ code: 'ERR_GPINT_SOCKET' });
    await expect(second).rejects.toSatisfy(GpintError.is);
    await first.close();
  });
});

describe('the clock of this process', () => {
  it('calls back when it is time, not before, and not if it was cancelled', async () => {
    const clock = realClock();
    const start = clock.nowNs();
    const called: number[] = [];
    /** When the callback for a time was called. A busy machine may call for the earlier time last. */
    const at = (timeNs: number): Promise<number> =>
      new Promise((resolve) => clock.at(timeNs, () => resolve(clock.nowNs())));
    clock.at(start + 1_000_000, () => called.push(-1))();
    const late = at(start + 5_000_000);
    clock.at(start - 1, () => called.push(0));
    expect(called).toEqual([]);
    expect(await late).toBeGreaterThanOrEqual(start + 5_000_000);
    await at(clock.nowNs() + 5_000_000);
    expect(called).toEqual([0]);
  });
});
