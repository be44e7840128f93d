import { overheadBps } from './overhead.js';
import { type TelemetryHeader, telemetryBytes } from './telemetry-bytes.js';

/** A flow that could be watched. */
export interface WatchCandidate {
  readonly name: string;
  readonly packetsPerSecond: number;
  /** As those of a `WatchedFlow`. */
  readonly links: readonly string[];
  /** Above 0; a flow of weight 2 is worth as much as two of weight 1. */
  readonly weight: number;
}

/** A set of fields, and what it is worth to see it of a hop. */
export interface FieldSet {
  readonly header: TelemetryHeader;
  readonly value: number;
}

export interface WatchQuestion {
  readonly flows: readonly WatchCandidate[];
  /** Bits a second that watching may take of each link; links that are missing here may take anything. */
  readonly budgetBps: ReadonlyMap<string, number>;
  readonly fieldSets: readonly FieldSet[];
  /** Samplings to choose from. */
  readonly oneIn: readonly number[];
  /** Most branches of the exact search. Default: 100,000. */
  readonly branches?: number;
}

/** How a flow is to be watched; `null`: not at all. */
export interface WatchChoice {
  readonly name: string;
  readonly fieldSet: FieldSet | null;
  readonly oneIn: number;
}

export interface WatchPlan {
  readonly choices: readonly WatchChoice[];
  /** What is seen: the sum over flows of `weight * value * log2(1 + watched packets a second)`. */
  readonly value: number;
  /** Nothing better exists. Else the search ended at its limit. */
  readonly isBest: boolean;
}

interface Choice {
  readonly fieldSet: FieldSet | null;
  readonly oneIn: number;
  readonly value: number;
  /** Bits a second, by index of the link among those with a budget. */
  readonly costs: readonly (readonly [link: number, bps: number])[];
}

const BRANCHES = 100_000;
/** Sums of costs that exceed a budget by rounding alone fit. */
const ROUNDING = 1e-9;

/**
 * Chooses fields and sampling of each flow so that no link carries more telemetry than its budget, and most is seen. More packets
 * of a flow tell ever less, so their number counts as its logarithm. An exact search for few flows; for many, a greedy choice that it
 * improves as far as `branches` reach.
 */
export function planWatching(question: WatchQuestion): WatchPlan {
  const { flows, budgetBps, branches = BRANCHES } = question;
  const links = [...budgetBps.keys()];
  const budgets = links.map((link) => budgetBps.get(link)! * (1 + ROUNDING));
  const at = new Map(links.map((link, index) => [link, index]));
  const options = flows.map((flow) => choicesOf(flow, question, at));
  const greedy = greedyChoice(options, budgets);
  // Flows that matter most first: bad branches end early.
  const order = flows.map((_, index) => index).sort((a, b) => options[b]![0]!.value - options[a]![0]!.value);
  const search = new Search(
    order.map((index) => options[index]!),
    budgets,
    branches,
    order.map((index) => greedy[index]!),
  );
  const isBest = search.run();
  const chosen: Choice[] = [];
  for (const [position, index] of order.entries()) chosen[index] = search.best[position]!;
  return {
    choices: chosen.map(({ fieldSet, oneIn }, index) => ({ name: flows[index]!.name, fieldSet, oneIn })),
    value: chosen.reduce((sum, { value }) => sum + value, 0),
    isBest,
  };
}

