/** Thresholds of int.p4 in netsim, moved over P4Runtime by what its reports say. */
import { decodeReport, source } from '@int/codec';
import {
  type DesiredEntity,
  P4RuntimeConnection,
  Reconciler,
  SwitchAdaptation,
  type ThresholdMove,
} from '@int/control';
import { Network, udpFrame } from '@int/netsim';
import { P4Switch } from '@int/netsim/p4';
import { type Entity, P4RuntimeServer, P4vmTarget } from '@int/p4runtime';
import { entry } from '@int/p4runtime/internals';
import { Random } from '@int/random';
import { afterEach, describe, expect, it } from 'vitest';
import { inTime } from '../../../.ci/test/until.js';
import { pipelineOf, program } from './fabric.js';

const HOP_LATENCY = 0x2000;
const [IN, OUT, COLLECTOR] = [1, 2, 7];
const SECOND_NS = 1e9;
const PACKETS_PER_SECOND = 400;
const TARGET = 25;
const BAND = { minimum: 500, maximum: 5000 };

const wanted = (entity: Entity): DesiredEntity => ({ entity, intents: ['sink'], stage: 0 });
const byDefault = (table: string, action: string, params: Record<string, number>): DesiredEntity =>
  wanted(entry(table, {}, action, params, { isDefault: true }));

const SINK: readonly DesiredEntity[] = [
  byDefault('IntEgress.node', 'set_node', { id: 5 }),
  byDefault('IntEgress.reports', 'set_session', { session: 2000 }),
  wanted({ kind: 'clone-session', id: 2000, replicas: [{ port: COLLECTOR, instance: 0 }] }),
  wanted(entry('forward_ipv4', { destination_address: '10.0.0.0/8' }, 'forward', { port: OUT })),
  wanted(
    entry('IntEgress.port', { egress_port: OUT }, 'set_port', {
      is_sink: 1,
      mtu: 0,
      congested_above: 0xff_ffff,
      complements: 0,
      level2_egress: 0xffff_ffff,
    }),
  ),
  wanted(
    entry('IntReport.collector', { egress_port: COLLECTOR }, 'send', {
      index: 0,
      source_mac: '02:00:00:00:00:05',
      destination_mac: '02:00:00:00:00:99',
      source_address: '10.0.9.5',
      destination_address: '10.0.9.9',
      source_port: 50_000,
      destination_port: 32_766,
      hardware_id: 3,
      most: 600,
    }),
  ),
  // A level of the whole path: algorithm 4, scope 2.
  wanted(
    entry(
      'IntSink.algorithm_ipv4_a',
      {},
      'IntSink.fast_detection',
      { rule: 0, algorithm: 4, metric: 0, scope: 2, threshold: BAND.minimum, weight: 0, one_in: 0, every: 0 },
      { priority: 1 },
    ),
  ),
];

let open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.reverse()) await each.close();
  open = [];
});

