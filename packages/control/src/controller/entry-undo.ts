import type { p4config } from '@int/p4runtime';
import type { DesiredState } from '../change/desired-state.js';
import { isNetworkName } from '../compile/entries.js';
import type { Journal } from '../journal/journal.js';
import type { JournalEntry } from '../journal/journal-entry.js';
import type { EntryOrder } from './loop-io.js';
import type { Proposal } from './proposal.js';
import { type Dangling, danglingUses, placeOf } from './references.js';
import { type UndoneEntry, undoneEntries, withUndone } from './undone-entries.js';

/** Refusals that are told; the others are counted. */
const MOST_SHOWN = 4;

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
    if (refusals.length > 0) {
      const more = refusals.length > MOST_SHOWN ? `; and ${refusals.length - MOST_SHOWN} more` : '';
      return (
        refusals
          .slice(0, MOST_SHOWN)
          .map(({ message }) => message)
          .join('; ') + more
      );
    }
    const chosen = journal.entries.filter(({ id, result }) => ids.includes(id) && result === 'done');
    if (chosen.length === 0) return 'the switches have refused it: there is nothing to undo';
    const intents = new Set(chosen.flatMap((each) => each.intents).filter((name) => !isNetworkName(name)));
    const ofLoop = this.#around
      .proposals()
      .filter((each) => intents.size > 0 && each.intents.some(({ id }) => intents.has(id)));
    const inForce = ofLoop.find(({ state }) => state === 'installed' || state === 'verified');
    if (inForce !== undefined) {
      return `entry ${rangesOf(ids)} is of ${inForce.id}, whose entries come and go together: undo ${inForce.id}`;
    }
    const missing = dependents(journal.entries, chosen, intents);
    if (missing.length > 0) {
      const needed = this.#needs([...chosen, ...journal.entries.filter(({ id }) => missing.includes(id))], by);
      const all = rangesOf([...ids, ...missing, ...(typeof needed === 'string' ? [] : needed)]);
      return `entries ${rangesOf(missing)} of ${[...intents].join(', ')} depend on it: undo ${all}`;
    }
    const needed = this.#needs(chosen, by);
    if (typeof needed === 'string') return needed;
    if (needed.length > 0) {
      const all = rangesOf([...ids, ...needed]);
      return `entries ${rangesOf(needed)} have removed what it needs, such as next hops: undo ${all}`;
    }
    const fresh = undoneEntries(chosen, by, p4infos);
    if (fresh.length === 0) return 'what they have made is gone again: there is nothing to undo';
    const { desired } = withUndone(this.in(this.#around.wanted()), fresh, p4infos);
    const unsafe = await this.#around.unsafety(desired);
    if (unsafe !== null) return unsafe;
    if (this.#isClosed) return 'the controller ends';
    this.#entries = [...this.#entries, ...fresh];
    this.#around.tell('undone', by, reasonOf(ids, reason));
    return null;
  }

  /**
   * Entries that must be undone with the chosen ones, for these restore what uses what is gone.
   * @returns text: why the chosen ones cannot be undone, whatever else is
   */
  #needs(chosen: readonly JournalEntry[], by: string): readonly number[] | string {
    const { p4infos, journal } = this.#around;
    const before = this.in(this.#around.wanted());
    const switches = new Set(chosen.map(({ switchId }) => switchId));
    const known = new Set(danglingUses(before, switches).map(({ switchId, place }) => `${switchId} ${place}`));
    const all = [...chosen];
    for (;;) {
      const inOrder = [...all].sort((one, other) => one.id - other.id);
      const { desired, over } = withUndone(before, undoneEntries(inOrder, by, p4infos), p4infos);
      const [moot] = over;
      if (moot !== undefined) return `entry ${rangesOf(moot.entries)}: something else is wanted there now`;
      const dangling = danglingUses(desired, switches).filter(
        ({ switchId, place }) => !known.has(`${switchId} ${place}`),
      );
      if (dangling.length === 0) return all.slice(chosen.length).map(({ id }) => id);
      const removals = dangling.map(({ switchId, place }) =>
        journal!.entries.findLast(
          (each) =>
            each.switchId === switchId &&
            each.result === 'done' &&
            each.type === 'delete' &&
            each.before !== null &&
            placeOf(each.before) === place,
        ),
      );
      const fresh = new Set(removals.filter((each) => each !== undefined && !all.includes(each)));
      if (removals.includes(undefined) || fresh.size === 0) {
        const [{ switchId, user, place }] = dangling as [Dangling];
        const name =
          user.kind === 'table-entry' ? `an entry of ${user.table}` : `${user.kind} ${'id' in user ? user.id : ''}`;
        const more = dangling.length > 1 ? ` and ${dangling.length - 1} more` : '';
        const ids = rangesOf(chosen.map(({ id }) => id));
        return `entry ${ids}: ${name} on switch ${switchId}${more} depends on ${place}, which would be missing`;
      }
      for (const each of fresh) all.push(each!);
    }
  }

  /** @returns why nothing is done; `null`: the entries are wanted again */
  async redo({ entries: ids, by, reason }: EntryOrder): Promise<string | null> {
    const kept = this.#entries.filter((each) => !each.entries.some((id) => ids.includes(id)));
    if (kept.length === this.#entries.length) return `entry ${rangesOf(ids)} is not undone`;
    const { desired } = withUndone(this.#around.wanted(), kept, this.#around.p4infos);
    const unsafe = await this.#around.unsafety(desired);
    if (unsafe !== null) return unsafe;
    if (this.#isClosed) return 'the controller ends';
    // Meanwhile something else may have been undone.
    this.#entries = this.#entries.filter((each) => !each.entries.some((id) => ids.includes(id)));
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
      const what = `entries ${rangesOf(entries)} of the journal: something else is wanted there now`;
      this.#around.tell('redone', 'controller', what);
    }
  }

  /** Nothing is undone any more, not even what is being rehearsed. */
  close(): void {
    this.#isClosed = true;
  }
}

function reasonOf(ids: readonly number[], why: string | undefined): string {
  const what = `entries ${rangesOf(ids)} of the journal`;
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
