import { ANY, type KnownValues } from './known-values.js';
import { type HeaderPlace, type Places, type ScalarPlace, TooMuch } from './places.js';

export const NO = 0;
export const YES = 1;
/** In some packets: the result of joined states. */
export const MAYBE = 2;

/**
 * Limits of an analysis. Where more than `ways` paths meet, the most similar are followed as one: what is wrong on one of them is
 * still found, but something that is right on each may then look doubtful. A step is a place of a state that is copied or joined.
 */
export interface FlowLimits {
  readonly ways: number;
  readonly steps: number;
}
/** Steps of one statement in one state. */
const STATEMENT = 64;

/** A criterion that separates states: the knowledge of a value, or a header's validity. */
export interface Telling {
  /** Its contribution to the key of a state: see `weightOf`. */
  readonly weight: number;
  readonly of: (state: State) => number;
}

/** Data shared by all states, and their budget. */
export class StateSpace {
  /** Criteria that always count. */
  readonly telling: Telling[] = [];
  /** Criteria to give up if there are too many paths, last ones first among equals; after them all headers. */
  readonly flags: Telling[] = [];
  readonly #headers = new Map<HeaderPlace, Telling>();
  #steps = 0;
  /** Whether paths were followed as one because there were too many. */
  hasJoined = false;

  constructor(
    readonly places: Places,
    readonly known: KnownValues,
    readonly limits: FlowLimits,
  ) {}

