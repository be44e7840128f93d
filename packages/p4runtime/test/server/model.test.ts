/**
 * Random updates of everything that P4Runtime can write, valid ones and mutated ones, against a model of the switch's state:
 * which answers are allowed, what is read back, and where packets go.
 */
import { Code } from '@connectrpc/connect';
import { p4v1 } from '@int/p4runtime';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LENGTH } from '../../../../.ci/test/length.js';
import { Controller, codeOf, createBench } from './controller.js';
import { INFO } from './everything.js';
import { begin, EVERYTHING, expected, textOf } from './model/look.js';
import { Numbers } from './model/numbers.js';
import {
  makeCounter,
  makeDigest,
  makeMeter,
  makeMulticast,
  makeNonsense,
  makeRegister,
  makeSession,
  makeValueSet,
} from './model/others.js';
import { makePacket, send } from './model/packets.js';
import { makeClearing, makeGroup, makeMember } from './model/profiles.js';
import { type Made, State } from './model/state.js';
import { keyOf, makeDirect, makeEntry } from './model/tables.js';

const SEED = Number(process.env.INT_SEED ?? 20_261_128);
/** 1,000,000 updates in the long form. */
const UPDATES = LENGTH >= 1 ? 1_000_000 : 6000;
const SEEDS = LENGTH >= 1 ? 10 : 2;
/** Updates between two looks at the whole state. */
const LOOK = LENGTH >= 1 ? 5000 : 800;
/** Packets before each look. */
const PACKETS = 40;
/** Updates after which the profiles are emptied. */
const TURN = 600;

const { CONTINUE_ON_ERROR, ROLLBACK_ON_ERROR, DATAPLANE_ATOMIC } = p4v1.WriteRequest_Atomicity;

/** What two roles may change; the default role may change everything. */
const ROLES = {
  some: { entities: ['I.stations', 'I.rules', 'I.fixed', 'I.indirect', 'I.members', 'I.ports', 'I.cells'] },
  other: { entities: ['I.balanced', 'I.selector', 'I.rates', 'learned_t', 'P.types'], replication: true },
};

function objectsOf(names: readonly string[]): ReadonlySet<number> {
  const { tables, actionProfiles, counters, meters, registers, valueSets, digests } = INFO;
  const all = [tables, actionProfiles, counters, meters, registers, valueSets, digests].flat();
  const found = all.filter(({ preamble }) => names.includes(preamble!.name)).map(({ preamble }) => preamble!.id);
  if (found.length !== names.length) throw new TypeError(`not all of ${names.join()} are in P4Info`);
  return new Set(found);
}

interface Party {
  readonly controller: Controller;
  /** Whether it may change and see an object; 0: multicast groups and clone sessions. */
  readonly sees: (object: number) => boolean;
}

const MAKERS: readonly ((numbers: Numbers, state: State) => Made)[] = [
  ...new Array(10).fill(makeEntry),
  ...new Array(3).fill(makeDirect),
  ...new Array(3).fill(makeMember),
  ...new Array(3).fill(makeGroup),
  ...[makeCounter, makeMeter, makeRegister, makeValueSet, makeDigest, makeMulticast, makeSession],
  ...[makeCounter, makeMeter, makeRegister, makeMulticast, makeSession, makeNonsense],
];

/** Codes that say that the server itself is at fault. */
const NEVER = [Code.Internal, Code.Unknown];

class Comparison {
  readonly numbers: Numbers;
  readonly state = new State();
  /** How often each kind of update got each code. */
  readonly answers = new Map<string, number>();
  /** Packets that left. */
  forwarded = 0;
  readonly #bench = createBench({ device: { roles: ROLES } });
  readonly #parties: Party[] = [];
  readonly #backup = this.#controller('');
  #clearing = 0;

  constructor(seed: number) {
    this.numbers = new Numbers(seed);
  }

  async run(count: number): Promise<void> {
    await this.#begin();
    const { numbers } = this;
    for (let done = 0, looked = 0, turned = 0; done < count; ) {
      if (done - turned >= TURN) {
        turned = done;
        this.#clearing = 120;
      }
      if (numbers.chance(40)) await this.#writeAsBackup();
      done += await this.#writeBatch(done);
      if (done - looked >= LOOK || done >= count) {
        looked = done;
        this.#forward();
        await this.#look();
      }
    }
  }

  #controller(role: string): Controller {
    const controller = new Controller(this.#bench.server.transport());
    controller.role = role;
    return controller;
  }

  async #begin(): Promise<void> {
    for (const [name, sees] of [
      ['', () => true],
      ['some', (object: number) => objectsOf(ROLES.some.entities).has(object)],
      ['other', (object: number) => object === 0 || objectsOf(ROLES.other.entities).has(object)],
    ] as const) {
      const controller = this.#controller(name);
      await controller.lead(2n);
      this.#parties.push({ controller, sees });
    }
    await this.#backup.lead(1n);
    begin(this.state, await this.#parties[0]!.controller.read(...EVERYTHING), keyOf);
  }

