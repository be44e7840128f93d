import { Chains } from './chains.js';
import { overlap, PRIORITY, prefixMask, ROW_WORDS } from './rows.js';
import { bestSplit } from './split.js';
import {
  DESTINATION_MAC_LEVEL,
  FIELDS,
  fits,
  keyHashes,
  keyLengths,
  levelOf,
  ownTuple,
  portsMask,
  protocolMask,
  SOURCE_MAC_LEVEL,
  withLevel,
} from './tuple.js';

/** A table takes so many rules of one key before it makes room. A power of two. */
const BUCKET = 8;
/**
 * Tables of one IP version. With one less, tuples no longer change: the last place is left for a table of the empty
 * tuple, which takes every rule.
 */
const MOST_TABLES = 96;

/** Words that describe a table to a lookup; see {@link Tables.order}. */
export const TABLE_WORDS = 8;

/** So many rules of a bucket are compared to tell its rules apart. */
const SAMPLE = 32;
const NONE = -1;

class Table {
  /** Highest priority of its rules, and how many have it. */
  highest = -0x8000_0000;
  atHighest = 0;
  size = 0;
  /** Its first rule; the others follow in `next`. */
  first = NONE;
  /** Counts of its rules by level, 32 a field: they tell which tuples the table as a whole can take. */
  readonly levels: Int32Array = new Int32Array(FIELDS.length * 32);

  constructor(
    readonly id: number,
    public tuple: number,
  ) {}

  get seed(): number {
    return Math.imul(this.id, 0x9e3779b1);
  }

  /** Takes note of the priority of one of its rules. */
  note(priority: number): void {
    if (priority > this.highest || this.atHighest === 0) {
      this.highest = priority;
      this.atHighest = 1;
    } else if (priority === this.highest) this.atHighest++;
  }

  /** The tuple whose levels are the lowest of its rules. */
  common(): number {
    let tuple = 0;
    for (let f = 0; f < FIELDS.length; f++) {
      let level = 0;
      while (level < FIELDS[f]!.limit && this.levels[f * 32 + level] === 0) level++;
      tuple |= level << FIELDS[f]!.shift;
    }
    return tuple;
  }
}

/**
 * The rules that can match packets of one IP version, in hash tables. The key of a table holds as much of each field as
 * its tuple says. This can be less than its rules ask for, so that few tables, hence few probes, hold rules of many
 * kinds. If more than {@link BUCKET} rules share a key, the tuple becomes finer if all rules of the table allow it;
 * else some of them move to a finer table. The idea is that of TupleMerge (Daly et al., IEEE/ACM Transactions on
 * Networking, 2019) on tuple space search (Srinivasan et al., SIGCOMM 1999). A port range lies under the one or two
 * cells that it touches, whose size is a power of two.
 */
export class Tables {
  /**
   * What a lookup reads of the tables, in descending order of their highest priority. {@link TABLE_WORDS} words each:
   * highest priority, source mask (IPv4) or level (IPv6), destination likewise, ports mask, protocol mask, seed, levels
   * of the MACs.
   */
  readonly order: Int32Array = new Int32Array(MOST_TABLES * TABLE_WORDS);
  orderWords = 0;
  /** Whether a bucket has outgrown its bound since the tables were last empty. */
  crowded = false;
  /** IPv6: levels of the tables' source and destination addresses. */
  readonly sourceLevels: number[] = [];
  readonly destinationLevels: number[] = [];
  readonly chains: Chains = new Chains();

  readonly #version: 4 | 6;
  readonly #rows: Int32Array;
  readonly #tables: Table[] = [];
  /** Tables by id, from 1. */
  readonly #byId: (Table | undefined)[] = [];
  readonly #tableOf: Uint8Array;
  readonly #own: Int32Array;
  readonly #next: Int32Array;
  readonly #previous: Int32Array;
  readonly #hashes: Int32Array = new Int32Array(4);

  /** @param rows rows of the rules, one of {@link ROW_WORDS} for each slot */
  constructor(version: 4 | 6, rows: Int32Array) {
    const capacity = rows.length / ROW_WORDS;
    this.#version = version;
    this.#rows = rows;
    this.#tableOf = new Uint8Array(capacity);
    this.#own = new Int32Array(capacity);
    this.#next = new Int32Array(capacity);
    this.#previous = new Int32Array(capacity);
  }

  get byteLength(): number {
    const perSlot = this.#tableOf.byteLength + 3 * this.#own.byteLength;
    return perSlot + this.chains.byteLength + this.order.byteLength;
  }

  get tableCount(): number {
    return this.#tables.length;
  }

  /** @param slot its row is written, and it is in no table */
  insert(slot: number): void {
    this.#own[slot] = ownTuple(keyLengths(this.#version), this.#rows, slot * ROW_WORDS);
    const table = this.#roomiest(slot, null, BUCKET);
    if (table === null) this.#makeRoom(slot);
    else this.#put(slot, table);
    this.#describe();
  }