/** All choices for a flow, the best first; the last is not to watch it. */
function choicesOf(
  { packetsPerSecond, links, weight }: WatchCandidate,
  { fieldSets, oneIn }: WatchQuestion,
  at: ReadonlyMap<string, number>,
): Choice[] {
  const none: Choice = { fieldSet: null, oneIn: 1, value: 0, costs: [] };
  const all = fieldSets.flatMap((fieldSet) =>
    oneIn.map((each): Choice => {
      const bytes = telemetryBytes(fieldSet.header);
      const costs = new Map<number, number>();
      for (const [hop, link] of links.entries()) {
        const index = at.get(link);
        if (index === undefined) continue;
        costs.set(index, (costs.get(index) ?? 0) + overheadBps(packetsPerSecond / each, hop + 1, bytes));
      }
      const value = weight * fieldSet.value * Math.log2(1 + packetsPerSecond / each);
      return { fieldSet, oneIn: each, value, costs: [...costs] };
    }),
  );
  // A choice that costs at least as much and shows no more is never needed. All cost in proportion on all links, or nearly so.
  const useful = all.filter(
    (one) =>
      !all.some(
        (other) =>
          other !== one &&
          other.value >= one.value &&
          other.costs.every(([, bps], i) => bps <= one.costs[i]![1]) &&
          (other.value > one.value || all.indexOf(other) < all.indexOf(one)),
      ),
  );
  return [...useful.filter(({ value }) => value > 0).sort((a, b) => b.value - a.value), none];
}

function fits(choice: Choice, room: readonly number[]): boolean {
  return choice.costs.every(([link, bps]) => bps <= room[link]!);
}

function take(choice: Choice, room: number[], sign: 1 | -1): void {
  for (const [link, bps] of choice.costs) room[link] = room[link]! - sign * bps;
}

/** Begins with nothing, and takes the step up that shows most for the share of the budgets that it takes, while any fits. */
function greedyChoice(options: readonly (readonly Choice[])[], budgets: readonly number[]): Choice[] {
  const room = [...budgets];
  const chosen = options.map((each) => each.at(-1)!);
  for (;;) {
    let best: { readonly flow: number; readonly choice: Choice; readonly rate: number } | null = null;
    for (const [flow, each] of options.entries()) {
      const now = chosen[flow]!;
      take(now, room, -1);
      for (const choice of each) {
        if (choice.value <= now.value || !fits(choice, room)) continue;
        const share = (of: Choice): number =>
          of.costs.reduce((most, [link, bps]) => Math.max(most, bps / budgets[link]!), 0);
        const rate = (choice.value - now.value) / Math.max(1e-12, share(choice) - share(now));
        if (best === null || rate > best.rate) best = { flow, choice, rate };
      }
      take(now, room, 1);
    }
    if (best === null) return chosen;
    take(chosen[best.flow]!, room, -1);
    take(best.choice, room, 1);
    chosen[best.flow] = best.choice;
  }
}

/** Branch and bound: the bound of the flows that are left is the best of each that still fits alone. */
class Search {
  best: readonly Choice[];
  #bestValue: number;
  readonly #chosen: Choice[] = [];
  readonly #room: number[];
  #left: number;

  constructor(
    readonly options: readonly (readonly Choice[])[],
    budgets: readonly number[],
    branches: number,
    start: readonly Choice[],
  ) {
    this.#room = [...budgets];
    this.#left = branches;
    this.best = start;
    this.#bestValue = sum(start);
  }

  /** @returns whether all branches were searched */
  run(): boolean {
    this.#branch(0, 0);
    return this.#left > 0;
  }

  #branch(flow: number, value: number): void {
    if (this.#left <= 0) return;
    this.#left--;
    if (flow === this.options.length) {
      if (value > this.#bestValue) {
        this.#bestValue = value;
        this.best = [...this.#chosen];
      }
      return;
    }
    let bound = value;
    for (let i = flow; i < this.options.length; i++) {
      bound += this.options[i]!.find((choice) => fits(choice, this.#room))!.value;
    }
    if (bound <= this.#bestValue) return;
    for (const choice of this.options[flow]!) {
      if (!fits(choice, this.#room)) continue;
      take(choice, this.#room, 1);
      this.#chosen.push(choice);
      this.#branch(flow + 1, value + choice.value);
      this.#chosen.pop();
      take(choice, this.#room, -1);
    }
  }
}

function sum(choices: readonly Choice[]): number {
  return choices.reduce((total, { value }) => total + value, 0);
}
