/** Undo of journal entries in a network whose routes go over groups of next hops, with real machines. */
import {
  CAUTIOUS,
  Controller,
  type ControllerMemory,
  type Intent,
  Journal,
  type JournalEntry,
  type LoopNote,
  type ObservedFlow,
  type Rehearsing,
  Twin,
} from '@int/control';
import { udpFrame } from '@int/netsim';
import { Random } from '@int/random';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { addressOf, Fabric, intProgram, leafSpine, modelOf, numberOf } from '../compile/fabric.js';
import { FakeConnection, FakeSwitch, textOf } from '../model/fake-switch.js';
import { VirtualClock } from '../model/virtual-clock.js';

const SEED = Number(process.env.INT_SEED ?? 20_261_129);
const SPEC = leafSpine(2, 2, 4);
const HOSTS = [0, 1, 2, 3];
/** Source ports of the packets: enough that both of two equal ways are taken. */
const PORTS = [1, 2, 3, 4];

const avoid = (id: string, switchId: number, port: number): Intent => ({
  ...{ id, kind: 'avoid', owner: 'ann', priority: 100, fromMs: 0, ttlMs: null, reason: '' },
  link: { switchId, port },
});
const AWAY = avoid('away', 1, 1);

class World {
  readonly clock = new VirtualClock();
  readonly network = modelOf(SPEC);
  readonly fabric = new Fabric(this.network);
  readonly journal = new Journal();
  readonly notes: LoopNote[] = [];
  readonly switches: readonly FakeSwitch[];
  controller!: Controller;
  connections: readonly FakeConnection[] = [];
  onNote: (note: LoopNote) => void = () => {};

  constructor(readonly rehearse: Rehearsing) {
    const random = new Random(1);
    this.switches = Array.from(this.fabric.switches, ([id, machine]) => {
      const setting = { p4info: intProgram().p4info, rooms: {}, machine: () => machine };
      return new FakeSwitch(id, setting, this.clock, random, () => {});
    });
    this.begin(null);
  }

  /** A controller that goes on with a memory. */
  begin(memory: ControllerMemory | null): void {
    const connections = this.switches.map((each) => new FakeConnection(each, 1));
    this.controller = new Controller({
      policy: { ...CAUTIOUS, rehearse: this.rehearse },
      network: this.network,
      connections,
      twin: new Twin({ int: intProgram().program }),
      traffic: {
        measure: (timeMs) => ({ timeMs, seconds: 1, flows: [], dropped: [], ageMs: 0, loss: 0 }),
        minute: () => ({ flows: this.flows(), seconds: 60 }),
      },
      clock: this.clock,
      memory,
      journal: this.journal,
      reconcile: { onWritten: (written) => void this.journal.record(written) },
      onNote: (note) => {
        this.notes.push(note);
        this.onNote(note);
      },
    });
    for (const each of this.connections) void each.close();
    this.connections = connections;
    for (const each of connections) each.connect();
    onTestFinished(() => this.controller.stop());
  }

  /** Packets between all hosts, as telemetry tells of them. */
  flows(): ObservedFlow[] {
    return HOSTS.flatMap((from) =>
      HOSTS.filter((to) => to !== from).flatMap((to) =>
        PORTS.map((sourcePort) => {
          const flow = { source: addressOf(from), destination: addressOf(to), sourcePort, destinationPort: 80 };
          const addresses = { source: numberOf(flow.source), destination: numberOf(flow.destination) };
          const trip = this.fabric.send(`h${from}`, udpFrame({ ...flow, ...addresses }, new Uint8Array(16)));
          expect(trip).toMatchObject({ isLooping: false, deliveredTo: [`h${to}`] });
          return { ...flow, protocol: 17, packets: 1, bytes: 60, path: trip.path };
        }),
      ),
    );
  }

  /** Ways of all packets; each arrives. */
  ways(): string {
    return [...new Set(this.flows().map(({ path }) => path.join('-')))].sort().join(' ');
  }

  tables(): string[] {
    return this.switches
      .flatMap(({ id, tables }) => [...tables].map(([key, it]) => `${id} ${key} ${textOf(it)}`))
      .sort();
  }

