import { type Aggregate, type FlowSet, type SmallFlow, TrafficClusters } from '@int/knowledge';
import { prefixOf } from '@int/network';
import { Random } from '@int/random';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../.ci/test/length.js';
import { ELEPHANT_BPS, type MixedFlow, mixedFlows } from './mixed-traffic.js';

/** Whether an aggregate's match means a flow: by its text alone, as a switch would be told. */
function means({ source, destination, sourcePorts }: Aggregate<unknown>, flow: SmallFlow): boolean {
  const isIn = (prefix: string, address: Uint8Array): boolean => {
    const { bytes, length } = prefixOf(prefix)!;
    const bits = (value: Uint8Array): string => [...value].map((byte) => byte.toString(2).padStart(8, '0')).join('');
    return bytes.length === address.length && bits(bytes).slice(0, length) === bits(address).slice(0, length);
  };
  return (
    isIn(source, flow.source) &&
    isIn(destination, flow.destination) &&
    (sourcePorts === null || (flow.sourcePort >= sourcePorts[0] && flow.sourcePort <= sourcePorts[1]))
  );
}

const small = (seed: number, count: number): MixedFlow[] => mixedFlows(new Random(seed), count, 0);
const noisy = (flows: readonly MixedFlow[], random: Random): MixedFlow[] =>
  flows.map((flow) => ({ ...flow, bps: flow.bps * (0.97 + 0.06 * random.uniform()) }));
const sum = (flows: readonly { readonly bps: number }[]): number => flows.reduce((total, { bps }) => total + bps, 0);

