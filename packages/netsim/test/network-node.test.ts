import { Network } from '@int/netsim';
import { describe, expect, it } from 'vitest';
import { frameOf, Recorder } from './behaviours.js';
import { SEED } from './seed.js';

function server(options: Parameters<Network['add']>[2], seed: number | string = 1) {
  const network = new Network({ seed });
  const recorder = new Recorder();
  const source = network.add('source', new Recorder());
  const node = network.add('server', recorder, options);
  const link = network.connect(source, node);
  return { network, source, node, recorder, link };
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

describe('a node', () => {
  it('serves one packet after the other at its rate, in order, and drops what its queue cannot hold', () => {
    const { network, source, node, recorder } = server({ rate: 1000, queuePackets: 3 });
    for (let i = 0; i < 5; i++) source.send(0, frameOf(60, i));
    network.run(500_000);
    expect([node.queueDepth, node.droppedQueue]).toEqual([3, 2]);
    network.run(1e9);
    expect(recorder.times).toEqual([1e6, 2e6, 3e6]);
    expect(recorder.frames.map((frame) => frame[0])).toEqual([0, 1, 2]);
    expect(node).toMatchObject({ arrived: 5, processed: 3, busyNs: 3e6, queueDepth: 0 });
  });

  it('holds any number of packets where its queue has no limit', () => {
    const { network, source, recorder } = server({ rate: 1e6 });
    for (let i = 0; i < 200; i++) source.send(0, frameOf(60, i));
    network.run(1e9);
    expect(recorder.frames.map((frame) => frame[0])).toEqual(Array.from({ length: 200 }, (_, i) => i));
  });

  it('waits as the theory of M/D/1 says', () => {
    // Poisson arrivals at load rho, service time 1: the mean wait in the queue is rho / (2 (1 - rho)).
    for (const load of [0.5, 0.8]) {
      const { network, source, recorder } = server({ rate: 1000 }, SEED);
      const random = network.random.derive('arrivals');
      const packets = 60_000;
      const arrivals: number[] = [];
      let time = 0;
      for (let i = 0; i < packets; i++) {
        time += random.exponential(1e6 / load);
        arrivals.push(Math.round(time));
      }
      const frame = frameOf(60);
      let next = 0;
      const target = {
        wake: (): void => {
          source.send(0, frame);
          if (++next < packets) network.schedule(arrivals[next]!, target);
        },
      };
      network.schedule(arrivals[0]!, target);
      network.run(Number.POSITIVE_INFINITY);
      const waits = recorder.times.map((at, i) => (at - arrivals[i]! - 1e6) / 1e6);
      expect(waits.length).toBe(packets);
      // Lindley's recursion, packet by packet: what is left of the wait and service of the one before.
      let left = 0;
      const recursion = arrivals.map((at, i) => {
        left = i === 0 ? 0 : Math.max(0, left + 1e6 - (at - arrivals[i - 1]!));
        return left / 1e6;
      });
      expect(waits).toEqual(recursion);
      // Waits that follow one another are alike, so the error of their mean is told by means of long batches.
      const batches = Array.from({ length: 30 }, (_, i) => mean(waits.slice(i * 2000, (i + 1) * 2000)));
      const error = Math.sqrt(mean(batches.map((each) => (each - mean(batches)) ** 2)) / 29);
      const expected = load / (2 * (1 - load));
      expect(Math.abs(mean(waits) - expected)).toBeLessThan(5 * error);
      expect(error / expected).toBeLessThan(0.1);
    }
  });

  it('loses its queue, its reserved places and its timers when it fails, and takes nothing until it is repaired', () => {
    const { network, source, node, recorder } = server({ rate: 1000, queuePackets: 4 });
    let fired = 0;
    node.after(5e6, () => fired++);
    expect(node.reserve()).toBe(true);
    for (let i = 0; i < 3; i++) source.send(0, frameOf(60, i));
    network.run(1_500_000);
    expect([recorder.frames.length, node.queueDepth]).toEqual([1, 2]);
    node.fail();
    node.fail();
    source.send(0, frameOf(60, 9));
    node.send(0, frameOf(60));
    network.run(3e6);
    node.repair();
    node.after(1e6, () => (fired += 10));
    for (let i = 0; i < 4; i++) source.send(0, frameOf(60, 20 + i));
    network.run(1e9);
    expect(node).toMatchObject({ arrived: 8, processed: 5, droppedDown: 3, droppedQueue: 0, sentDown: 1, sent: 0 });
    expect(recorder.frames.map((frame) => frame[0])).toEqual([0, 20, 21, 22, 23]);
    expect(fired).toBe(10);
  });

  it('gives places of its queue away, and takes them back', () => {
    const { network, source, node } = server({ rate: 1000, queuePackets: 2 });
    expect([node.reserve(), node.reserve(), node.reserve()]).toEqual([true, true, false]);
    source.send(0, frameOf(60));
    network.run(1);
    expect([node.droppedQueue, node.queueDepth]).toEqual([1, 0]);
    node.unreserve();
    source.send(0, frameOf(60));
    network.run(2);
    expect([node.droppedQueue, node.queueDepth, node.reserve()]).toEqual([1, 1, false]);
  });

  it('counts what it sends to a port without a link', () => {
    const { network, node } = server({});
    node.send(1, frameOf(60));
    node.send(-1, frameOf(60));
    network.run(1);
    expect(node).toMatchObject({ sent: 0, sentNowhere: 2 });
    expect([node.connectedPorts, node.neighbour(0)?.name, node.neighbour(1)]).toEqual([[0], 'source', undefined]);
  });

  it('has a clock with an offset and a drift', () => {
    const network = new Network({ seed: 1, startNs: 1000 });
    const node = network.add('late', new Recorder(), { clockOffsetNs: -50, clockDriftPpm: 100 });
    expect([node.nowNs, node.clockNs]).toEqual([1000, 950]);
    network.run(1000 + 1e9);
    expect(node.clockNs).toBe(950 + 1e9 + 100_000);
  });

  it('has random numbers of its own, by its name and the seed', () => {
    const draw = (seed: number, names: string[], of: string): number => {
      const network = new Network({ seed });
      for (const name of names) network.add(name, new Recorder());
      return network.find(of)!.random.uint32();
    };
    expect(draw(1, ['a', 'b'], 'b')).toBe(draw(1, ['x', 'b', 'a'], 'b'));
    expect(draw(1, ['a', 'b'], 'a')).not.toBe(draw(1, ['a', 'b'], 'b'));
    expect(draw(1, ['a'], 'a')).not.toBe(draw(2, ['a'], 'a'));
  });

  it('can be served faster or slower from now on', () => {
    const { network, source, node, recorder } = server({ rate: 1000 });
    for (let i = 0; i < 3; i++) source.send(0, frameOf(60));
    network.run(1);
    node.setRate(2000);
    network.run(1e9);
    expect(recorder.times).toEqual([1e6, 1.5e6, 2e6]);
  });

  it('refuses options that make no sense, and a name that is taken', () => {
    const network = new Network({ seed: 1 });
    for (const options of [{ rate: 0 }, { queuePackets: 0 }, { clockOffsetNs: 0.5 }, { clockDriftPpm: Number.NaN }]) {
      expect(() => network.add('n', new Recorder(), options)).toThrow(RangeError);
    }
    const node = network.add('n', new Recorder());
    expect(() => network.add('n', new Recorder())).toThrow(TypeError);
    expect(() => node.after(-1, () => {})).toThrow(RangeError);
  });
});
