import { EntryReader, type FlowCache, type FlowEntry, type Reason } from '@int/flowcache';
import { HEADER_WORDS } from '@int/flowcache/internals';
import { expect } from 'vitest';

/**
 * Checks a cache's counters against each other and against the entries it holds.
 * @param restoredEntries entries that it began with
 */
export function checkAccounts(cache: FlowCache, restoredEntries = 0): void {
  const entries = [...cache];
  const totals = cache.totals();
  const livePackets = entries.reduce((sum, { packets }) => sum + packets, 0);
  const {
    evictedPackets,
    agedPackets,
    retiredPackets,
    removedPackets,
    lostPackets,
    evictedEntries,
    agedEntries,
    retiredEntries,
    removedEntries,
    lostEntries,
    notOk,
    noFlow,
    unsupportedIpv6,
  } = totals;
  const handedOn = evictedPackets + agedPackets + retiredPackets + removedPackets;
  const refused = notOk + noFlow + unsupportedIpv6;
  expect(totals.offered + totals.restoredPackets).toBe(livePackets + handedOn + lostPackets + refused);
  expect(totals.offered).toBe(totals.hits + totals.inserted + refused);
  const gone = evictedEntries + agedEntries + retiredEntries + removedEntries + lostEntries;
  expect(totals.inserted + restoredEntries).toBe(totals.live + gone);
  expect(entries.length).toBe(totals.live);
  expect(cache.size).toBe(totals.live);
  expect(cache.livePackets()).toBe(livePackets);
  expect(entries.every(({ reason, packets }) => reason === 'live' && packets > 0)).toBe(true);
}

/** Checks that two caches hold the same to the last bit: rows and buckets, not counters. */
export function checkSameFlows(cache: FlowCache, other: FlowCache): void {
  const bytes = ({ words }: FlowCache): Buffer =>
    Buffer.from(words.buffer, words.byteOffset + HEADER_WORDS * 4, (words.length - HEADER_WORDS) * 4);
  expect(bytes(cache).equals(bytes(other))).toBe(true);
}

/** Entries and packets that were handed on, by reason. */
export class HandedOn {
  readonly entries: Record<Reason, number> = { live: 0, evicted: 0, aged: 0, retired: 0, removed: 0 };
  readonly packets: Record<Reason, number> = { live: 0, evicted: 0, aged: 0, retired: 0, removed: 0 };
  readonly #reader: EntryReader;

  constructor(cache: FlowCache) {
    this.#reader = new EntryReader(cache.geometry);
  }

  add(records: readonly Int32Array[]): void {
    for (const record of records) this.addEntry(this.#reader.read(record, 0));
  }

  addEntry({ reason, packets }: FlowEntry): void {
    this.entries[reason]++;
    this.packets[reason] += packets;
  }

  /** Checks that the cache has counted these, and no others. */
  check(cache: FlowCache): void {
    const { live, evicted, aged, retired, removed } = this.entries;
    expect(live).toBe(0);
    expect(cache.totals()).toMatchObject({
      evictedEntries: evicted,
      evictedPackets: this.packets.evicted,
      agedEntries: aged,
      agedPackets: this.packets.aged,
      retiredEntries: retired,
      retiredPackets: this.packets.retired,
      removedEntries: removed,
      removedPackets: this.packets.removed,
    });
  }
}
