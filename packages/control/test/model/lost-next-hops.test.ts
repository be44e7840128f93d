/**
 * A switch that loses its part of a path together with the next hops of the route below: packets of the path are dropped there. As
 * soon as the next hops are back they follow the route, by half to where they come from.
 */
import { type Change, compile, type DesiredState, type Intent, Reconciler } from '@int/control';
import { nextSwitches } from '@int/control/internals';
import { udpFrame } from '@int/netsim';
import { type LinkEnd, Topology } from '@int/network';
import { LocalSwitch } from '@int/p4runtime/internals';
import { Random } from '@int/random';
import { expect, it } from 'vitest';
import { addressOf, intProgram, numberOf, topologyOf } from '../compile/fabric.js';
import { FakeConnection, FakeSwitch } from './fake-switch.js';
import { VirtualClock } from './virtual-clock.js';

// A square, with a host at 1 and one at 4: from 2 both ways to 4 are equal, and the path goes the long way round.
const topology = new Topology(
  topologyOf(
    [1, 2, 3, 4],
    [
      [1, 2],
      [2, 3],
      [3, 4],
      [4, 1],
    ],
    [1, 4],
  ),
);
const PATH: Intent = {
  ...{ id: 'around', owner: 'test', priority: 1, fromMs: 0, ttlMs: null, reason: '' },
  kind: 'path',
  match: { destination: `${addressOf(1)}/24` },
  via: [1, 2, 3, 4],
};

/** Refuses a part of the path as often as it is told. */
class Refusing extends FakeSwitch {
  refuses = 0;
  refused = 0;

  override apply(change: Change): ReturnType<FakeSwitch['apply']> {
    const { type, after } = change;
    if (type === 'insert' && after?.kind === 'table-entry' && after.table.startsWith('IntIngress.steer')) {
      if (this.refused++ < this.refuses) return { code: 'INTERNAL', message: 'a fault of the hardware' };
    }
    return super.apply(change);
  }
}

class Square {
  readonly clock = new VirtualClock();
  readonly switches: readonly Refusing[];
  readonly circles: string[] = [];
  readonly #sessions: FakeConnection[] = [];
  readonly #desired: DesiredState;
  #reconciler: Reconciler | undefined;

  constructor() {
    const local = intProgram();
    const { p4info } = local;
    const setting = { p4info, rooms: {}, machine: () => new LocalSwitch(local) };
    this.switches = [1, 2, 3, 4].map(
      (id) => new Refusing(id, setting, this.clock, new Random(1), (_, what) => this.#look(`${id}: ${what}`)),
    );
    const models = this.switches.map(({ id }) => [id, { id, program: 'int', p4info, isUp: true }] as const);
    const network = { topology, switches: new Map(models), failedLinks: new Set<string>(), collector: null };
    this.#desired = compile(network, [PATH], 1).desired;
  }

  /** A controller that knows of nothing. */
  async start(): Promise<void> {
    await this.#reconciler?.close();
    for (const each of this.#sessions) each.disconnect();
    this.#sessions.push(...this.switches.map((each) => new FakeConnection(each, this.#sessions.length + 1)));
    const connections = this.#sessions.slice(-this.switches.length);
    this.#reconciler = new Reconciler({
      connections,
      clock: this.clock,
      leadsTo: (...of) => nextSwitches(topology, ...of),
    });
    this.#reconciler.want(this.#desired, { owner: 'test', reason: 'start' });
    for (const each of connections) each.connect();
  }

  /** Until all is as it shall be. @returns how long it took */
  async settle(): Promise<number> {
    const fromMs = this.clock.nowMs();
    await this.clock.advance(40_000);
    await this.clock.advance(100_000, () => this.#reconciler!.state.isSettled);
    expect(this.#reconciler!.state.isSettled).toBe(true);
    return this.clock.nowMs() - fromMs;
  }

  /** The switch has neither its part of the path nor the next hops of its routes. */
  lose(id: number): void {
    const it = this.switches[id - 1]!;
    const lost = [...it.tables.keys()].filter((key) => /^IntIngress\.(steer_ipv4|next_hops) /.test(key));
    expect(lost.map((key) => key.split(' ')[0]).sort()).toEqual(['IntIngress.next_hops', 'IntIngress.steer_ipv4']);
    for (const key of lost) it.lose(key);
  }

  close(): Promise<void> {
    return this.#reconciler!.close();
  }

  /** Whether packets from 1 to the host at 4 come by a switch twice, whatever their ports are. */
  #look(what: string): void {
    if (!/IntIngress\.(steer|forward|next_hops)/.test(what)) return;
    for (let sourcePort = 1; sourcePort <= 8; sourcePort++) {
      const passed: number[] = [];
      const [source, destination] = [numberOf(addressOf(0)), numberOf(addressOf(1))];
      const frame = udpFrame({ source, destination, sourcePort, destinationPort: 2 }, new Uint8Array(16));
      for (let at: number | undefined = 1; at !== undefined; ) {
        if (passed.includes(at)) {
          this.circles.push(`${what}: ${[...passed, at]}`);
          break;
        }
        passed.push(at);
        const out: number | undefined = this.switches[at - 1]!.machine!.machine.process(1, frame)[0]?.port;
        const to: LinkEnd | null = out === undefined ? null : topology.peer(at, out);
        at = to?.kind === 'switch' ? to.switchId : undefined;
      }
    }
  }
}

it.each([
  { by: 'the controller that has made them', isNew: false, refuses: 0 },
  { by: 'one that knows of nothing', isNew: true, refuses: 0 },
  { by: 'the controller that has made them, after some refusals', isNew: false, refuses: 3 },
  { by: 'one that knows of nothing, after some refusals', isNew: true, refuses: 3 },
  { by: 'the controller that has made them, though the path has to be given up meanwhile', isNew: false, refuses: 8 },
])('next hops come back behind what keeps packets from circling: by $by', async ({ isNew, refuses }) => {
  const square = new Square();
  await square.start();
  await square.settle();
  square.lose(2);
  const it = square.switches[1]!;
  Object.assign(it, { refuses, refused: 0 });
  if (isNew) await square.start();
  await square.settle();
  await square.close();
  expect(it.refused).toBeGreaterThan(refuses);
  expect(square.circles).toEqual([]);
});
