/**
 * The reconciler against switches that restart, lose entries, answer late, refuse, lie, come and go, and controllers that crash and
 * take over from each other. After every single update that a switch does: no circle of packets that was not there before, and
 * nothing of others changed. When the faults end: what is wanted is there, and nothing else of the controller's own.
 */
import { type DesiredState, Reconciler, type WrittenChanges } from '@int/control';
import { ownMark } from '@int/control/internals';
import type { Entity } from '@int/p4runtime';
import { Random } from '@int/random';
import { describe, expect, it } from 'vitest';
import { LENGTH } from '../../../../.ci/test/length.js';
import { CompiledNetwork } from './compiled-network.js';
import { FakeConnection, FakeSwitch, keyOf, NO_FAULTS, textOf } from './fake-switch.js';
import type { ModelNetwork } from './model-network.js';
import { RoutedNetwork } from './routed-network.js';
import { VirtualClock } from './virtual-clock.js';

const SEED = Number(process.env.INT_SEED ?? 20_261_128);
/** One world alone, by the number that a failure tells. */
const ONLY = process.env.INT_WORLD === undefined ? undefined : Number(process.env.INT_WORLD);
/** 100,000 steps in the long form. */
const STEPS = LENGTH >= 1 ? 100_000 : 600;
/** Steps with one network. */
const STEPS_OF_ONE = 200;
/** Of so many networks one has the real compiler and machines. */
const COMPILED_EVERY = 3;

class Controller {
  readonly reconciler: Reconciler;
  readonly connections: readonly FakeConnection[];
  /** A controller that has crashed writes no more, but what is on its way arrives. */
  isAlive = true;

  constructor(
    network: ModelNetwork,
    switches: readonly FakeSwitch[],
    clock: VirtualClock,
    readonly electionId: number,
    onWritten: (written: WrittenChanges) => void,
  ) {
    this.connections = switches.map((each) => new FakeConnection(each, electionId));
    this.reconciler = new Reconciler({
      connections: this.connections,
      clock,
      graceMs: 50,
      leadsTo: (...of) => network.leadsTo(...of),
      onWritten,
    });
  }

  async crash(): Promise<void> {
    this.isAlive = false;
    await this.reconciler.close();
    for (const each of this.connections) await each.close();
  }
}

const isOwn = (entity: Entity): boolean =>
  entity.kind === 'table-entry'
    ? ownMark(entity.metadata) !== null
    : 'id' in entity && entity.id >= 2000 && entity.id <= 2999;

interface Counts {
  updates: number;
  restarts: number;
  losses: number;
  takeovers: number;
  crashes: number;
  wants: number;
  settled: number;
  /** Circles through a switch that could not be reached, or had lost what nobody knew of. */
  unavoidable: number;
  /** Updates of paths and routes while one controller reached all switches, and knew what they have. */
  seen: number;
  /** Other updates of paths and routes. */
  partlySeen: number;
}

class World {
  readonly clock = new VirtualClock();
  readonly network: ModelNetwork;
  readonly switches: readonly FakeSwitch[];
  readonly foreign = new Map<number, Set<string>>();
  readonly problems: string[] = [];
  /** What happened last. */
  readonly #history: string[] = [];
  controllers: Controller[] = [];
  #desired: DesiredState;
  #circles = new Map<string, readonly number[]>();
  #election = 1;

  constructor(
    readonly random: Random,
    readonly counts: Counts,
    isCompiled: boolean,
  ) {
    this.network = isCompiled ? new CompiledNetwork(random) : new RoutedNetwork(random, 4 + random.integer(4), 3);
    this.switches = this.network.ids.map(
      (id) =>
        new FakeSwitch(id, this.network.setting(), this.clock, random, (it, what, entity) =>
          this.#updated(it, what, entity),
        ),
    );
    for (const each of this.switches) {
      each.isInformed = (sender) => this.#isInformed(sender);
      this.addForeign(each);
    }
    this.#desired = this.network.change();
    this.addController();
    this.addController();
  }

  addController(): void {
    const controller = new Controller(
      this.network,
      this.switches,
      this.clock,
      this.#election++,
      ({ switchId, results }) => {
        this.#note(
          `answer of switch ${switchId}: ${results.map(({ result, change: { type, before, after } }) => `${result} ${type} ${keyOf((after ?? before)!)}`).join(', ')}`,
        );
      },
    );
    this.controllers.push(controller);
    controller.reconciler.want(this.#desired, { owner: 'test', reason: 'start' });
    for (const each of controller.connections) each.connect();
  }

