import { Memory } from '../budget/memory.js';
import { ActionProfile } from '../externs/action-profile.js';
import { nameCalculations } from '../externs/calculation-names.js';
import { Calculations } from '../externs/calculations.js';
import { Counter, DirectCounter } from '../externs/counter.js';
import { DigestQueue } from '../externs/digest.js';
import type { ExternRuntime } from '../externs/extern.js';
import { DirectMeter, Meter } from '../externs/meter.js';
import { createRandomBits, type RandomBits } from '../externs/random.js';
import { Register } from '../externs/register.js';
import type { ExternInstance, IrProgram } from '../ir/program.js';
import type { PacketEnvironment } from '../machine/runtime.js';
import { MatchTable } from './match-table.js';
import { ParserValueSet } from './value-set.js';

/** Default seed of random numbers. */
export const DEFAULT_SEED = 1;

/** The state that a program keeps between packets. Lists are in the order of ids. */
export interface ProgramState {
  readonly tables: readonly MatchTable[];
  readonly externs: readonly ExternRuntime[];
  readonly valueSets: readonly ParserValueSet[];
  readonly calculations: Calculations;
  readonly digests: DigestQueue;
  readonly random: RandomBits;
  /**
   * Restores tables, counters, meters, registers, profiles and digests to their state after loading. Custom CRCs and
   * value sets stay.
   */
  reset(): void;
}

function createExtern(
  declaration: ExternInstance,
  environment: PacketEnvironment,
  calculations: Calculations,
  memory: Memory,
): ExternRuntime {
  switch (declaration.type) {
    case 'counter':
      return new Counter(declaration, environment);
    case 'direct_counter':
      return new DirectCounter(declaration);
    case 'meter':
      return new Meter(declaration, environment);
    case 'direct_meter':
      return new DirectMeter(declaration);
    case 'register':
      return new Register(declaration, environment);
    case 'action_profile':
    case 'action_selector':
      return new ActionProfile(declaration, (algorithm) => calculations.get(algorithm), memory);
    case 'Checksum16':
      return { kind: 'checksum16', declaration };
    default:
      throw new TypeError(`no extern type ${declaration.type} (${declaration.name})`);
  }
}

/**
 * Makes the tables and extern objects of a program.
 *
 * @param environment read while packets are processed: the switch's `Runtime` object
 * @param random source of random bits; by default a generator seeded with {@link DEFAULT_SEED}
 * @param memory memory for entries, members and groups; by default unlimited
 * @throws TypeError if the program declares an extern object that v1model does not have
 */
export function createProgramState(
  program: IrProgram,
  environment: PacketEnvironment,
  random: RandomBits = createRandomBits(DEFAULT_SEED),
  memory: Memory = new Memory(Number.POSITIVE_INFINITY),
): ProgramState {
  const calculations = new Calculations(nameCalculations(program), random);
  const externs = program.externs.map((declaration) => createExtern(declaration, environment, calculations, memory));
  const at = (declaration: ExternInstance | undefined): ExternRuntime | undefined =>
    declaration === undefined ? undefined : externs[declaration.id];
  const tables = program.tables.map((declaration) => {
    const profile = at(declaration.implementation);
    const counter = at(declaration.counter);
    const meter = at(declaration.meter);
    return new MatchTable(declaration, environment, {
      profile: profile instanceof ActionProfile ? profile : undefined,
      counter: counter instanceof DirectCounter ? counter : undefined,
      meter: meter instanceof DirectMeter ? meter : undefined,
      memory,
    });
  });
  const valueSets = program.valueSets.map((declaration) => new ParserValueSet(declaration, memory));
  const digests = new DigestQueue();
  return {
    tables,
    externs,
    valueSets,
    calculations,
    digests,
    random,
    reset(): void {
      for (const table of tables) table.reset();
      for (const each of externs) if ('reset' in each && typeof each.reset === 'function') each.reset();
      digests.reset();
    },
  };
}
