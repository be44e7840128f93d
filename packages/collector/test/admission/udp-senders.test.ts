import {
  Collector,
  LiveStatistics,
  ReportLossStage,
  type Sink,
  type Stage,
  SwitchTotals,
  UdpSource,
} from '@int/collector';
import { describe, expect, test } from 'vitest';
import { send } from '../../../../.ci/test/datagrams.js';
import { LENGTH } from '../../../../.ci/test/length.js';
import { limit } from '../../../../.ci/test/requires.js';
import { hop, report } from '../reports.js';
import { SEED } from '../seed.js';
import { random, strangeDatagrams } from './strangers.js';

/** Every address of 127.0.0.0/8 is this machine on Linux alone. */
function needsLoopbacks(): void {
  if (process.platform !== 'linux') limit('only Linux has all of 127.0.0.0/8 as its own addresses');
}

/** What the bar asks for, and a part of it for every day. */
const STRANGE = LENGTH >= 1 ? 1_000_000 : 20_000;
const AT_A_TIME = 10_000;

describe('UDP senders', () => {
  test('only those in the list become rows, whatever addresses of one machine they use', async () => {
    needsLoopbacks();
    const source = new UdpSource({ address: 'udp://127.0.0.1:0', from: ['127.0.0.2', '127.1.0.0/16'] });
    const statistics = new LiveStatistics();
    const collector = new Collector({ sources: [source], stages: [statistics] });
    await collector.start();
    const { port } = source.address;
    const senders = ['127.0.0.1', '127.0.0.2', '127.0.0.3', '127.1.0.1', '127.1.255.9', '127.2.0.1'];
    for (const [at, sender] of senders.entries()) await send(port, [report(at, 1, [])], '127.0.0.1', sender);
    const totals = await collector.stop();
    expect(statistics.snapshot().switches.map(({ nodeId }) => nodeId)).toEqual([1, 3, 4]);
    expect(totals).toMatchObject({ received: 6, decoded: 3, dropped: { 'unknown-source': 3 } });
  });

  test('an IPv4 sender at a socket of both families is that IPv4 sender', async () => {
    needsLoopbacks();
    const source = new UdpSource({ address: 'udp://[::]:0', from: ['127.0.0.2'] });
    const collector = new Collector({ sources: [source] });
    await collector.start();
    const { port } = source.address;
    for (const sender of ['127.0.0.1', '127.0.0.2']) await send(port, [report(1, 1, [])], '127.0.0.1', sender);
    expect(await collector.stop()).toMatchObject({ received: 2, decoded: 1, dropped: { 'unknown-source': 1 } });
  });

  test('many random and mutated datagrams of an unknown sender: no row, no switch, all counted', async () => {
    needsLoopbacks();
    const source = new UdpSource({ address: 'udp://127.0.0.1:0', from: ['127.0.0.2'] });
    let batches = 0;
    const watch: Stage = { name: 'watch', process: () => void batches++ };
    const sink: Sink = { name: 'sink', write: () => void batches++ };
    const [statistics, switches, loss] = [new LiveStatistics(), new SwitchTotals(), new ReportLossStage()];
    const stages = [watch, statistics, switches, loss];
    const collector = new Collector({ sources: [source], stages, sinks: [sink] });
    await collector.start();
    const { port } = source.address;
    const next = random(SEED);
    for (let sent = 0; sent < STRANGE; sent += AT_A_TIME) {
      await send(port, strangeDatagrams(AT_A_TIME, next), '127.0.0.1', '127.0.0.66');
    }
    expect(collector.totals()).toMatchObject({ received: STRANGE, decoded: 0, reports: 0, kernelDropped: 0 });
    expect(collector.degraded().map(({ name }) => name)).toEqual(['unknown-source']);
    expect(batches).toBe(0);
    // Time passes for it, with frames or without.
    expect(statistics.snapshot()).toMatchObject({ switches: [], other: null, congested: [] });
    expect(switches.columns().nodeId.length).toBe(0);
    expect(loss.totals().reporters).toBe(0);
    // Meanwhile the sender that may send is heard.
    await send(port, [report(7, 1, [hop(1, 2, 3)])], '127.0.0.1', '127.0.0.2');
    const totals = await collector.stop();
    expect(totals).toMatchObject({ received: STRANGE + 1, decoded: 1, reports: 1, errors: {} });
    expect(totals.dropped).toEqual({
      truncated: 0,
      malformed: 0,
      unsupported: 0,
      'not-int': 0,
      overrun: 0,
      'unknown-source': STRANGE,
    });
    expect(statistics.snapshot().switches.map(({ nodeId }) => nodeId)).toEqual([1, 7]);
  }, 1_800_000); // A million datagrams, a few at a time.
});