  #make(): Made {
    const { numbers, state } = this;
    if (this.#clearing > 0) {
      this.#clearing--;
      return makeClearing(numbers, state);
    }
    return numbers.pick(MAKERS)(numbers, state);
  }

  /** @returns the number of updates */
  async #writeBatch(done: number): Promise<number> {
    const { numbers, state } = this;
    const { controller, sees } = this.#parties[numbers.chance(8) ? 1 + numbers.below(2) : 0]!;
    const atomicity = numbers.pick([CONTINUE_ON_ERROR, CONTINUE_ON_ERROR, ROLLBACK_ON_ERROR, DATAPLANE_ATOMIC]);
    const isAtomic = atomicity !== CONTINUE_ON_ERROR;
    const made = Array.from({ length: 1 + numbers.below(isAtomic ? 8 : 50) }, () => this.#make());
    const codes = await controller.codes(
      made.map(({ update }) => update),
      atomicity,
    );
    const failed = isAtomic ? codes.findIndex((code) => code !== 0 && code !== Code.Aborted) : -1;
    const isUndone = codes.length !== made.length || failed >= 0;
    if (isAtomic) state.begin();
    for (const [i, each] of made.entries()) {
      const code = codes[i]!;
      if (isUndone && i !== failed) expect(code, 'code of an update of a batch that fails').toBe(Code.Aborted);
      // What follows the update that failed was not tried.
      if (isUndone && i > failed) continue;
      const answer = isUndone && i < failed ? 0 : code;
      this.#check(each, answer, sees, done + i);
      if (answer === 0) each.commit(state);
    }
    if (isUndone) state.rollBack();
    else state.keep();
    return made.length;
  }

  #check(made: Made, code: number, sees: (object: number) => boolean, at: number): void {
    const { state } = this;
    const faults = [...made.faults(state)];
    if (!sees(made.object)) faults.push(Code.PermissionDenied);
    const may = [...faults, ...(made.mayRefuse?.(state) ?? []), ...(faults.length === 0 ? [0] : [])];
    if (!may.includes(code) || NEVER.includes(code)) {
      expect({ code, update: made.update }, `update ${at}, ${made.kind}`).toEqual({ code: may, update: made.update });
    }
    const name = `${made.kind} ${code}`;
    this.answers.set(name, (this.answers.get(name) ?? 0) + 1);
  }

  /** Nobody but the primary writes. */
  async #writeAsBackup(): Promise<void> {
    const { update } = this.#make();
    expect(await codeOf(this.#backup.write([update]))).toBe(Code.PermissionDenied);
  }

  /** Sends packets through the switch and the model. */
  #forward(): void {
    const { numbers, state } = this;
    for (let i = 0; i < PACKETS; i++) {
      const packet = makePacket(numbers, state);
      const sent = this.#bench.target.machine!.process(packet.ingress, packet.bytes).map(({ port }) => port);
      const ports = sent.sort((a, b) => a - b).join();
      const may = send(state, packet, keyOf).map((each) => each.join());
      if (!may.includes(ports)) expect({ ports, ...packet }).toEqual({ ports: may, ...packet });
      this.forwarded += Number(ports !== '');
    }
  }

  /** Compares all that can be read with the model. */
  async #look(): Promise<void> {
    const { controller, sees } = this.numbers.pick(this.#parties);
    const found = new Map((await controller.read(...EVERYTHING)).map((each) => [textOf(each), each]));
    const wanted = new Map(expected(this.state, sees).map((each) => [textOf(each), each]));
    const surplus = [...found].filter(([text]) => !wanted.has(text)).map(([, each]) => each);
    const missing = [...wanted].filter(([text]) => !found.has(text)).map(([, each]) => each);
    expect(surplus.slice(0, 3)).toEqual(missing.slice(0, 3));
    expect(found.size).toBe(wanted.size);
  }
}

const seeds = fc.sample(fc.integer({ min: 1, max: 0x7fff_ffff }), { seed: SEED, numRuns: SEEDS });

describe('random updates', () => {
  it.each(seeds)(
    'get the answers that a model allows, and leave the state that it has: seed %i',
    async (seed) => {
      const comparison = new Comparison(seed);
      await comparison.run(UPDATES / seeds.length);
      // Every kind of entity is written and refused.
      const { answers } = comparison;
      if (process.env.INT_MODEL_ANSWERS === '1')
        console.log(
          [...answers]
            .sort()
            .map(([name, n]) => `${name}: ${n}`)
            .join('\n'),
        );
      const kinds = new Set([...answers.keys()].map((name) => name.replace(/ \d+$/, '')));
      for (const kind of kinds) {
        if (kind !== 'nonsense')
          expect(answers.get(`${kind} 0`) ?? 0, `updates of kind ${kind} that succeed`).toBeGreaterThan(5);
      }
      expect(kinds.size).toBe(15);
      expect(comparison.forwarded).toBeGreaterThan(20);
    },
    1_800_000,
  );
});
