/** Updates per second: the contenders in turn, over the same reports. */
import { median } from '../decode/statistics.js';
import { type Outcome, Program } from './programs.js';
import { type Setup, writeSetup } from './setup.js';
import type { Mix } from './workload.js';

export const C_PLAIN = 'C -O3 -march=native';
const C_PREFETCH = 'C, batch prefetch';
export const ACCELERATOR = 'FlowCache, accelerator in place';
export const ACCELERATOR_COPIED = 'FlowCache, accelerator, batch copied in';
export const PLAIN = 'FlowCache, plain TypeScript';

/** Programs, and under which names their modes are shown. */
const MODES: Readonly<Record<string, readonly string[]>> = {
  c: [C_PLAIN, C_PREFETCH],
  accelerator: [ACCELERATOR, ACCELERATOR_COPIED],
  plain: [PLAIN],
  'map-string': ['Map, string key'],
  'map-bigint': ['Map, bigint key'],
  'map-number': ['Map, number key'],
  'lru-string': ['lru-cache, string key'],
  'lru-bigint': ['lru-cache, bigint key'],
};
export const MAPS: readonly string[] = ['map-string', 'map-bigint', 'map-number'].flatMap((name) => MODES[name]!);
export const LRUS: readonly string[] = ['lru-string', 'lru-bigint'].flatMap((name) => MODES[name]!);

const isOfObjects = (name: string): boolean => name.startsWith('map-') || name.startsWith('lru-');

/** Nanoseconds a report. */
export interface Figures {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  /** Median over the rounds of: this contender's time in the round / that of plain C; and the ratio of the best passes. */
  readonly ratioToC: number | null;
  readonly ratioOfMinimaToC: number | null;
  /** Of the reports counted: share whose flow had given way to another, and was inserted again. */
  readonly missed: number;
}

export interface MemoryUse {
  /** Bytes that the process has in use more than before the flows were inserted, per flow held. */
  readonly perFlow: number;
  readonly rssMiB: number;
  readonly live: number;
}

export interface SpeedResult {
  readonly flows: number;
  readonly layout: string;
  readonly ipv6: boolean;
  /** Of the flows inserted, how many the flow cache holds; Map and lru-cache hold all. */
  readonly resident: number;
  readonly checksum: number;
  /** Flows of which what FlowCache and an object store know was compared. */
  readonly compared: number;
  readonly mixes: Partial<Record<Mix, Record<string, Figures>>>;
  readonly memory: Record<string, MemoryUse>;
  /** Nanoseconds a report while the flows were inserted, into an empty cache; the first use of its memory included. */
  readonly inserting: Record<string, number>;
}

/** How much is measured. */
export interface Effort {
  readonly rounds: number;
  readonly slowRounds: number;
  /** Reports of a pass that count, and those before them that do not, for a contender to find its caches as it left them. */
  readonly reports: number;
  readonly lead: number;
  readonly slowReports: number;
  readonly slowLead: number;
}

/** Reports between the insertion of the flows and the comparison of what is known of them. */
const CHECKED = 65_536;
const SAMPLES = 2000;

export interface SpeedPlan {
  readonly setup: Setup;
  /** Of the fast contenders, and of objects in Maps and lru-cache. */
  readonly mixes: readonly Mix[];
  readonly slowMixes?: readonly Mix[];
  /** Programs that run together. C takes part in every group. */
  readonly groups: readonly (readonly string[])[];
}

/** By contender: what its passes took, also in relation to C, and the share of the reports whose flow was gone. */
type Times = Map<string, { readonly ns: number[]; readonly ratios: number[]; readonly missed: number }>;

/** A process whose flows have been inserted. */
interface Running {
  readonly name: string;
  readonly program: Program;
  readonly modes: readonly string[];
  /** Reports that it has been given since then. */
  given: number;
}

/** A cache that was given as many reports as that of C must have come to the same: what was timed was all of the work. */
async function checkEnd(c: Running, running: readonly Running[]): Promise<void> {
  const same = running.filter(({ name, given }) => !isOfObjects(name) && given === c.given);
  if (same.length === 0) return;
  const expected = await c.program.checksum();
  for (const { name, program } of same) {
    if ((await program.checksum()) !== expected) throw new Error(`${name}: another content of the cache at the end`);
  }
}

export class SpeedTest {
  readonly #setup: Setup;
  readonly #path: string;
  readonly #effort: Effort;
  readonly #buckets: number;
  readonly #times = new Map<Mix, Times>();
  readonly #memory: Record<string, MemoryUse> = {};
  readonly #inserting: Record<string, number> = {};
  #checksum: number | null = null;
  #values: (number | null)[] | null = null;
  #compared = 0;
  #live = 0;
  readonly #minima = new Map<string, number | null>();

  private constructor(path: string, setup: Setup, effort: Effort) {
    this.#path = path;
    this.#setup = setup;
    this.#effort = effort;
    this.#buckets = writeSetup(path, setup).buckets;
  }

  /** Measures; `hasC`: whether the C program was built. */
  static async run(path: string, plan: SpeedPlan, effort: Effort, hasC: boolean): Promise<SpeedResult> {
    const test = new SpeedTest(path, plan.setup, effort);
    const c = hasC ? await test.#start('c') : null;
    try {
      for (const group of plan.groups) {
        const isSlow = group.some(isOfObjects);
        await test.#runGroup(group, c, isSlow ? (plan.slowMixes ?? plan.mixes) : plan.mixes);
      }
    } finally {
      await c?.program.stop();
    }
    return test.#result();
  }

