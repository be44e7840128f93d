import { withDefaults } from '../budget/limits.js';
import type { Memory } from '../budget/memory.js';
import type { Digest } from '../externs/digest.js';
import { createRandomBits, randomBetween } from '../externs/random.js';
import type { IrProgram } from '../ir/program.js';
import type { Runtime } from '../machine/runtime.js';
import { Poison } from '../poison/poison.js';
import { createProgramState, DEFAULT_SEED, type ProgramState } from '../tables/program-state.js';
import type { SwitchEnvironment } from './environment.js';
import { createFaults } from './statistics.js';

/**
 * Makes the runtime of a program, and the state that the program keeps between packets: tables, extern objects and
 * value sets as the program declares them.
 *
 * @param memory memory for entries and the like, beside the program's declarations
 * @param onDigest called for each digest, which is also kept for the control plane
 */
export function createRuntime(
  program: IrProgram,
  environment: SwitchEnvironment,
  memory: Memory,
  onDigest: (digest: Digest) => void,
): { readonly runtime: Runtime; readonly state: ProgramState } {
  const limits = withDefaults(environment.limits);
  const random = createRandomBits(environment.seed ?? DEFAULT_SEED);
  // Tables and extern objects are added later, because making them needs the runtime.
  const runtime: { -readonly [K in keyof Runtime]: Runtime[K] } = {
    input: { bytes: new Uint8Array(0), start: 0, length: 0, cursor: 0 },
    output: { bytes: new Uint8Array(2048), bits: 0, most: limits.packetBytes },
    requests: {
      cloneSession: -1,
      cloneFieldList: -1,
      resubmit: -1,
      recirculate: -1,
      truncate: -1,
      lengthChange: 0,
    },
    faults: createFaults(),
    work: { left: limits.steps },
    tables: [],
    externs: [],
    valueSets: [],
    packetLength: 0,
    nowUs: 0,
    payloadStart: 0,
    payloadLength: 0,
    hash: (algorithm, bytes, length) => state.calculations.hash(algorithm, bytes, length),
    random: (low, high) => randomBetween(random, low, high),
    digest(receiver, name, fields) {
      const digest = { receiver, name, fields, timeUs: runtime.nowUs };
      state.digests.push(digest);
      onDigest(digest);
    },
    log: environment.onLog ?? (() => {}),
    poison:
      environment.undefined === 'poison'
        ? new Poison(environment.poisonSeed ?? DEFAULT_SEED, environment.onUndefinedRead ?? (() => {}))
        : undefined,
    trace: undefined,
  };
  const state = createProgramState(program, runtime, random, memory);
  runtime.tables = state.tables;
  runtime.externs = state.externs;
  runtime.valueSets = state.valueSets;
  return { runtime, state };
}