  /** Something of another controller: where packets of the hosts do not go. */
  addForeign(it: FakeSwitch): void {
    it.put(this.network.foreign());
    this.lookAtForeign(it);
  }

  lookAtForeign(it: FakeSwitch): void {
    this.foreign.set(it.id, foreignOf(it));
  }

  want(): void {
    this.counts.wants++;
    this.#desired = this.network.change();
    for (const each of this.controllers) each.reconciler.want(this.#desired, { owner: 'test', reason: 'step' });
  }

  #note(what: string): void {
    this.#history.push(`${this.clock.nowMs()} ${what}`);
    if (this.#history.length > 300) this.#history.shift();
  }

  #fail(problem: string): void {
    if (this.problems.length === 0) {
      const entries = (it: FakeSwitch): string[] =>
        [...it.tables.values()].flatMap((each) =>
          each.kind === 'table-entry' && this.network.isForwarding(each)
            ? [`${textOf([each.match, each.priority, each.action])} ${new TextDecoder().decode(each.metadata)}`]
            : [],
        );
      this.problems.push(
        ...this.#history,
        ...this.switches.map((it) => `switch ${it.id}, primary ${it.primary?.electionId}: ${entries(it).join('\n')}`),
        ...this.controllers.map((each) => `${each.electionId}: ${textOf(each.reconciler.state)}`),
        this.network.text,
      );
    }
    this.problems.push(problem);
  }

  async step(): Promise<void> {
    const { random, counts } = this;
    const it = this.switches[random.integer(this.switches.length)]!;
    const controller = this.controllers[random.integer(this.controllers.length)]!;
    const action = random.integer(12);
    this.#note(`step ${action} with switch ${it.id}`);
    switch (action) {
      case 0:
      case 1:
      case 2:
        this.want();
        break;
      case 3:
        counts.restarts++;
        it.restart();
        this.lookAtForeign(it);
        this.#noteCircles();
        break;
      case 4: {
        const own = [...it.tables].filter(
          ([, entity]) => isOwn(entity) && entity.kind === 'table-entry' && entity.isDefault !== true,
        );
        for (let lost = 1 + random.integer(2); lost > 0 && own.length > 0; lost--) {
          counts.losses++;
          it.isUnseen = true;
          it.lose(own.splice(random.integer(own.length), 1)[0]![0]);
        }
        this.#noteCircles();
        break;
      }
      case 5:
        controller.connections[random.integer(this.switches.length)]!.disconnect();
        break;
      case 6:
      case 7:
        for (const each of controller.connections) if (random.integer(2) === 0) each.connect();
        break;
      case 8:
        it.faults = {
          refusal: random.integer(200),
          hang: random.integer(60),
          failure: random.integer(60),
          lie: random.integer(30),
        };
        break;
      case 9:
        it.faults = NO_FAULTS;
        break;
      case 10:
        if (random.integer(4) === 0) {
          counts.crashes++;
          await controller.crash();
          this.controllers = this.controllers.filter(({ isAlive }) => isAlive);
          this.addController();
        } else if (random.integer(2) === 0) {
          // The one with the highest id comes back everywhere: it takes over.
          counts.takeovers++;
          for (const each of this.controllers.at(-1)!.connections) each.connect();
        } else for (const each of this.controllers.at(-1)!.connections) each.disconnect();
        break;
      default:
        this.addForeign(it);
    }
    const waits = [0, 5, 30, 100, 500, 3_000, 40_000];
    await this.clock.advance(waits[random.integer(waits.length)]!);
  }

  /** Ends all faults, and waits for what is wanted. */
  async calm(): Promise<void> {
    for (const each of this.switches) {
      each.faults = NO_FAULTS;
      // Nobody else is in the way any more.
      for (const [key, entity] of each.tables) {
        if (this.network.isInTheWay(key) && !isOwn(entity)) each.lose(key);
      }
      this.lookAtForeign(each);
    }
    for (const controller of this.controllers) for (const each of controller.connections) each.connect();
    const primary = this.controllers.at(-1)!;
    // A check is due after 30 s, an answer may be 45 s late, and refusals wait up to 30 s.
    await this.clock.advance(200_000);
    const isSettled = (): boolean => primary.reconciler.state.isSettled;
    await this.clock.advance(200_000, isSettled);
    if (!isSettled()) {
      this.#fail(`not settled: ${textOf(primary.reconciler.state)}`);
      return;
    }
    this.counts.settled++;
    for (const each of this.switches) this.#compare(each);
    const circles = this.network.circles(this.switches);
    if (circles.size > 0) this.#fail(`packets circle at the end: ${[...circles].join('; ')}`);
    this.#noteCircles();
    for (const controller of this.controllers) {
      const most = Math.max(...controller.connections.map(({ mostPending }) => mostPending));
      if (most > 1) this.#fail(`${most} requests to one switch at once`);
    }
  }

