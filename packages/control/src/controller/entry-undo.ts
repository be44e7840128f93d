import type { p4config } from '@int/p4runtime';
import type { DesiredState } from '../change/desired-state.js';
import type { Journal } from '../journal/journal.js';
import type { JournalEntry } from '../journal/journal-entry.js';
import type { EntryOrder } from './loop-io.js';
import type { Proposal } from './proposal.js';
import { danglingUse, type UndoneEntry, undoneEntries, withUndone } from './undone-entries.js';

/** What {@link EntryUndo} has to know of the controller. */
interface Surroundings {
  readonly journal: Pick<Journal, 'entries' | 'undo'> | undefined;
  p4infos(switchId: number): p4config.P4Info | undefined;
  proposals(): readonly Proposal[];
  /** What the switches shall have by the intents alone. */
  wanted(): DesiredState;
  /** Why a desired state must not be had; `null`: it may be. */
  unsafety(desired: DesiredState): Promise<string | null>;
  tell(what: 'undone' | 'redone', by: string, reason: string): void;
}

/** What was undone of the journal by the numbers of its entries, and stays so until something else is wanted there. */
export class EntryUndo {
  #entries: readonly UndoneEntry[];
  readonly #around: Surroundings;
  #isClosed = false;

  constructor(entries: readonly UndoneEntry[], around: Surroundings) {
    this.#entries = entries;
    this.#around = around;
  }

  get entries(): readonly UndoneEntry[] {
    return this.#entries;
  }

  /** Puts what was undone into a desired state. */
  in(desired: DesiredState): DesiredState {
    return withUndone(desired, this.#entries, this.#around.p4infos).desired;
  }

  /** @returns why nothing is done; `null`: the entries are undone */
  async undo({ entries: ids, by, reason }: EntryOrder): Promise<string | null> {
    const { journal, p4infos } = this.#around;
    if (journal === undefined) return 'there is no journal';
    const { refusals } = journal.undo(...ids);
    if (refusals.length > 0) return refusals.map(({ message }) => message).join('; ');
    const chosen = journal.entries.filter(({ id, result }) => ids.includes(id) && result === 'done');
    if (chosen.length === 0) return 'the switches have refused it: there is nothing to undo';
    const intents = new Set(chosen.flatMap((each) => each.intents));
    const ofLoop = this.#around
      .proposals()
      .filter((each) => intents.size > 0 && each.intents.some(({ id }) => intents.has(id)));
    const inForce = ofLoop.find(({ state }) => state === 'installed' || state === 'verified');
    if (inForce !== undefined) {
      return `entry ${ids.join(', ')} is of ${inForce.id}, whose entries come and go together: undo ${inForce.id}`;
    }
    const missing = dependents(journal.entries, chosen, intents);
    if (missing.length > 0) {
      const all = rangesOf([...ids, ...missing]);
      return `entries ${rangesOf(missing)} of ${[...intents].join(', ')} depend on it: undo ${all}`;
    }
    const fresh = undoneEntries(chosen, by, p4infos);
    const { desired, over } = withUndone(this.in(this.#around.wanted()), fresh, p4infos);
    const [moot] = over;
    if (moot !== undefined) return `entry ${moot.entries.join(', ')}: something else is wanted there now`;
    const dangling = danglingUse(desired, fresh);
    if (dangling !== null) return dangling;
    const unsafe = await this.#around.unsafety(desired);
    if (unsafe !== null) return unsafe;
    if (this.#isClosed) return 'the controller ends';
    this.#entries = [...this.#entries, ...fresh];
    this.#around.tell('undone', by, reasonOf(ids, reason));
    return null;
  }

  /** @returns why nothing is done; `null`: the entries are wanted again */
  async redo({ entries: ids, by, reason }: EntryOrder): Promise<string | null> {
    const kept = this.#entries.filter((each) => !each.entries.some((id) => ids.includes(id)));
    if (kept.length === this.#entries.length) return `entry ${ids.join(', ')} is not undone`;
    const before = this.#entries;
    this.#entries = kept;
    const unsafe = await this.#around.unsafety(this.in(this.#around.wanted()));
    if (unsafe !== null) {
      this.#entries = before;
      return unsafe;
    }
    this.#around.tell('redone', by, reasonOf(ids, reason));
    return null;
  }

  /** Where something else is wanted now, an order to undo what was there before is over. */
  endOvertaken(): void {
    if (this.#entries.length === 0) return;
    const { over } = withUndone(this.#around.wanted(), this.#entries, this.#around.p4infos);
    if (over.length === 0) return;
    this.#entries = this.#entries.filter((each) => !over.includes(each));
    for (const { entries } of over) {
      const what = `entries ${entries.join(', ')} of the journal: something else is wanted there now`;
      this.#around.tell('redone', 'controller', what);
    }
  }

  /** Nothing is undone any more, not even what is being rehearsed. */
  close(): void {
    this.#isClosed = true;
  }
}

function reasonOf(ids: readonly number[], why: string | undefined): string {
  const what = `entries ${ids.join(', ')} of the journal`;
  return why === undefined ? what : `${what}: ${why}`;
}

/** Entries of the same intents that are there as they were made, and are not to be undone with the chosen ones. */
function dependents(
  entries: readonly JournalEntry[],
  chosen: readonly JournalEntry[],
  intents: ReadonlySet<string>,
): readonly number[] {
  const isChosen = new Set(chosen.map(({ switchId, place }) => `${switchId} ${place}`));
  const last = new Map<string, JournalEntry>();
  for (const each of entries) if (each.result === 'done') last.set(`${each.switchId} ${each.place}`, each);
  const { type } = chosen[0]!;
  return [...last]
    .filter(([place, each]) => !isChosen.has(place) && each.intents.some((id) => intents.has(id)))
    .filter(([, each]) => (each.type === 'delete') === (type === 'delete'))
    .map(([, { id }]) => id);
}

/** Numbers as text: `3-5 9`. */
function rangesOf(numbers: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const number of [...numbers].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && number <= last[1] + 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(' ');
}