describe('thresholds in a switch', () => {
  it('follow what comes, within the learnt band, and real events are found all the same', async () => {
    const net = new Network({ seed: 3 });
    const behaviour = new P4Switch(program);
    const node = net.add('sink', behaviour);
    const events: number[] = [];
    const ends = new Map(
      [IN, OUT, COLLECTOR].map((port) => {
        const end = net.add(`host ${port}`, {
          receive(frame: Uint8Array): void {
            if (port !== COLLECTOR) return;
            const hops = decodeReport(frame.slice(42)).records[0]?.hops ?? [];
            events.push(hops.reduce((sum, { hopLatency }) => sum + (hopLatency ?? 0), 0));
          },
        });
        net.connect(node, end, { aPort: port, bPort: 0, delayNs: 1000 });
        return [port, end] as const;
      }),
    );
    const server = new P4RuntimeServer({
      devices: [{ deviceId: 1, target: new P4vmTarget({ host: behaviour }) }],
    });
    const pipeline = pipelineOf();
    const connection = new P4RuntimeConnection({ switchId: 5, target: server.transport(), pipeline });
    const reconciler = new Reconciler({ connections: [connection], graceMs: 0 });
    open = [server, connection, reconciler];
    const desired = new Map([[5, SINK]]);
    const adaptation = new SwitchAdaptation(
      [{ switchId: 5, rule: 0, target: TARGET, initial: BAND.minimum, ...BAND }],
      { windowMs: 2000 },
    );
    reconciler.want(adaptation.apply(desired), { owner: 'test', reason: 'start' });
    await inTime('the sink', reconciler.settled(), { found: () => reconciler.state });

    const random = new Random(7);
    const addresses = { source: 0x0a00_0101, destination: 0x0a00_0202, sourcePort: 5000, destinationPort: 80 };
    const frame = udpFrame(addresses, new Uint8Array(20));
    /** Two seconds of traffic. @returns the events of a second, and what moved */
    const window = async (
      mean: number,
      real: number,
    ): Promise<{ rate: number; found: number; moves: readonly ThresholdMove[] }> => {
      const startNs = net.nowNs;
      for (let packet = 0; packet < 2 * PACKETS_PER_SECOND; packet++) {
        const isReal = packet < real;
        const hopLatency = isReal ? 20_000 + packet : Math.floor(random.exponential(mean));
        const given = source(
          frame,
          {
            intPorts: [5000],
            intDscp: { value: 0x17, mask: 0x3f },
            instructions: HOP_LATENCY,
            maxHops: 1,
            encapsulation: 'new-udp',
          },
          { hopLatency },
        );
        net.at(startNs + Math.floor((packet * SECOND_NS) / PACKETS_PER_SECOND), () =>
          ends.get(IN)!.send(0, given.packet),
        );
      }
      events.length = 0;
      net.run(startNs + 2 * SECOND_NS);
      for (const value of events) adaptation.observe(5, 0, value);
      const moves = adaptation.step(net.nowNs / 1e6);
      if (moves.length > 0) {
        reconciler.want(adaptation.apply(desired), {
          owner: 'adaptation',
          reason: 'events came too often or too rarely',
        });
        await inTime('the threshold', reconciler.settled(), { found: () => reconciler.state });
      }
      return { rate: events.length / 2, found: events.filter((value) => value >= 20_000).length, moves };
    };
    adaptation.step(net.nowNs / 1e6);

    let moves = 0;
    const rates: number[] = [];
    // The load as it is, then twice the latency, then half of it.
    for (const mean of [1000, 1500, 500]) {
      for (let at = 0; at < 6; at++) {
        const each = await window(mean, 0);
        moves += each.moves.length;
        if (at >= 4) rates.push(each.rate);
      }
      const [state] = adaptation.thresholds;
      expect(state!.threshold).toBeGreaterThanOrEqual(BAND.minimum);
      expect(state!.threshold).toBeLessThanOrEqual(BAND.maximum);
      // The threshold that an exponential latency needs for the target.
      const ideal = mean * Math.log(PACKETS_PER_SECOND / TARGET);
      expect(state!.threshold).toBeGreaterThan(0.75 * ideal);
      expect(state!.threshold).toBeLessThan(1.3 * ideal);
      // What no band hides.
      expect((await window(mean, 10)).found).toBe(10);
    }
    const mean = rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
    expect(mean).toBeGreaterThan(0.7 * TARGET);
    expect(mean).toBeLessThan(1.3 * TARGET);
    // It rests where it is good: fewer moves than windows.
    expect(moves).toBeLessThan(20);
  });

  it('stay at the ends of the band where the target is out of reach, and move boundedly often', () => {
    const adaptation = new SwitchAdaptation(
      [
        { switchId: 1, rule: 0, target: 10, minimum: 100, maximum: 200, initial: 100 },
        { switchId: 1, rule: 1, target: 10, minimum: 100, maximum: 200, initial: 200 },
        { switchId: 1, rule: 2, target: 10, minimum: 100, maximum: 1000, initial: 1000 },
      ],
      { movesPerWindow: 1 },
    );
    let moves = 0;
    for (let second = 0; second < 40; second++) {
      for (let event = 0; event < 1000; event++) adaptation.observe(1, 0, 5000);
      adaptation.observe(1, 9, 1);
      const moved = adaptation.step(second * 1000);
      expect(moved.length).toBeLessThanOrEqual(1);
      moves += moved.length;
    }
    expect(adaptation.thresholds).toMatchObject([
      { threshold: 200, status: 'at-maximum' },
      { threshold: 100, status: 'at-minimum' },
      { threshold: 100, status: 'at-minimum' },
    ]);
    expect(adaptation.untracked).toBe(40);
    expect(moves).toBeGreaterThan(3);
    // A band learnt anew holds at once.
    adaptation.learn(1, 1, 150, 300);
    for (let second = 40; second < 60; second++) adaptation.step(second * 1000);
    expect(adaptation.thresholds[1]).toMatchObject({ threshold: 150 });
    expect(() => adaptation.learn(1, 7, 1, 2)).toThrow(TypeError);
    expect(() => adaptation.learn(1, 1, 3, 2)).toThrow(RangeError);
  });
});