  /** Starts a program, inserts all flows, and sees to it that it knows the same of them as the others. */
  async #start(name: string): Promise<Running> {
    const { flows, layout, rows } = this.#setup;
    const modes = MODES[name]!;
    const program =
      name === 'c' ? Program.c(this.#path) : Program.javaScript(name, this.#path, layout, rows, this.#buckets);
    const before = name === 'c' ? null : await program.memory();
    const { ns, live } = await program.fill(flows);
    this.#inserting[modes[0]!] = ns;
    if (before !== null) {
      const { rss } = await program.memory();
      this.#memory[modes[0]!] = { perFlow: (rss - before.rss) / live, rssMiB: rss / 2 ** 20, live };
    }
    for (let turn = 0; turn < 2; turn++) await program.run(turn % modes.length, 'zipf', 0, CHECKED);
    await this.#check(name, program);
    if (!isOfObjects(name)) this.#live = live;
    return { name, program, modes, given: 0 };
  }

  async #check(name: string, program: Program): Promise<void> {
    const checksum = await program.checksum();
    this.#checksum ??= checksum;
    if (checksum !== null && checksum !== this.#checksum) throw new Error(`${name}: another content of the cache`);
    if (name === 'c' || this.#setup.ipv6 || this.#setup.layout !== 'exact') return;
    const values = await program.values(17, Math.floor(this.#setup.flows / SAMPLES), SAMPLES);
    if (this.#values === null) {
      this.#values = values;
      return;
    }
    let compared = 0;
    for (const [k, value] of values.entries()) {
      const other = this.#values[k]!;
      if (value === null || other === null) continue;
      if (value !== other) throw new Error(`${name}: knows something else of a flow`);
      compared++;
    }
    if (compared < 0.8 * SAMPLES) throw new Error(`${name}: only ${compared} flows could be compared`);
    this.#compared = compared;
  }

  async #runGroup(names: readonly string[], c: Running | null, mixes: readonly Mix[]): Promise<void> {
    const running: Running[] = [];
    try {
      for (const name of names) running.push(await this.#start(name));
      const all = c === null ? running : [c, ...running];
      for (const mix of mixes) await this.#runMix(mix, all);
      if (c !== null) await checkEnd(c, running);
    } finally {
      for (const { program } of running) await program.stop();
    }
  }

  /** Passes of all modes, in turn; each round begins with another one. */
  async #runMix(mix: Mix, running: readonly Running[]): Promise<void> {
    const isSlow = running.some(({ name }) => isOfObjects(name));
    const passes = running.flatMap((of) =>
      of.modes.map((name, mode) => ({ name, mode, of })).slice(0, isSlow ? 1 : of.modes.length),
    );
    const { rounds, slowRounds, reports, lead, slowReports, slowLead } = this.#effort;
    const outcomes = new Map<string, Outcome[]>(passes.map(({ name }) => [name, []]));
    for (let round = 0; round < (isSlow ? slowRounds : rounds); round++) {
      for (let k = 0; k < passes.length; k++) {
        const { name, mode, of } = passes[(k + round) % passes.length]!;
        const before = isSlow ? slowLead : lead;
        const outcome = await of.program.run(mode, mix, before, isSlow ? slowReports : reports);
        of.given += before + outcome.reports;
        outcomes.get(name)!.push(outcome);
      }
    }
    const reference = outcomes.get(C_PLAIN);
    const ofMix: Times = this.#times.get(mix) ?? new Map();
    this.#times.set(mix, ofMix);
    for (const [name, list] of outcomes) {
      const total = list.reduce((sum, outcome) => sum + outcome.reports, 0);
      const times = {
        ns: list.map(({ ns }) => ns),
        ratios: reference === undefined ? [] : list.map(({ ns }, round) => ns / reference[round]!.ns),
        missed: list.reduce((sum, { inserted }) => sum + inserted, 0) / total,
      };
      // C runs with every group; what is shown of it is what was measured beside the fast ones.
      if (!ofMix.has(name)) ofMix.set(name, times);
      if (name === C_PLAIN) ofMix.get(name)!.ratios.fill(1);
      const minima =
        reference === undefined ? null : Math.min(...times.ns) / Math.min(...reference.map(({ ns }) => ns));
      this.#minima.set(`${mix} ${name}`, minima);
    }
  }

  #result(): SpeedResult {
    const { flows, layout, ipv6 } = this.#setup;
    const mixes: Partial<Record<Mix, Record<string, Figures>>> = {};
    for (const [mix, ofMix] of this.#times) {
      mixes[mix] = Object.fromEntries(
        [...ofMix].map(([name, { ns, ratios, missed }]): [string, Figures] => [
          name,
          {
            median: median(ns),
            min: Math.min(...ns),
            max: Math.max(...ns),
            ratioToC: ratios.length === 0 ? null : median(ratios),
            ratioOfMinimaToC: this.#minima.get(`${mix} ${name}`)!,
            missed,
          },
        ]),
      );
    }
    return {
      flows,
      layout,
      ipv6,
      resident: this.#live / flows,
      checksum: this.#checksum ?? 0,
      compared: this.#compared,
      mixes,
      memory: this.#memory,
      inserting: this.#inserting,
    };
  }
}
