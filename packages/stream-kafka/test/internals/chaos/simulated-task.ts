import type { FlowWindow, NetworkWindow, WindowCorrection } from '@int/stream';
import type { LogRecord } from '../../../src/kafka/committed.js';
import type { Findings, Unit, UnitCounts, UnitState } from '../../../src/unit.js';
import { added, NO_COUNTS } from '../../../src/unit.js';

/** A log of one partition. */
export class SimulatedLog {
  readonly records: LogRecord[] = [];

  append(record: Omit<LogRecord, 'offset'>): void {
    this.records.push({ ...record, offset: this.records.length });
  }
}

/** A partition's unit over its log and state: what a session does, with commits that come to pass whole or not at all. */
export class SimulatedTask {
  readonly #make: () => Unit;
  readonly #input: SimulatedLog;
  readonly #output: (
    findings: Findings,
    messages: readonly { readonly topic: string; readonly value: Uint8Array }[],
  ) => void;
  /** What the state topic has, by kind and key. */
  readonly #stored = new Map<string, { readonly kind: string; readonly key: Uint8Array; readonly value: Uint8Array }>();
  #offset = 0;
  #unit: Unit | null = null;
  #position = 0;
  #counts = NO_COUNTS;
  #before = NO_COUNTS;

  constructor(
    make: () => Unit,
    input: SimulatedLog,
    output: (findings: Findings, messages: readonly { readonly topic: string; readonly value: Uint8Array }[]) => void,
  ) {
    this.#make = make;
    this.#input = input;
    this.#output = output;
  }

  get isRunning(): boolean {
    return this.#unit !== null;
  }

  /** Records of its input that were taken, as committed. */
  get offset(): number {
    return this.#offset;
  }

  /** Counts of what was committed. */
  get counts(): UnitCounts {
    return added(this.#before, this.#counts);
  }

  /** Somebody has the partition: the state is put back. */
  start(): void {
    if (this.#unit !== null) return;
    this.#unit = this.#make();
    const pieces = [...this.#stored.values()];
    const of = (kind: string): { key: Uint8Array; value: Uint8Array }[] =>
      pieces.filter((piece) => piece.kind === kind);
    const state: UnitState = { side: of('side'), repeats: of('repeats'), writers: of('writers')[0]?.value ?? null };
    this.#unit.restore(state);
    this.#position = this.#offset;
  }

  /** Whoever had the partition is gone, with all that was not committed. */
  kill(): void {
    this.#unit = null;
    this.#before = added(this.#before, this.#counts);
    this.#counts = NO_COUNTS;
  }

  /** Takes so many records at most; if there were none, so much time has passed. */
  step(most: number, elapsedMs: number): void {
    const { records } = this.#input;
    const end = Math.min(records.length, this.#position + most);
    if (end > this.#position) this.#unit!.take(records, this.#position, end);
    else this.#unit!.quiet(elapsedMs);
    this.#position = end;
  }

  commit(): void {
    const unit = this.#unit!;
    const { messages, findings } = unit.results();
    for (const { kind, key, value } of unit.changes()) {
      const name = `${kind} ${Buffer.from(key).toString('hex')}`;
      if (value === null) this.#stored.delete(name);
      else this.#stored.set(name, { kind, key, value });
    }
    this.#offset = this.#position;
    this.#counts = unit.counts();
    this.#output(
      findings,
      messages.flatMap(({ topic, value }) => (value === null ? [] : [{ topic, value }])),
    );
  }
}

export type AnyWindow = FlowWindow | NetworkWindow;

/** The name of a window as a side has made it: a flow that moves to another side has a window of the same id from each. */
function nameOf(found: AnyWindow | WindowCorrection): string {
  return 'side' in found ? `${found.id} of side ${found.side}` : found.id;
}

/** Windows as a reader has them that keeps the last revision of each, and what corrections say. */
export class LatestWindows {
  readonly byName = new Map<string, AnyWindow>();
  /** By the window's name. */
  readonly #corrected = new Map<string, { readonly late: number; readonly number: number }>();
  /** Names by id. */
  readonly #names = new Map<string, Set<string>>();
  /** What corrections of a kind of window have said in all. */
  readonly late = { flowWindow: 0, switchWindow: 0, linkWindow: 0 };
  /** What no reader should see. */
  readonly wrong: string[] = [];

  take(window: AnyWindow): void {
    const name = this.#note(window);
    const before = this.byName.get(name);
    const expected = before === undefined ? 0 : before.revision + 1;
    if (window.revision !== expected) this.wrong.push(`${name}: revision ${window.revision}, not ${expected}`);
    this.byName.set(name, window);
  }

  correct(correction: WindowCorrection): void {
    const name = this.#note(correction);
    const { number, late } = correction;
    const before = this.#corrected.get(name) ?? { late: 0, number: 0 };
    if (number <= before.number) this.wrong.push(`${name}: correction ${number}, not above ${before.number}`);
    this.#corrected.set(name, { late: before.late + late, number });
    this.late[correction.of] += late;
  }

  #note(found: AnyWindow | WindowCorrection): string {
    const name = nameOf(found);
    const names = this.#names.get(found.id);
    if (names === undefined) this.#names.set(found.id, new Set([name]));
    else names.add(name);
    return name;
  }

  isComplete(window: AnyWindow): boolean {
    return window.complete && !this.#corrected.has(nameOf(window));
  }

  /** What the windows of an id have, and what corrections say that they lack. */
  accounted(id: string): number {
    let sum = 0;
    for (const name of this.#names.get(id) ?? []) {
      const window = this.byName.get(name);
      if (window !== undefined) sum += 'packets' in window ? window.packets : window.reports;
      sum += this.#corrected.get(name)?.late ?? 0;
    }
    return sum;
  }
}