describe('TrafficClusters', () => {
  it('puts each flow into exactly one aggregate, whose match means its flows alone, and none has more than a move may shift', () => {
    for (let seed = 1; seed <= runs(48); seed++) {
      const flows = small(seed, 600);
      const { aggregates, left } = new TrafficClusters().update(flows, 0);
      expect(Object.values(left).map((each) => each.flows)).toEqual([0, 0, 0, 0]);
      expect(new Set(aggregates.map(({ key }) => key)).size).toBe(aggregates.length);
      for (const flow of flows) {
        const found = aggregates.filter((each) => means(each, flow));
        expect(found, `seed ${seed}, ${flow.key}`).toHaveLength(1);
        expect(found[0]!.flows).toContain(flow);
      }
      for (const { bps, flows } of aggregates) {
        expect(bps).toBeLessThanOrEqual(ELEPHANT_BPS);
        expect(sum(flows)).toBeCloseTo(bps, 0);
      }
    }
  });

  it('keeps the same aggregates while rates vary a little, and puts them together when they have fallen', () => {
    const random = new Random('noise');
    const flows = small(1, 1000);
    const clusters = new TrafficClusters();
    const first = clusters.update(flows, 0).aggregates.map(({ key }) => key);
    for (let k = 1; k <= 20; k++) {
      const keys = new Set(clusters.update(noisy(flows, random), 200 * k).aggregates.map(({ key }) => key));
      // One at the very limit may be divided once.
      expect(first.filter((key) => !keys.has(key)).length).toBeLessThanOrEqual(2);
    }
    const few = flows.map((flow) => ({ ...flow, bps: flow.bps / 20 }));
    const { aggregates } = clusters.update(few, 5000);
    expect(aggregates).toHaveLength(30);
    expect(first.length).toBeGreaterThan(30);
  });

  it('divides what another match has a part of, and leaves that part alone', () => {
    const flows = small(2, 800).filter(({ from, to }) => from === 0 && to === 1);
    const held: FlowSet = {
      source: { bytes: Uint8Array.of(10, 0, 0, 4), length: 31 },
      destination: { bytes: Uint8Array.of(10, 0, 0, 0), length: 8 },
      sourcePorts: [32_768, 65_535],
    };
    const isHeld = ({ source, sourcePort }: MixedFlow): boolean => (source[3]! & ~1) === 4 && sourcePort >= 32_768;
    const { aggregates, left } = new TrafficClusters().update(flows, 0, [held]);
    expect(left.held.flows).toBe(flows.filter(isHeld).length);
    expect(left.held.flows).toBeGreaterThan(0);
    for (const flow of flows) expect(aggregates.filter((each) => means(each, flow))).toHaveLength(isHeld(flow) ? 0 : 1);
    // A range that is not of ports with the same first bits: all ports of the prefix are left alone.
    const odd = new TrafficClusters().update(flows, 0, [{ ...held, sourcePorts: [5, 7] }]);
    expect(odd.left.held.flows).toBe(flows.filter(({ source }) => (source[3]! & ~1) === 4).length);
  });

  it('has so many aggregates at most, the largest flows in them, and counts the others', () => {
    for (const most of [2, 16, 40]) {
      const flows = small(3, 2000);
      const clusters = new TrafficClusters(most);
      for (let k = 0; k < 3; k++) {
        const { aggregates, left } = clusters.update(flows, 200 * k);
        expect(aggregates.length).toBeLessThanOrEqual(most);
        expect(sum(aggregates) + left.full.bps).toBeCloseTo(sum(flows), 0);
        expect(aggregates.reduce((count, each) => count + each.flows.length, 0) + left.full.flows).toBe(flows.length);
      }
    }
    expect(() => new TrafficClusters(1)).toThrow('aggregates must be a whole number from 2 to 65,536, not 1');
  });

  it('leaves alone what varies too much, and what nobody knows the place of', () => {
    const clusters = new TrafficClusters();
    const [steady, restless] = [0, 1].map((from) =>
      small(4, 400).filter((each) => each.from === from && each.to === 3),
    );
    for (let k = 0; k < 12; k++) {
      const bursts = restless!.map((flow) => ({ ...flow, bps: k % 3 === 0 ? 8 * flow.bps : flow.bps / 8 }));
      const { aggregates, left } = clusters.update([...steady!, ...bursts, { ...steady![0]!, within: null }], 200 * k);
      expect(left.unplaced.flows).toBe(1);
      if (k < 11) continue;
      expect(left.restless.flows).toBe(restless!.length);
      expect(aggregates.flatMap(({ flows }) => flows).length).toBe(steady!.length);
      for (const { variation } of aggregates) expect(variation).toBeLessThan(0.05);
    }
  });

  it('expects a rate that rises to rise on, and one that falls to be as it is', () => {
    const clusters = new TrafficClusters();
    const flow = small(5, 1)[0]!;
    const at = (bps: number, timeMs: number) => clusters.update([{ ...flow, bps }], timeMs).aggregates[0]!;
    let last = at(1e8, 0);
    for (let k = 1; k <= 20; k++) last = at(1e8 + 1e7 * k, 200 * k);
    // 50 Mbit/s each second.
    expect(last.riseBps / 5e7).toBeGreaterThan(0.7);
    expect(last.riseBps / 5e7).toBeLessThan(1.3);
    for (let k = 1; k <= 15; k++) last = at(3e8 - 1e7 * k, 4000 + 200 * k);
    expect(last).toMatchObject({ riseBps: 0, bps: 1.5e8 });
  });

  it('takes IPv6, too', () => {
    const address = (last: number): Uint8Array => Uint8Array.of(0x20, 1, 0xd, 0xb8, ...new Uint8Array(11), last);
    const within = { source: { bytes: address(0), length: 124 }, destination: { bytes: address(64), length: 122 } };
    const flows = Array.from({ length: 40 }, (_, k) => {
      const addresses = { source: address(k % 10), destination: address(64 + k) };
      return { ...addresses, sourcePort: 7, bps: 1e6, mostBps: 5e6, within };
    });
    const { aggregates } = new TrafficClusters().update(flows, 0);
    for (const flow of flows) expect(aggregates.filter((each) => means(each, flow))).toHaveLength(1);
    for (const { bps } of aggregates) expect(bps).toBeLessThanOrEqual(5e6);
  });
});
