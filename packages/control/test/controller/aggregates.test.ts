/** The loop moves many small flows together: real tables, and a twin that says where the flows go. */
import {
  CAUTIOUS,
  ControlLoop,
  type ControlPolicy,
  compile,
  type DesiredState,
  type Intent,
  type LoopInput,
  type ObservedFlow,
  planChanges,
  Twin,
} from '@int/control';
import { Random } from '@int/random';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { Fabric, program } from '../fabric.js';

const POLICY: ControlPolicy = { ...CAUTIOUS, autonomy: { path: 'act' }, ttlMs: { path: 5000 } };
const CAPACITY_BPS = 100e6;
const ANY = { linkLoad: 100, mayDrop: [] };
const twin = new Twin({ int: program });

type Traffic = readonly ObservedFlow[];

/** A fabric whose tables are what the loop's intents say, second by second. */
class Network {
  readonly fabric = new Fabric(2, 2, 6, `${CAPACITY_BPS}`);
  readonly model = this.fabric.model();
  readonly loop = new ControlLoop(POLICY, this.fabric.topology);
  readonly reasons: string[] = [];
  state: DesiredState = new Map(Array.from(this.model.switches.keys(), (id) => [id, []]));
  nowMs = 1_000_000;
  readonly #paths = new Map<string, readonly number[]>();

  /** Makes the tables those of some intents: flows that go elsewhere then do so from now on. */
  install(intents: readonly Intent[], flows: Traffic): void {
    const { desired, unplaced, conflicts } = compile(this.model, intents, this.nowMs);
    expect(unplaced).toEqual([]);
    expect(conflicts).toEqual([]);
    const { moved } = this.#rehearse(desired, flows, ANY);
    this.state = desired;
    for (const { flow, to } of moved) this.#paths.set(keyOf(flow), to);
  }

