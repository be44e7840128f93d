import { FLAG, type TelemetryBatch } from '@int/codec';
import { isAny, type Match } from '../rules/model.js';
import { FlowCache } from './flow-cache.js';
import { lookupIpv4, lookupIpv6, PACKET_MAC_WORDS, readMacs } from './lookup.js';
import { IPV4, IPV6, MACS, overlap, PRIORITY, ROW_WORDS, TRAITS, writeRow } from './rows.js';
import { TABLE_WORDS, Tables } from './tables.js';

const NONE = -1;
const MOST_RULES = 1 << 20;
/** So many rules of one priority are compared one by one. */
const FEW_RULES = 16;

/** What a classifier's rules have become; see {@link Classifier.shape}. */
export interface ClassifierShape {
  /** Hash tables of IPv4 and of IPv6: a lookup of that version probes at most so many. */
  readonly tables: readonly [number, number];
  /** Entries in them. A rule has one, two or four for each IP version: more than one if a port range crosses a cell. */
  readonly entries: readonly [number, number];
  /** Entries in the longest hash chain: one probe looks at no more. */
  readonly longestChain: readonly [number, number];
}

/**
 * A watchlist: rules over the 5-tuple and the MAC addresses of packets, each with a priority. It finds the matching
 * rule of highest priority. Rules can be added and removed at any time.
 *
 * A lookup probes hash tables in the order of their highest priority, until no table left can hold a better rule. Each
 * IP version has at most 96 tables. Their number depends on how many kinds of rules there are (which fields, which
 * prefix lengths), and little on the number of rules. A probe meets the rules that share its key: about 8, as long as a
 * finer key tells them apart. No key does where rules overlap in all fields (wide port ranges and prefixes around one
 * point), and no finer one is made from 95 tables on; such rules are tried in descending priority. So the worst case,
 * which takes a set of rules made for it, is 96 probes and a look at every entry. Insertion among such rules is linear
 * in their number as well.
 *
 * With more than one table, the outcomes of the last few thousand flows are kept until rules change.
 */
export class Classifier {
  readonly #capacity: number;
  readonly #rows: Int32Array;
  readonly #used: Uint8Array;
  readonly #ipv4: Tables;
  readonly #ipv6: Tables;
  /** Rules of one priority, as a list through the slots. */
  readonly #firstOf: Map<number, number> = new Map();
  readonly #next: Int32Array;
  readonly #previous: Int32Array;
  /** Rules that match everything, highest priority first. */
  readonly #all: number[] = [];
  readonly #query: Int32Array = new Int32Array(ROW_WORDS);
  readonly #cache: FlowCache = new FlowCache();
  readonly #macs: Int32Array = new Int32Array(PACKET_MAC_WORDS);
  readonly #parts: Int32Array = new Int32Array(64);
  #size = 0;
  #withMacs = 0;

  /**
   * @param capacity the most rules it can hold; slots are 0 to `capacity - 1`
   * @throws RangeError if it is not a whole number from 1 to 2^20
   */
  constructor(capacity: number) {
    if (!(Number.isInteger(capacity) && capacity >= 1 && capacity <= MOST_RULES)) {
      throw new RangeError(`capacity ${capacity} is not a whole number from 1 to ${MOST_RULES}`);
    }
    this.#capacity = capacity;
    this.#rows = new Int32Array(capacity * ROW_WORDS);
    this.#used = new Uint8Array(capacity);
    this.#next = new Int32Array(capacity);
    this.#previous = new Int32Array(capacity);
    this.#ipv4 = new Tables(4, this.#rows);
    this.#ipv6 = new Tables(6, this.#rows);
  }

  /** Rules held. */
  get size(): number {
    return this.#size;
  }

  /** Whether a rule asks for a MAC address, so that {@link lookup} needs the packet's bytes. */
  get usesMac(): boolean {
    return this.#withMacs > 0;
  }

  /**
   * Bytes of the arrays: at construction 99 for each slot and 4 MiB for flows. With the rules grow, by doubling, 16 for
   * each entry and 4 for each hash bucket; they do not shrink. Not counted: a Map of the priorities in use, and an
   * object per table.
   */
  get byteLength(): number {
    const own = this.#rows.byteLength + this.#used.byteLength + this.#next.byteLength + this.#previous.byteLength;
    return own + this.#cache.byteLength + this.#ipv4.byteLength + this.#ipv6.byteLength;
  }

