import type { JournalEntry, LoopNote } from '@int/control';
import type { JournalRow } from '@int/dashboard';
import type { Topology } from '@int/network';
import { rowText, writtenRow } from './changes.js';

/** Rows that are remembered, and changes in them all together. */
const MOST_ROWS = 4000;
const MOST_CHANGES = 40_000;
/** Changes of one row. */
const MOST_IN_ROW = 100;

/** What has happened, the last part of it: files have all. */
export class JournalRows {
  /** All that were written, those that are forgotten too. */
  count = 0;
  readonly #topology: Topology;
  #rows: JournalRow[] = [];
  #changes = 0;

  constructor(topology: Topology) {
    this.#topology = topology;
  }

  /** The oldest first. */
  get rows(): readonly JournalRow[] {
    return this.#rows;
  }

  note({ atMs, what, by, reason, proposal }: LoopNote): void {
    const terms = { atMs, what, by: rowText(by), reason: rowText(reason), proposal };
    this.#add({ ...terms, switchId: null, switchName: null, changes: [], leftOut: 0 });
  }

  /** @param entries of one request, at least one. @param proposal the first that it is of */
  written(entries: readonly JournalEntry[], proposal: string | null): void {
    const { switchId, atMs, cause } = entries[0]!;
    const changes = entries.slice(0, MOST_IN_ROW).map(writtenRow);
    this.#add({
      ...{ atMs, what: 'written', by: rowText(cause.owner), reason: rowText(cause.reason), proposal },
      ...{
        switchId,
        switchName: this.#topology.switchText(switchId),
        changes,
        leftOut: entries.length - changes.length,
      },
    });
  }

  #add(row: Omit<JournalRow, 'id'>): void {
    this.#rows.push({ id: ++this.count, ...row });
    this.#changes += row.changes.length;
    let gone = Math.max(0, this.#rows.length - MOST_ROWS);
    for (let k = 0; k < gone; k++) this.#changes -= this.#rows[k]!.changes.length;
    while (this.#changes > MOST_CHANGES) this.#changes -= this.#rows[gone++]!.changes.length;
    // Lists that were handed out stay as they were.
    if (gone > 0) this.#rows = this.#rows.slice(gone);
  }
}