  #rehearse(desired: DesiredState, flows: Traffic, invariants: Parameters<Twin['rehearse']>[4]) {
    const found = new Map([...this.state].map(([id, all]) => [id, all.map(({ entity }) => entity)]));
    const { plan } = planChanges(desired, found, { switches: this.model.switches });
    const minute = { flows: this.placed(flows), seconds: 1 };
    return twin.rehearse(this.model, this.state, plan, minute, invariants);
  }

  placed(flows: Traffic): Traffic {
    return flows.map((flow) => ({ ...flow, path: this.#paths.get(keyOf(flow)) ?? [flow.path[0]!] }));
  }

  /** A second with its measurement; whatever the loop asks for is answered at once. */
  second(flows: Traffic): void {
    this.nowMs += 1000;
    const measurement = { timeMs: this.nowMs, seconds: 1, flows: this.placed(flows), dropped: [], ageMs: 10, loss: 0 };
    let inputs: LoopInput[] = [{ kind: 'measurement', measurement }];
    while (inputs.length > 0) {
      const actions = this.loop.step(this.nowMs, inputs);
      inputs = actions.flatMap((action): LoopInput[] => {
        if (action.kind === 'note' && action.note.what === 'proposed') this.reasons.push(action.note.reason);
        if (action.kind === 'apply') {
          this.install(this.loop.intents, flows);
          return [{ kind: 'applied', proposal: action.proposal, error: null }];
        }
        if (action.kind !== 'rehearse') return [];
        const { id, intents } = action.proposal;
        const { desired } = compile(this.model, [...this.loop.intents, ...intents], this.nowMs);
        // Of many flows the largest are rehearsed, and one in three of the others for all of them.
        const sorted = [...flows].sort((a, b) => b.bytes - a.bytes);
        const some = sorted.filter((_, index) => index < 30 || index % 3 === 0);
        const minute = some.map((flow, index) =>
          index < 30 ? flow : { ...flow, packets: 3 * flow.packets, bytes: 3 * flow.bytes },
        );
        const rehearsal = this.#rehearse(desired, minute, { linkLoad: 1, mayDrop: [] });
        return [{ kind: 'rehearsed', proposal: id, rehearsal, seconds: 1, refused: null }];
      });
    }
  }

  /** Bits a second of the links between switches. */
  loads(flows: Traffic): Map<string, number> {
    const loads = new Map<string, number>();
    for (const { path, bytes } of this.placed(flows)) {
      for (let k = 0; k + 1 < path.length; k++) {
        const link = `${path[k]}-${path[k + 1]}`;
        loads.set(link, (loads.get(link) ?? 0) + 8 * bytes);
      }
    }
    return loads;
  }

  highest(flows: Traffic): number {
    return Math.max(...this.loads(flows).values()) / CAPACITY_BPS;
  }

  spineOf(flow: ObservedFlow): number {
    return this.#paths.get(keyOf(flow))![1]!;
  }
}

const keyOf = ({ source, destination, sourcePort }: ObservedFlow): string => `${source} ${destination} ${sourcePort}`;

/** Small flows that a hash has put on one spine more than on the others, up to a load of 0.95. */
function polarised(network: Network, random: Random, elephants: number): Traffic {
  const { fabric } = network;
  const bytes = (): number => 300 + random.integer(1000);
  const candidates = fabric.flows(random, 240, () => 0, { packets: () => 10 + random.integer(90), bytes });
  network.install([], candidates);
  const small = candidates.filter((flow) => network.spineOf(flow) === 101 || random.uniform() < 0.25);
  const scale = (0.95 * CAPACITY_BPS) / (network.highest(small) * CAPACITY_BPS);
  const flows = small.map((flow) => ({ ...flow, bytes: Math.round(flow.bytes * scale) }));
  const large = flows.filter((flow) => network.spineOf(flow) !== 101).slice(0, elephants);
  return flows.map((flow) => (large.includes(flow) ? { ...flow, bytes: (0.12 * CAPACITY_BPS) / 8 } : flow));
}

describe('aggregates of small flows', () => {
  it('move over prefixes until no link is hot, as predicted, and stay there while they are needed', () => {
    for (let seed = 1; seed <= runs(16); seed++) {
      const network = new Network();
      const flows = polarised(network, new Random(seed), 4);
      const large = flows.filter(({ bytes }) => 8 * bytes > 0.1 * CAPACITY_BPS);
      const spines = large.map((flow) => network.spineOf(flow));
      expect(network.highest(flows), `seed ${seed}`).toBeGreaterThan(0.9);
      for (let k = 0; k < 12; k++) network.second(flows);
      expect(network.highest(flows), `seed ${seed}`).toBeLessThan(0.8);
      // The first moves have sufficed, and nothing moves any more, though they were renewed.
      expect(network.loop.proposals.map(({ state }) => state)).toEqual(['verified']);
      const { effects, intents, renewals } = network.loop.proposals[0]!;
      expect(renewals).toBeGreaterThan(0);
      const together = intents.filter((each) => each.kind === 'path' && each.priority < 200);
      expect(together.length).toBeGreaterThan(0);
      expect(together.length).toBeLessThanOrEqual(5);
      for (const { link, predictedBps, measuredBps } of effects!.links) {
        expect(Math.abs(predictedBps - measuredBps) / CAPACITY_BPS, `seed ${seed}, ${link}`).toBeLessThan(1e-6);
      }
      // A flow that is large enough to be moved alone does not go with an aggregate, but where it was.
      expect(large.map((flow) => network.spineOf(flow))).toEqual(spines);
      expect(network.reasons[0]).toMatch(
        /aggregates moved; .* to .*: \d+ flows, [\d.]+ Mbit\/s .*; from now on all over leaf-/,
      );
      // It is over: what was moved goes back.
      const few = flows.map((flow) => ({ ...flow, bytes: flow.bytes / 4 }));
      for (let k = 0; k < 10; k++) network.second(few);
      expect(network.loop.intents).toEqual([]);
    }
  });

  it('leave those alone that people have sent somewhere', () => {
    const network = new Network();
    const flows = polarised(network, new Random('people'), 0);
    const terms = { owner: 'people', priority: 10, fromMs: 0, ttlMs: null, reason: '' };
    const path = (id: string, from: number, to: number): Intent => ({
      ...{ ...terms, id, kind: 'path', via: [from, 101, to] },
      match: { source: `10.0.${from}.0/24`, destination: `10.0.${to}.0/24` },
    });
    network.second(flows.slice(0, 1));
    network.loop.step(network.nowMs, [{ kind: 'intents', intents: [path('a', 1, 2), path('b', 2, 1)], by: 'people' }]);
    network.install(network.loop.intents, flows);
    for (let k = 0; k < 6; k++) network.second(flows);
    expect(network.highest(flows)).toBeGreaterThan(0.9);
    expect(network.loop.proposals).toEqual([]);
  });
});