  async close(): Promise<void> {
    for (const each of this.controllers) await each.crash();
  }

  #compare(it: FakeSwitch): void {
    const wanted = new Map((this.#desired.get(it.id) ?? []).map(({ entity }) => [keyOf(entity), textOf(entity)]));
    for (const [key, entity] of it.tables) {
      if (!isOwn(entity)) continue;
      if (wanted.get(key) !== textOf(entity)) this.#fail(`switch ${it.id} has ${key}, not ${wanted.get(key)}`);
      wanted.delete(key);
    }
    for (const key of wanted.keys()) this.#fail(`switch ${it.id} lacks ${key}`);
  }

  #noteCircles(): void {
    this.#circles = this.network.circles(this.switches);
  }

  /**
   * A controller cannot keep packets from circling by entries of a switch that it cannot reach, or has not reached when it sent
   * what arrives now, or by what got lost unseen.
   */
  #isInformed(connection: FakeConnection): boolean {
    const controller = this.controllers.find(({ connections }) => connections.includes(connection));
    return (
      controller?.reconciler.state.switches.every(({ phase }) => phase === 'behind' || phase === 'settled') === true &&
      this.switches.every(({ isUnseen }) => !isUnseen)
    );
  }

  #updated(it: FakeSwitch, what: string, entity: Entity): void {
    this.counts.updates++;
    this.#note(`switch ${it.id}: ${what}`);
    const foreign = foreignOf(it);
    const expected = this.foreign.get(it.id)!;
    if (foreign.size !== expected.size || [...foreign].some((each) => !expected.has(each))) {
      this.#fail(`switch ${it.id}: ${what} changed what is of others`);
    }
    if (!this.network.isForwarding(entity)) return;
    const isAvoidable = it.wasInformed && this.#isInformed(it.primary!);
    if (isAvoidable) this.counts.seen++;
    else this.counts.partlySeen++;
    const circles = this.network.circles(this.switches);
    for (const [flow, circle] of circles) {
      // What had a path of its own may meet a circle that was there before.
      if (this.#circles.has(flow) || this.#circles.has(flow.replace(/^\d+/, '0'))) continue;
      if (isAvoidable) this.#fail(`at ${this.clock.nowMs()} switch ${it.id}: ${what} makes ${flow} circle: ${circle}`);
      else this.counts.unavoidable++;
    }
    this.#circles = circles;
  }
}

function foreignOf(it: FakeSwitch): Set<string> {
  return new Set(
    [...it.tables].filter(([, entity]) => !isOwn(entity)).map(([key, entity]) => `${key} ${textOf(entity)}`),
  );
}

describe('reconcilers and faulty switches', () => {
  it(
    'end in the desired state, never send packets in a circle, and leave what is of others',
    async () => {
      const counts: Counts = {
        updates: 0,
        restarts: 0,
        losses: 0,
        takeovers: 0,
        crashes: 0,
        wants: 0,
        settled: 0,
        unavoidable: 0,
        seen: 0,
        partlySeen: 0,
      };
      const random = new Random(SEED);
      const worlds =
        ONLY === undefined ? Array.from({ length: STEPS / STEPS_OF_ONE }, (_, index) => index * STEPS_OF_ONE) : [ONLY];
      /** Of each world that failed: how to run it alone, and what was wrong. */
      const failures: string[] = [];
      for (const done of worlds) {
        const world = new World(
          random.derive('world', done),
          counts,
          (done / STEPS_OF_ONE) % COMPILED_EVERY === COMPILED_EVERY - 1,
        );
        for (let step = 0; step < STEPS_OF_ONE; step++) {
          await world.step();
          if (world.problems.length > 0) break;
        }
        if (world.problems.length === 0) await world.calm();
        await world.close();
        const alone = `INT_SEED=${SEED} INT_WORLD=${done}`;
        if (ONLY !== undefined) expect(world.problems, alone).toEqual([]);
        else if (world.problems.length > 0) failures.push(`${alone}: ${world.problems.at(-1)}`);
      }
      expect(failures).toEqual([]);
      console.log(`${worlds.length * STEPS_OF_ONE} steps: ${JSON.stringify(counts)}`);
      expect(counts.settled).toBe(worlds.length);
    },
    LENGTH >= 1 ? 7_200_000 : 300_000,
  );
});