  order(kind: 'undo' | 'redo', ...entries: number[]): Promise<string | null> {
    return this.controller.order({ kind, entries, by: 'ann' });
  }

  /** Numbers of the last entries of some kind, as the terminal shows them. */
  last(type: JournalEntry['type'], kind: string, switchId: number): number {
    const found = this.journal.entries.findLast((each) => {
      const entity = (each.after ?? each.before)!;
      const name = entity.kind === 'table-entry' ? entity.table : entity.kind;
      return each.type === type && each.switchId === switchId && name === kind;
    });
    return found!.id;
  }

  async wanted(...intents: Intent[]): Promise<void> {
    this.controller.give({ kind: 'intents', intents, by: 'ann' });
    await this.settled();
  }

  async settled(): Promise<void> {
    await this.clock.advance(60_000, () => this.controller.state.isSettled);
    expect(this.controller.state).toMatchObject({ isSettled: true, refusals: [], obstacles: [] });
  }
}

const BOTH = '1 1-101-2 1-102-2 2 2-101-1 2-102-1';
const ONE = '1 1-102-2 2 2-102-1';
/** The range that a refusal names. */
const rangeOf = (refusal: string | null): number[] =>
  /: undo ([\d -]+)$/
    .exec(refusal!)![1]!
    .split(' ')
    .flatMap((part) => {
      const [first, last = first] = part.split('-').map(Number) as [number, number?];
      return Array.from({ length: last - first + 1 }, (_, k) => first + k);
    });

it('names what an earlier run has made and nobody knows of, before it is removed', async () => {
  const world = new World('off');
  const block: Intent = {
    ...{ id: 'no-telnet', kind: 'block', owner: 'ann', priority: 100, fromMs: 0, ttlMs: null, reason: '' },
    ...{ match: { destination: addressOf(1), destinationPort: [23, 23] }, reportOneIn: 0 },
  };
  world.controller.start([block], 'start');
  await world.settled();
  const entries = world.tables().filter((each) => each.includes('access')).length;
  expect(entries).toBeGreaterThan(0);
  // With what they ask for, or knowing of it, nothing is told.
  for (const memory of [null, world.controller.memory]) {
    await world.controller.stop();
    world.begin(memory);
    world.controller.start([block], 'start');
    await world.settled();
  }
  expect(world.notes.map(({ what }) => what)).not.toContain('forgotten');
  await world.controller.stop();
  world.begin(null);
  let atNote = -1;
  world.onNote = ({ what }) => {
    if (what === 'forgotten') atNote = world.tables().filter((each) => each.includes('access')).length;
  };
  world.controller.start([], 'start');
  await world.settled();
  const [note, ...more] = world.notes.filter(({ what }) => what === 'forgotten');
  expect(more).toEqual([]);
  expect(note!.reason).toMatch(
    /^entries of no-telnet \(\d+ at (switch )?1, .*\) were made before this start, and nothing that is/,
  );
  expect(atNote).toBe(entries);
  expect(world.tables().filter((each) => each.includes('access'))).toEqual([]);
});

it('tells what cannot be had, once, also of intents that contradict each other', async () => {
  const world = new World('off');
  const match = { destination: addressOf(1), destinationPort: [23, 23] as const };
  const terms = { owner: 'ann', priority: 100, fromMs: 0, ttlMs: null, reason: '', match };
  const block: Intent = { ...terms, id: 'no-telnet', kind: 'block', reportOneIn: 0 };
  const limit: Intent = { ...terms, id: 'slow-telnet', kind: 'limit', bitsPerSecond: 1e6 };
  const hindered = () => world.notes.filter(({ what }) => what === 'hindered').map(({ reason }) => reason);
  world.controller.start([block, limit], 'start');
  expect(hindered()).toEqual([expect.stringMatching(/^cannot be had: slow-telnet contradicts no-telnet: /)]);
  await world.settled();
  expect(hindered()).toHaveLength(1);
  // The causes of entries are those of people, also if the switches were not there yet.
  expect(new Set(world.journal.entries.map(({ cause }) => cause.owner))).toEqual(new Set(['start']));
  await world.wanted(block);
  expect(hindered().slice(1)).toEqual(['all that is wanted has its place again']);
});