  /** All criteria that may be given up. */
  tellings(): readonly Telling[] {
    for (const header of this.places.alone) {
      if (this.#headers.has(header)) continue;
      this.#headers.set(header, { weight: header.weight, of: (state) => state.validity(header) });
    }
    return [...this.flags, ...this.#headers.values()];
  }

  /** @throws TooMuch */
  spend(steps = STATEMENT): void {
    this.#steps += steps;
    if (this.#steps > this.limits.steps) throw new TooMuch();
  }
}

/** Values per page. States share pages until one writes. A power of two. */
const PAGE = 64;

interface Page {
  /** Whether each value was written, and each header is valid: NO, YES or MAYBE. */
  readonly written: Uint8Array;
  /** The knowledge of each value: a number of `KnownValues`. */
  readonly values: Int32Array;
  /** Its owner. Others copy the page before they write. */
  readonly owner: object;
}

const EMPTY: Page = { written: new Uint8Array(PAGE), values: new Int32Array(PAGE), owner: {} };

/** The states of packets on several paths. */
export type States = readonly State[];

/** The knowledge, at one point of the program, of the packets that reach it on one path. */
export class State {
  #pages: Page[] = [];
  /** The validity of headers, by their weights. */
  #sum = 0;
  #owner: object = {};

  constructor(readonly space: StateSpace) {}

  copy(): State {
    this.space.spend();
    const copy = new State(this.space);
    copy.#pages = this.#pages.slice();
    copy.#sum = this.#sum;
    // From now on the pages have no owner.
    this.#owner = {};
    return copy;
  }

  validity({ validity }: HeaderPlace): number {
    return this.isWritten(validity);
  }

  setValidity({ validity, weight }: HeaderPlace, is: number): void {
    this.#sum += weight * (is - this.isWritten(validity));
    this.set(validity, is);
  }

  isWritten({ id }: ScalarPlace): number {
    return this.#pages[Math.floor(id / PAGE)]?.written[id % PAGE] ?? NO;
  }

  value({ id }: ScalarPlace): number {
    return this.#pages[Math.floor(id / PAGE)]?.values[id % PAGE] ?? ANY;
  }

  set({ id }: ScalarPlace, written: number, value: number = ANY): void {
    const page = this.#page(Math.floor(id / PAGE));
    page.written[id % PAGE] = written;
    page.values[id % PAGE] = value;
  }

  /** A page to write to. */
  #page(at: number): Page {
    while (this.#pages.length <= at) this.#pages.push(EMPTY);
    const page = this.#pages[at]!;
    if (page.owner === this.#owner) return page;
    this.space.spend(PAGE);
    const own = { written: page.written.slice(), values: page.values.slice(), owner: this.#owner };
    this.#pages[at] = own;
    return own;
  }

  /**
   * The key of a state. Where paths meet, states with equal keys are joined: they agree in all criteria but `without`.
   */
  key(without: Iterable<Telling>): number {
    let key = this.#sum;
    for (const each of this.space.telling) key += each.weight * each.of(this);
    for (const each of this.space.flags) key += each.weight * each.of(this);
    for (const each of without) key -= each.weight * each.of(this);
    return key;
  }

  /** Joins the knowledge of other packets. Returns whether the state became less specific. */
  join(other: State): boolean {
    const { space } = this;
    const pages = Math.max(this.#pages.length, other.#pages.length);
    space.spend(STATEMENT + pages);
    const differing: number[] = [];
    for (let at = 0; at < pages; at++) {
      if ((this.#pages[at] ?? EMPTY) !== (other.#pages[at] ?? EMPTY)) differing.push(at);
    }
    const kept = this.#keepFields(other, differing);
    let isChanged = false;
    for (const at of differing) isChanged = this.#joinPage(at, other.#pages[at] ?? EMPTY, kept) || isChanged;
    return isChanged;
  }

  /** If a header is invalid in one state, its fields come from the other. Returns the fields that stay unchanged. */
  #keepFields(other: State, pages: readonly number[]): ReadonlySet<number> {
    const kept = new Set<number>();
    const { headers } = this.space.places;
    for (const at of pages) {
      for (let i = 0; i < PAGE; i++) {
        const [mine, theirs] = [this.#pages[at]?.written[i] ?? NO, other.#pages[at]?.written[i] ?? NO];
        const header = mine === theirs ? undefined : headers.get(at * PAGE + i);
        if (header === undefined) continue;
        if (mine === NO) for (const each of header.scalars) this.set(each, other.isWritten(each), other.value(each));
        if (theirs === NO) for (const each of header.scalars) kept.add(each.id);
      }
    }
    return kept;
  }

  #joinPage(at: number, theirs: Page, kept: ReadonlySet<number>): boolean {
    const { known, places } = this.space;
    this.space.spend(PAGE);
    let mine = this.#pages[at] ?? EMPTY;
    let isChanged = false;
    for (let i = 0; i < PAGE; i++) {
      const [written, value] = [mine.written[i]!, mine.values[i]!];
      if ((written === theirs.written[i] && value === theirs.values[i]) || kept.has(at * PAGE + i)) continue;
      const joinedWritten = written === theirs.written[i] ? written : MAYBE;
      const joinedValue = known.union(value, theirs.values[i]!);
      if (joinedWritten === written && joinedValue === value) continue;
      mine = this.#page(at);
      mine.written[i] = joinedWritten;
      this.#sum += (places.headers.get(at * PAGE + i)?.weight ?? 0) * (joinedWritten - written);
      mine.values[i] = joinedValue;
      isChanged = true;
    }
    return isChanged;
  }
}

/** The states at one point: one per key, up to a limit. */
export class StateSet {
  #states = new Map<number, State>();
  readonly #without = new Set<Telling>();

  constructor(readonly space: StateSpace) {}

  get states(): States {
    return [...this.#states.values()];
  }

  /** Adds a state and takes ownership of it. Returns the states that are new or changed. */
  add(state: State): States {
    const key = state.key(this.#without);
    const known = this.#states.get(key);
    if (known !== undefined) return known.join(state) ? [known] : [];
    this.#states.set(key, state);
    if (this.#states.size <= this.space.limits.ways) return [state];
    this.#forget();
    return this.states;
  }

  /**
   * Gives up criteria until there are few enough states. It begins with those least related to others, without which
   * most states become equal.
   */
  #forget(): void {
    const { space } = this;
    space.hasJoined = true;
    // A criterion equal in all states stays equal when some of them are joined.
    const differing = this.#differing(space.tellings());
    while (this.#states.size > space.limits.ways) {
      const { states } = this;
      const keys = states.map((each) => each.key(this.#without));
      let best: { telling: Telling; left: number } | undefined;
      for (const telling of this.#differing(differing)) {
        const left = new Set(states.map((each, at) => keys[at]! - telling.weight * telling.of(each))).size;
        if (best === undefined || left <= best.left) best = { telling, left };
      }
      if (best === undefined) return;
      this.#without.add(best.telling);
      this.#states = new Map();
      for (const state of states) {
        const key = state.key(this.#without);
        const known = this.#states.get(key);
        if (known === undefined) this.#states.set(key, state);
        else known.join(state);
      }
    }
  }

  /** The criteria, not given up yet, that separate some states. */
  #differing(tellings: readonly Telling[]): readonly Telling[] {
    const { states } = this;
    this.space.spend(tellings.length * states.length);
    return tellings.filter((telling) => {
      if (this.#without.has(telling)) return false;
      const same = telling.of(states[0]!);
      return states.some((each) => telling.of(each) !== same);
    });
  }
}

/** The states that arrive at a point, some of them not yet followed. */
export class Arrivals {
  readonly #all: StateSet;
  readonly #waiting = new Set<State>();

  constructor(space: StateSpace) {
    this.#all = new StateSet(space);
  }

  get isWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** Adds states and takes ownership of them. */
  add(...states: States): void {
    for (const state of states) for (const each of this.#all.add(state)) this.#waiting.add(each);
  }

  /** Takes copies of the states that are new or have become less specific. */
  take(): State[] {
    const current = new Set(this.#all.states);
    const taken = [...this.#waiting].filter((each) => current.has(each)).map((each) => each.copy());
    this.#waiting.clear();
    return taken;
  }
}

/** The states where paths meet. Takes ownership of the lists. */
export function joined(space: StateSpace, ...lists: readonly States[]): States {
  const [first, ...others] = lists.filter((each) => each.length > 0);
  if (first === undefined) return [];
  if (others.length === 0 && first.length <= 1) return first;
  const set = new StateSet(space);
  for (const list of [first, ...others]) for (const state of list) set.add(state);
  return set.states;
}
