/** Tables of the compiler in switches with queues: the links carry, and the hosts receive, what the twin has predicted. */
import { compile, type DesiredState, type Intent, type ObservedFlow, type Rehearsal, Twin } from '@int/control';
import { Random } from '@int/random';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../.ci/test/length.js';
import { Fabric, program } from './fabric.js';
import { simulate } from './simulated.js';

const twin = new Twin({ int: program });
/** Flows that were planned for one second take so many: what a meter lets through at once counts for less. */
const seconds = 8;
/** Of a rate or a share. */
const TOLERANCE = 0.02;

class Scene {
  readonly random: Random;
  readonly shape: readonly [leaves: number, spines: number, hosts: number];
  readonly flows: readonly ObservedFlow[];
  readonly intents: readonly Intent[];
  readonly limited: ObservedFlow;

  constructor(seed: number) {
    this.random = new Random(seed);
    const { random } = this;
    this.shape = [2 + random.integer(2), 2 + random.integer(2), 2];
    const fabric = new Fabric(...this.shape);
    const count = { packets: () => 60 + random.integer(140), bytes: () => 100 + random.integer(1300) };
    const flows = fabric.flows(random, 24, () => 0, count);
    // Where they go is for the tables to say.
    this.flows = flows.map((flow, index) => ({
      ...flow,
      ...(index === 0 && { packets: 800, bytes: 800 * 1200 }),
      path: [flow.path[0]!],
    }));
    this.limited = this.flows[0]!;
    this.intents = this.#intents(fabric);
  }

  #intents(fabric: Fabric): readonly Intent[] {
    const { random, flows, limited } = this;
    const terms = { owner: 'test', fromMs: 0, ttlMs: null, reason: '' };
    const exact = ({ source, destination, sourcePort, destinationPort }: ObservedFlow) => ({
      source,
      destination,
      protocol: 17,
      sourcePort: [sourcePort, sourcePort] as const,
      destinationPort: [destinationPort, destinationPort] as const,
    });
    const [moved, blocked, watched] = [flows[1]!, flows[2]!, flows[3]!];
    const leafOf = (address: string): number => Number(address.split('.')[2]);
    const spine = fabric.spines[random.integer(fabric.spines.length)]!;
    const via = [leafOf(moved.source), spine, leafOf(moved.destination)];
    const link = { switchId: fabric.leaves[random.integer(fabric.leaves.length)]!, port: 51 };
    const bitsPerSecond = Math.round((8 * limited.bytes) / seconds / 2);
    return [
      { ...terms, id: 'avoid', priority: 1, kind: 'avoid', link },
      { ...terms, id: 'path', priority: 2, kind: 'path', match: exact(moved), via },
      { ...terms, id: 'block', priority: 3, kind: 'block', match: exact(blocked), reportOneIn: 0 },
      { ...terms, id: 'limit', priority: 4, kind: 'limit', match: exact(limited), bitsPerSecond },
      { ...terms, id: 'watch', priority: 5, kind: 'watch', match: exact(watched), instructions: 0xf000, oneIn: 1 },
    ];
  }

  /** The fabric with links of a speed, its compiled tables, and what the twin says of them. */
  predict(speedBps: number): { fabric: Fabric; state: DesiredState; rehearsal: Rehearsal } {
    const fabric = new Fabric(...this.shape, `${speedBps}`);
    const model = { ...fabric.model(), collector: { address: '10.0.1.200', port: 32_766 } };
    const { desired: state, conflicts, unplaced } = compile(model, this.intents, 1);
    expect(conflicts).toEqual([]);
    expect(unplaced).toEqual([]);
    const mayDrop = this.intents.filter((each) => each.kind === 'block' || each.kind === 'limit');
    const rehearsal = twin.rehearse(model, state, [], { flows: this.flows, seconds }, { linkLoad: 1, mayDrop });
    return { fabric, state, rehearsal };
  }

  /** The speed at which the busiest link carries a share of what it can. */
  speedFor(share: number): number {
    const { rehearsal } = this.predict(1_000_000_000);
    return Math.round(Math.max(...[...rehearsal.loads.values()].map(({ afterBps }) => afterBps)) / share);
  }
}

describe('compiled tables in switches with queues', () => {
  it.each(Array.from({ length: runs(16) }, (_, seed) => seed))('carry what is predicted: seed %i', (seed) => {
    const scene = new Scene(seed);
    const { fabric, state, rehearsal } = scene.predict(scene.speedFor(0.8));
    const rateBps = fabric.topology.switches.get(1)!.ports.get(51)!.speedBps!;
    const { loads, delivered, queueDrops, longestQueue } = simulate(fabric, state, scene.flows, {
      seconds,
      seed,
      rateBps,
    });
    expect(queueDrops).toBe(0);
    expect(longestQueue).toBeGreaterThan(1);
    const links = [...new Set([...rehearsal.loads.keys(), ...loads.keys()])].map((link) => {
      const [now, was] = [rehearsal.loads.get(link)?.afterBps ?? 0, loads.get(link) ?? 0];
      return { link, now, was, error: Math.abs(now - was) / Math.max(was, 1) };
    });
    expect(links.filter(({ error }) => error > TOLERANCE)).toEqual([]);
    for (const [index, flow] of scene.flows.entries()) {
      const dropped = rehearsal.dropped.find((each) => each.flow === flow);
      const share = delivered[index]! / flow.packets;
      const expected = 1 - (dropped?.share ?? 0);
      expect({ index, isAsPredicted: Math.abs(share - expected) <= TOLERANCE }).toEqual({ index, isAsPredicted: true });
    }
    expect(rehearsal.dropped.map(({ intents }) => intents.join()).sort()).toEqual(['block', 'limit']);
    expect(delivered[2]).toBe(0);
  });

  it('lose packets in queues where a load above the capacity is predicted', () => {
    const scene = new Scene(1);
    const { fabric, state, rehearsal } = scene.predict(scene.speedFor(1.3));
    const [[link, { capacityBps }]] = [...rehearsal.loads].sort(
      ([, one], [, other]) => other.afterBps - one.afterBps,
    ) as unknown as [[string, { capacityBps: number }]];
    const { loads, queueDrops } = simulate(fabric, state, scene.flows, { seconds, seed: 1, rateBps: capacityBps });
    expect(queueDrops).toBeGreaterThan(0);
    // What is in the queue at the end leaves later.
    const queued = (8 * 65 * 1400) / seconds;
    expect(loads.get(link)!).toBeGreaterThan((1 - TOLERANCE) * capacityBps);
    expect(loads.get(link)!).toBeLessThan(capacityBps + queued);
  });
});