  /** The most that a lookup costs, in probes and looks. Walks all hash chains. */
  shape(): ClassifierShape {
    const both = [this.#ipv4, this.#ipv6] as const;
    return {
      tables: [both[0].tableCount, both[1].tableCount],
      entries: [both[0].chains.count, both[1].chains.count],
      longestChain: [both[0].chains.longest(), both[1].chains.longest()],
    };
  }

  /**
   * Adds a rule; the next lookup can find it. Ask {@link conflict} first.
   *
   * @param slot a free slot
   * @param priority higher wins; -2^31 to 2^31 - 1
   * @param match one with addresses of different IP versions is allowed, and matches nothing
   * @throws RangeError if the slot does not exist or is taken, or a number is out of its range; nothing changes then
   */
  insert(slot: number, priority: number, match: Match): void {
    this.#checkSlot(slot);
    if (this.#used[slot] !== 0) throw new RangeError(`slot ${slot} is taken`);
    writeRow(this.#rows, slot * ROW_WORDS, priority, match);
    this.#cache.clear();
    this.#used[slot] = 1;
    this.#size++;
    const traits = this.#rows[slot * ROW_WORDS + TRAITS]!;
    if ((traits & MACS) !== 0) this.#withMacs++;
    const first = this.#firstOf.get(priority | 0) ?? NONE;
    this.#next[slot] = first;
    this.#previous[slot] = NONE;
    if (first >= 0) this.#previous[first] = slot;
    this.#firstOf.set(priority | 0, slot);
    if (isAny(match)) this.#all.splice(this.#rank(priority), 0, slot);
    if ((traits & IPV4) !== 0) this.#ipv4.insert(slot);
    if ((traits & IPV6) !== 0) this.#ipv6.insert(slot);
  }

  /**
   * Removes a rule and frees its slot.
   *
   * @throws RangeError if the slot does not exist or is free
   */
  remove(slot: number): void {
    this.#checkSlot(slot);
    if (this.#used[slot] === 0) throw new RangeError(`slot ${slot} is free`);
    this.#cache.clear();
    const traits = this.#rows[slot * ROW_WORDS + TRAITS]!;
    if ((traits & IPV4) !== 0) this.#ipv4.remove(slot);
    if ((traits & IPV6) !== 0) this.#ipv6.remove(slot);
    const all = this.#all.indexOf(slot);
    if (all >= 0) this.#all.splice(all, 1);
    const next = this.#next[slot]!;
    const previous = this.#previous[slot]!;
    if (next >= 0) this.#previous[next] = previous;
    if (previous >= 0) this.#next[previous] = next;
    else if (next >= 0) this.#firstOf.set(this.#rows[slot * ROW_WORDS + PRIORITY]!, next);
    else this.#firstOf.delete(this.#rows[slot * ROW_WORDS + PRIORITY]!);
    if ((traits & MACS) !== 0) this.#withMacs--;
    this.#used[slot] = 0;
    this.#size--;
  }

  /**
   * Looks for a rule of equal priority that can match the same packet: chance would then decide the outcome. It
   * compares the rules of that priority that share a key with this one; in tables whose keys hold more than this rule
   * asks for, all.
   *
   * @param except a slot that does not count: the rule about to be replaced
   * @returns the slot of such a rule, or -1
   * @throws RangeError if a number is out of its range
   */
  conflict(priority: number, match: Match, except: number = NONE): number {
    const query = this.#query;
    writeRow(query, 0, priority, match);
    const first = this.#firstOf.get(priority | 0) ?? NONE;
    let slot = first;
    for (let i = 0; i < FEW_RULES && slot >= 0; i++) {
      if (slot !== except && overlap(query, 0, this.#rows, slot * ROW_WORDS)) return slot;
      slot = this.#next[slot]!;
    }
    if (slot < 0) return NONE;
    const traits = query[TRAITS]!;
    const ipv4 = (traits & IPV4) === 0 ? NONE : this.#ipv4.overlapping(query, except);
    return ipv4 >= 0 || (traits & IPV6) === 0 ? ipv4 : this.#ipv6.overlapping(query, except);
  }

  /**
   * Finds the rule of highest priority that matches the flow of a report. Of several of that priority, it is always the
   * same one until rules change. A report of unknown flow matches only rules that match everything. Allocates nothing.
   *
   * @param batch where the report is
   * @param row its row
   * @param bytes the input bytes, for rules with MAC addresses; `null`: unknown
   * @param ethernet offset in `bytes` of the monitored packet's Ethernet header (destination MAC first); -1: unknown.
   *   If it is unknown, or the addresses end beyond `bytes`, rules with MAC addresses match nothing
   * @returns the rule's slot, or -1
   */
  lookup(batch: TelemetryBatch, row: number, bytes: Uint8Array | null, ethernet: number): number {
    const flags = batch.flags[row]! | 0;
    if ((flags & FLAG.FLOW) === 0) return this.#all.length === 0 ? NONE : this.#all[0]!;
    const macs = this.#macs;
    if (this.#withMacs > 0) readMacs(macs, bytes, ethernet);
    const tables = (flags & FLAG.IPV6) === 0 ? this.#ipv4 : this.#ipv6;
    // Searching one table costs no more than looking into the cache.
    if (tables.orderWords <= TABLE_WORDS && !tables.crowded) return this.#search(tables, batch, row);
    const at = this.#cache.find(batch, row, macs);
    if (at >= 0) return this.#cache.outcome(at);
    const slot = this.#search(tables, batch, row);
    this.#cache.keep(at, slot);
    return slot;
  }

  #search(tables: Tables, batch: TelemetryBatch, row: number): number {
    return tables === this.#ipv4
      ? lookupIpv4(tables, this.#rows, batch, row, this.#macs)
      : lookupIpv6(tables, this.#rows, batch, row, this.#macs, this.#parts);
  }

  #checkSlot(slot: number): void {
    if (!(Number.isInteger(slot) && slot >= 0 && slot < this.#capacity)) {
      throw new RangeError(`slot ${slot} is not 0 to ${this.#capacity - 1}`);
    }
  }

  /** The place of a rule of this priority among those that match everything. */
  #rank(priority: number): number {
    let low = 0;
    let high = this.#all.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#rows[this.#all[middle]! * ROW_WORDS + PRIORITY]! >= priority) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