describe('undo of entries over groups of next hops', () => {
  it('restores routes with the groups and members that they use, and stays so after a restart', async () => {
    // Without a rehearsal, so that what an entry needs is what stands in the way.
    const world = new World('off');
    world.controller.start([], 'start');
    await world.settled();
    const plain = world.tables();
    expect(world.ways()).toBe(BOTH);
    for (const [type, kind, missing] of [
      ['insert', 'member', /^entry \d+: group \d+ on switch 1 depends on member \d+, which would be missing$/],
      ['insert', 'group', /^entry \d+: an entry of IntIngress.next_hops on switch 1 depends on group \d+, which/],
      [
        'insert',
        'IntIngress.next_hops',
        /an entry of IntIngress.forward_ipv4 on switch 1 and 1 more depends on next hops/,
      ],
      ['insert', 'IntReport.collector', /clone-session 2000 on switch 1 depends on reports by port 5, which would/],
    ] as const) {
      expect(await world.order('undo', world.last(type, kind, 1))).toMatch(missing);
    }

    await world.wanted(AWAY);
    const away = world.tables();
    expect(world.ways()).toBe(ONE);
    expect(await world.order('undo', world.last('delete', 'IntIngress.next_hops', 1))).toMatch(
      /^entries (\d+-\d+) have removed what it needs, such as next hops: undo \d+ \1$/,
    );
    const refused = await world.order('undo', world.last('modify', 'IntIngress.forward_ipv4', 1));
    expect(refused).toMatch(/^entries [\d -]+ of away depend on it: undo [\d -]+$/);
    const range = rangeOf(refused);
    const [first, last] = [Math.min(...range), Math.max(...range)];
    // A part of it is refused, and so are all parts with the range that the refusal names.
    expect(rangeOf(await world.order('undo', first, last))).toEqual(range);
    expect(await world.order('undo', ...range)).toBeNull();
    await world.settled();
    expect(world.ways()).toBe(BOTH);
    const undone = world.tables();

    await world.controller.stop();
    const written = world.journal.entries.length;
    world.begin(world.controller.memory);
    world.controller.start([AWAY], 'start');
    await world.settled();
    expect([world.tables(), world.journal.entries.length]).toEqual([undone, written]);

    expect(await world.order('redo', range[3]!)).toBeNull();
    await world.settled();
    expect(world.tables()).toEqual(away);
    expect(await world.order('redo', range[3]!)).toBe(`entry ${range[3]} is not undone`);

    // What was undone is over when something else is wanted there.
    const [again] = [rangeOf(await world.order('undo', world.last('modify', 'IntIngress.forward_ipv4', 1)))];
    expect(await world.order('undo', ...again)).toBeNull();
    await world.settled();
    expect(world.tables()).toEqual(undone);
    await world.wanted();
    expect(world.controller.undone).toEqual([]);
    expect(world.notes.at(-1)).toMatchObject({ what: 'redone', by: 'controller' });
    expect(world.tables()).toEqual(plain);
  });

  it('never loses a packet, whatever is undone, and is undone itself to the entry', async () => {
    const world = new World('required');
    world.controller.start([], 'start');
    await world.settled();
    await world.wanted(AWAY);
    await world.wanted(AWAY, avoid('other', 2, 2));
    await world.wanted(avoid('other', 2, 2));
    const before = world.tables();
    const random = new Random(SEED);
    let done = 0;
    for (let k = 0; k < runs(96); k++) {
      const first = world.journal.entries.length - random.integer(24);
      const ids = Array.from({ length: 1 + random.integer(8) }, (_, at) => first + at);
      let answer = await world.order('undo', ...ids);
      // What a refusal advises is done.
      if (answer !== null && / undo [\d -]+$/.test(answer)) answer = await world.order('undo', ...rangeOf(answer));
      if (answer !== null) continue;
      done++;
      await world.settled();
      world.ways();
      expect(await world.order('redo', world.controller.undone.at(-1)!.entries[0]!)).toBeNull();
      await world.settled();
      expect(world.controller.undone).toEqual([]);
      expect(world.tables()).toEqual(before);
    }
    expect(done).toBeGreaterThan(0);
  });
});