  remove(slot: number): void {
    const table = this.#byId[this.#tableOf[slot]!]!;
    this.#take(slot, table);
    // The rest of a table may fit elsewhere, which saves a probe.
    if (table.size > 0 && table.size <= BUCKET / 2) this.#dissolve(table);
    this.#describe();
  }

  /**
   * A rule of equal priority that can match the same packet as the one in `query`, or -1.
   *
   * @param query a row by itself
   * @param except a slot that does not count
   */
  overlapping(query: Int32Array, except: number): number {
    const { heads, entries } = this.chains;
    const own = ownTuple(keyLengths(this.#version), query, 0);
    const priority = query[PRIORITY]!;
    for (const table of this.#tables) {
      if (table.highest < priority) continue;
      if (!fits(own, table.tuple)) {
        for (let slot = table.first; slot >= 0; slot = this.#next[slot]!) {
          const row = slot * ROW_WORDS;
          if (this.#rows[row] === priority && slot !== except && overlap(query, 0, this.#rows, row)) return slot;
        }
        continue;
      }
      // Both rules hold the whole key, so two that match one packet share a key.
      const count = keyHashes(this.#version, query, 0, table.tuple, table.seed, this.#hashes);
      for (let i = 0; i < count; i++) {
        const hash = this.#hashes[i]!;
        for (let e = heads[hash & (heads.length - 1)]!; e >= 0; e = entries[e + 1]!) {
          if (entries[e] !== hash || entries[e + 3] !== priority) continue;
          const slot = entries[e + 2]!;
          if (slot !== except && overlap(query, 0, this.#rows, slot * ROW_WORDS)) return slot;
        }
      }
    }
    return NONE;
  }

  /** Of the tables with fewer than `limit` rules under this one's keys, the one with the fewest. */
  #roomiest(slot: number, except: Table | null, limit: number): Table | null {
    const own = this.#own[slot]!;
    let best: Table | null = null;
    let bestLength = limit;
    for (const table of this.#tables) {
      if (table === except || !fits(own, table.tuple)) continue;
      const length = this.#crowd(slot, table);
      if (length < bestLength || (length === bestLength && best !== null && table.size > best.size)) {
        best = table;
        bestLength = length;
      }
    }
    return best;
  }

  /** The most rules in one of the table's buckets in which this rule belongs. */
  #crowd(slot: number, table: Table): number {
    let most = 0;
    const count = this.#hash(slot, table);
    for (let i = 0; i < count; i++) most = Math.max(most, this.chains.countOf(this.#hashes[i]!));
    return most;
  }

  /** The rules in the buckets that this rule belongs in. */
  #mates(slot: number, table: Table): number[] {
    const mates = new Set<number>();
    const count = this.#hash(slot, table);
    for (let i = 0; i < count; i++) {
      for (const mate of this.chains.slotsOf(this.#hashes[i]!)) mates.add(mate);
    }
    return [...mates];
  }

  /** Places a rule for which every table that can hold it is full. */
  #makeRoom(slot: number): void {
    const table = this.#roomiest(slot, null, Number.POSITIVE_INFINITY) ?? this.#open(0);
    const length = this.#crowd(slot, table);
    // A bucket grows if nothing tells its rules apart. It is checked again only when it has doubled.
    if (length >= BUCKET && (length & (length - 1)) === 0 && this.#tables.length < MOST_TABLES - 1) {
      const mates = this.#mates(slot, table);
      if (this.#move(mates, table)) {
        this.#put(slot, table);
        return;
      }
      if (this.#split(slot, mates, table)) return;
    }
    if (length >= BUCKET) this.crowded = true;
    this.#put(slot, table);
  }

  /** Moves one of the rules to another table that has room. */
  #move(mates: readonly number[], table: Table): boolean {
    for (let i = 0; i < Math.min(mates.length, SAMPLE); i++) {
      const mate = mates[i]!;
      const other = this.#roomiest(mate, table, BUCKET);
      if (other === null) continue;
      this.#take(mate, table);
      this.#put(mate, other);
      return true;
    }
    return false;
  }

  #split(slot: number, mates: readonly number[], table: Table): boolean {
    const group = [slot, ...mates.slice(0, SAMPLE)];
    let common = table.common();
    for (const field of FIELDS) {
      const level = Math.min(levelOf(common, field), levelOf(this.#own[slot]!, field));
      common = withLevel(common, field, level);
    }
    const tuple = bestSplit(this.#version, this.#rows, this.#own, group, table.tuple, common);
    if (tuple === table.tuple) return false;
    if (fits(common, tuple)) {
      this.#refine(table, tuple);
      this.#put(slot, table);
      return true;
    }
    const finer = this.#open(tuple);
    for (const mate of mates) {
      if (!fits(this.#own[mate]!, tuple)) continue;
      this.#take(mate, table);
      this.#put(mate, finer);
    }
    this.#put(slot, fits(this.#own[slot]!, tuple) ? finer : table.size > 0 ? table : this.#open(0));
    return true;
  }

  /** Gives a table a finer tuple, which all its rules allow. */
  #refine(table: Table, tuple: number): void {
    for (let slot = table.first; slot >= 0; slot = this.#next[slot]!) this.#unlink(slot, table);
    table.tuple = tuple;
    for (let slot = table.first; slot >= 0; slot = this.#next[slot]!) this.#link(slot, table);
  }

  #dissolve(table: Table): void {
    for (let slot = table.first; slot >= 0; ) {
      const next = this.#next[slot]!;
      const other = this.#roomiest(slot, table, BUCKET / 2);
      if (other === null) return;
      this.#take(slot, table);
      this.#put(slot, other);
      slot = next;
    }
  }

  #open(tuple: number): Table {
    let id = 1;
    while (this.#byId[id] !== undefined) id++;
    const table = new Table(id, tuple);
    this.#byId[id] = table;
    this.#tables.push(table);
    return table;
  }

  #put(slot: number, table: Table): void {
    this.#tableOf[slot] = table.id;
    this.#previous[slot] = NONE;
    this.#next[slot] = table.first;
    if (table.first >= 0) this.#previous[table.first] = slot;
    table.first = slot;
    table.size++;
    this.#countLevels(slot, table, 1);
    table.note(this.#rows[slot * ROW_WORDS + PRIORITY]!);
    this.#link(slot, table);
  }

  #take(slot: number, table: Table): void {
    this.#unlink(slot, table);
    const next = this.#next[slot]!;
    const previous = this.#previous[slot]!;
    if (next >= 0) this.#previous[next] = previous;
    if (previous >= 0) this.#next[previous] = next;
    else table.first = next;
    table.size--;
    this.#countLevels(slot, table, -1);
    this.#tableOf[slot] = 0;
    if (table.size === 0) {
      this.#byId[table.id] = undefined;
      this.#tables.splice(this.#tables.indexOf(table), 1);
    } else if (this.#rows[slot * ROW_WORDS + PRIORITY] === table.highest && --table.atHighest === 0) {
      for (let other = table.first; other >= 0; other = this.#next[other]!) {
        table.note(this.#rows[other * ROW_WORDS + PRIORITY]!);
      }
    }
  }

  #countLevels(slot: number, table: Table, by: number): void {
    const own = this.#own[slot]!;
    for (let f = 0; f < FIELDS.length; f++) {
      const at = f * 32 + levelOf(own, FIELDS[f]!);
      table.levels[at] = table.levels[at]! + by;
    }
  }

  #hash(slot: number, table: Table): number {
    return keyHashes(this.#version, this.#rows, slot * ROW_WORDS, table.tuple, table.seed, this.#hashes);
  }

  #link(slot: number, table: Table): void {
    const count = this.#hash(slot, table);
    for (let i = 0; i < count; i++) this.chains.add(this.#hashes[i]!, slot, this.#rows[slot * ROW_WORDS + PRIORITY]!);
  }

  #unlink(slot: number, table: Table): void {
    const count = this.#hash(slot, table);
    for (let i = 0; i < count; i++) this.chains.remove(this.#hashes[i]!, slot);
  }

  /** Brings {@link order} up to date. */
  #describe(): void {
    const { order } = this;
    const lengths = keyLengths(this.#version);
    this.#tables.sort((a, b) => b.highest - a.highest || a.id - b.id);
    this.sourceLevels.length = 0;
    this.destinationLevels.length = 0;
    let word = 0;
    for (const table of this.#tables) {
      const source = levelOf(table.tuple, FIELDS[0]!);
      const destination = levelOf(table.tuple, FIELDS[1]!);
      order[word] = table.highest;
      order[word + 1] = this.#version === 4 ? prefixMask(lengths[source]!, 0) : source;
      order[word + 2] = this.#version === 4 ? prefixMask(lengths[destination]!, 0) : destination;
      order[word + 3] = portsMask(table.tuple);
      order[word + 4] = protocolMask(table.tuple);
      order[word + 5] = table.seed;
      order[word + 6] = table.tuple & (SOURCE_MAC_LEVEL | DESTINATION_MAC_LEVEL);
      word += TABLE_WORDS;
      if (!this.sourceLevels.includes(source)) this.sourceLevels.push(source);
      if (!this.destinationLevels.includes(destination)) this.destinationLevels.push(destination);
    }
    this.orderWords = word;
    if (word === 0) this.crowded = false;
  }
}
