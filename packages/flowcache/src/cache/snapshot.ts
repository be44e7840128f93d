/**
 * A cache as a sequence of bytes.
 *
 * | Bytes | |
 * |---|---|
 * | 8 | "INTFLOWS" |
 * | 512 | the header of the cache as in layout.ts, without its counters |
 * | 4 | CRC-32 of the bytes before |
 * | per row with entries: 8 | number of the row, entries that follow |
 * | per entry: 8 + 4 x `bucketStride` | bucket, rank << 16; tag; the words of the bucket |
 * | 8 | all ones, 0: the end |
 * | 4 | CRC-32 of all bytes before |
 *
 * All numbers are 32-bit words, little-endian. Rows come in ascending order, entries of a row by bucket.
 */
import { crc32 } from '@int/hash';
import { COUNTER_WORDS, EMPTY_RANK, fieldsOf, HEADER, HEADER_WORDS, META } from '../layout.js';
import { FlowCacheError } from './errors.js';
import { FlowCache } from './flow-cache.js';
import { FlowIndex, FlowKey } from './flow-index.js';
import type { FlowCacheOptions } from './options.js';
import { rankOf, setRank } from './ranks.js';
import { readHeader } from './reader.js';
import { count } from './region.js';

const MARK = /* @__PURE__ */ Uint8Array.from('INTFLOWS', (letter) => letter.charCodeAt(0));
const HEADER_BYTES: number = 8 + HEADER_WORDS * 4 + 4;
const END = -1;
const CHUNK_BYTES = 1 << 20;

/**
 * Writes a cache as it is: it must not be updated until the last chunk is taken.
 * @returns chunks of about 1 MiB, for the receiver to keep
 */
export function* writeSnapshot(cache: FlowCache): Generator<Uint8Array, void, undefined> {
  const { geometry, words } = cache;
  const { rows, buckets, bucketStride } = geometry;
  const index = new FlowIndex(words, geometry);
  const entryWords = 2 + bucketStride;
  const chunkWords = Math.max(CHUNK_BYTES / 4, 2 + buckets * entryWords, 3 + HEADER_WORDS);
  let chunk = new Int32Array(chunkWords);
  let crc = 0;
  let used = 0;
  // A new chunk each time: streams ask for the next one while they write the last.
  const flush = (): Uint8Array => {
    const filled = new Uint8Array(chunk.buffer, 0, used * 4);
    crc = crc32(filled, 0, filled.length, crc);
    chunk = new Int32Array(chunkWords);
    used = 0;
    return filled;
  };
  const bytes = new Uint8Array(chunk.buffer);
  bytes.set(MARK);
  chunk.set(words.subarray(0, COUNTER_WORDS), 2);
  chunk[2 + HEADER.GENERATION] = 0;
  chunk[2 + HEADER.READERS] = 0;
  used = 2 + HEADER_WORDS;
  chunk[used] = crc32(bytes, 0, used * 4);
  used++;
  for (let row = 0; row < rows; row++) {
    const held = [...index.flows(row, row + 1)];
    if (held.length === 0) continue;
    if (used + 2 + held.length * entryWords > chunk.length) yield flush();
    chunk[used++] = row;
    chunk[used++] = held.length;
    const tags = index.rowAt(row);
    for (const { bucket, at } of held) {
      chunk[used++] = bucket | (rankOf(words, tags + buckets, bucket) << 16);
      chunk[used++] = words[tags + bucket]!;
      chunk.set(words.subarray(at, at + bucketStride), used);
      used += bucketStride;
    }
  }
  if (used + 2 > chunk.length) yield flush();
  chunk[used++] = END;
  chunk[used++] = 0;
  yield flush();
  yield new Uint8Array(Int32Array.of(crc).buffer);
}

/** What a snapshot does not hold: where the cache is to be, and whom it serves. */
export type RestoreOptions = Pick<
  FlowCacheOptions,
  'shared' | 'accelerator' | 'memory' | 'thresholds' | 'entries' | 'events' | 'comparison'
>;

/**
 * Makes a cache of a snapshot, from chunks as they come. The cache has the entries of the old one, in the same places and
 * the same order, and goes on as the old one would have. Its counters start at 0, except `live` and `restoredPackets`.
 *
 * @example
 * const reader = new SnapshotReader();
 * for await (const chunk of createReadStream('flows.snapshot')) reader.push(chunk);
 * const cache = reader.end();
 */
export class SnapshotReader {
  readonly #options: RestoreOptions;
  /** Bytes that do not make a whole piece yet. */
  #rest = new Uint8Array(CHUNK_BYTES);
  #restLength = 0;
  /** Bytes read as pieces. */
  #offset = 0;
  #crc = 0;
  #cache: FlowCache | null = null;
  /** Of the cache. */
  #index!: FlowIndex;
  readonly #key = new FlowKey();
  #lastRow = -1;
  #isAtEnd = false;
  #isChecked = false;
  #failure: FlowCacheError | null = null;

  constructor(options: RestoreOptions = {}) {
    this.#options = options;
  }

  /**
   * Takes the next bytes.
   * @throws FlowCacheError if they cannot be those of a snapshot; every further call throws it again
   */
  push(bytes: Uint8Array): void {
    if (this.#failure !== null) throw this.#failure;
    if (this.#restLength + bytes.length > this.#rest.length) {
      const larger = new Uint8Array(2 * (this.#restLength + bytes.length));
      larger.set(this.#rest.subarray(0, this.#restLength));
      this.#rest = larger;
    }
    this.#rest.set(bytes, this.#restLength);
    this.#restLength += bytes.length;
    let at = 0;
    for (;;) {
      const piece = this.#rest.subarray(at, this.#restLength);
      const taken = this.#take(new DataView(piece.buffer, piece.byteOffset, piece.byteLength));
      if (taken === 0) break;
      if (!this.#isChecked) this.#crc = crc32(piece, 0, taken, this.#crc);
      at += taken;
      this.#offset += taken;
    }
    if (at === 0) return;
    this.#rest.copyWithin(0, at, this.#restLength);
    this.#restLength -= at;
  }

  /**
   * Ends reading.
   * @returns the cache
   * @throws FlowCacheError `ERR_SNAPSHOT_TRUNCATED` if bytes are missing; what {@link push} has thrown
   */
  end(): FlowCache {
    if (this.#failure !== null) throw this.#failure;
    if (!this.#isChecked || this.#cache === null) {
      throw new FlowCacheError(
        'ERR_SNAPSHOT_TRUNCATED',
        'the snapshot ends too early',
        this.#offset + this.#restLength,
      );
    }
    return this.#cache;
  }

  /** Takes a whole piece from the start of `view`. @returns its bytes, or 0 if it is not all there */
  #take(view: DataView): number {
    if (this.#isChecked) {
      if (view.byteLength > 0) this.#fail('ERR_SNAPSHOT_TRAILING', 'the snapshot goes on behind its end');
      return 0;
    }
    if (this.#cache === null) return this.#takeHeader(view);
    if (this.#isAtEnd) return this.#takeChecksum(view);
    if (view.byteLength < 8) return 0;
    const row = view.getUint32(0, true);
    const held = view.getUint32(4, true);
    if (row === END >>> 0) {
      if (held !== 0) this.#fail('ERR_SNAPSHOT_ENTRY', 'the end is damaged');
      this.#isAtEnd = true;
      return 8;
    }
    const { rows, buckets, bucketStride } = this.#index.geometry;
    if (row >= rows || row <= this.#lastRow) this.#fail('ERR_SNAPSHOT_ENTRY', `there is no row ${row} here`);
    if (held < 1 || held > buckets) this.#fail('ERR_SNAPSHOT_ENTRY', `a row of ${buckets} has no ${held} entries`);
    const entryBytes = 8 + 4 * bucketStride;
    if (view.byteLength < 8 + held * entryBytes) return 0;
    this.#lastRow = row;
    for (let entry = 0; entry < held; entry++) {
      this.#takeEntry(view, 8 + entry * entryBytes, row, held);
    }
    this.#checkRanks(row, held);
    return 8 + held * entryBytes;
  }

  #takeHeader(view: DataView): number {
    for (let at = 0; at < Math.min(MARK.length, view.byteLength); at++) {
      if (view.getUint8(at) !== MARK[at]) this.#fail('ERR_FLOW_CACHE_HEADER', 'this is no snapshot of a flow cache');
    }
    if (view.byteLength < HEADER_BYTES) return 0;
    // Before anything is allocated for it.
    if (view.getUint32(HEADER_BYTES - 4, true) !== crc32(this.#rest, view.byteOffset, HEADER_BYTES - 4)) {
      this.#fail('ERR_SNAPSHOT_CHECKSUM', 'the checksum of the header is wrong', HEADER_BYTES - 4);
    }
    const words = new Int32Array(HEADER_WORDS);
    for (let word = 0; word < HEADER_WORDS; word++) words[word] = view.getInt32(MARK.length + word * 4, true);
    const { geometry, hash, seed } = readHeader(words);
    const { rows, buckets, hops, metrics, layout } = geometry;
    if (words[HEADER.SWEEP_ROW]! >>> 0 >= rows) this.#fail('ERR_FLOW_CACHE_HEADER', 'the header is damaged');
    const dimensions = { rows, buckets, hops, metrics, layout, hash, seed };
    this.#cache = new FlowCache({ ...this.#options, ...dimensions });
    this.#cache.words[HEADER.SWEEP_ROW] = words[HEADER.SWEEP_ROW]!;
    this.#index = new FlowIndex(this.#cache.words, geometry);
    return HEADER_BYTES;
  }

  #takeEntry(view: DataView, at: number, row: number, held: number): void {
    const { geometry, hash, seed, words } = this.#cache!;
    const index = this.#index;
    const { buckets, bucketStride } = geometry;
    const place = view.getUint32(at, true);
    const bucket = place & 0xffff;
    const rank = place >>> 16;
    const tags = index.rowAt(row);
    if (bucket >= buckets || words[tags + bucket] !== 0 || rank >= held) {
      this.#fail('ERR_SNAPSHOT_ENTRY', 'an entry has no place', at);
    }
    const to = index.bucketAt(row, bucket);
    for (let word = 0; word < bucketStride; word++) words[to + word] = view.getInt32(at + 8 + 4 * word, true);
    this.#key.copy(words, to, geometry.layout);
    const flowHash = this.#key.hash(hash, seed);
    const tag = FlowIndex.tag(flowHash);
    if (flowHash % geometry.rows !== row || view.getInt32(at + 4, true) !== tag || !this.#isLive(to)) {
      this.#fail('ERR_SNAPSHOT_ENTRY', 'an entry is not that of its flow', at);
    }
    if (index.find(row, tag, this.#key) >= 0) this.#fail('ERR_SNAPSHOT_ENTRY', 'a flow has two entries', at);
    words[tags + bucket] = tag;
    setRank(words, tags + buckets, bucket, rank);
    count(words, 'live', 1);
    count(words, 'restoredPackets', words[to + fieldsOf(geometry.layout).PACKETS]! >>> 0);
  }

  /** Whether a bucket holds what a bucket of a cache can hold, as far as finding its flow and reading it goes. */
  #isLive(at: number): boolean {
    const { geometry, words } = this.#cache!;
    const fields = fieldsOf(geometry.layout);
    const meta = words[at + fields.META]!;
    const seen = (meta >>> META.SEEN_SHIFT) & META.SEEN_MASK;
    if (seen > geometry.hops || meta >>> META.REASON_SHIFT !== 0 || words[at + fields.PACKETS] === 0) return false;
    if (geometry.layout === 'compact') return (meta & META.IPV6) === 0;
    if ((meta & META.IPV6) !== 0) return true;
    const { SOURCE, DESTINATION } = fields;
    for (let word = 1; word < 4; word++) {
      if (words[at + SOURCE + word] !== 0 || words[at + DESTINATION + word] !== 0) return false;
    }
    return true;
  }

  /** The ranks of a row are 0 to `held - 1`, each once. */
  #checkRanks(row: number, held: number): void {
    const { buckets } = this.#index.geometry;
    const taken = new Set<number>();
    for (let bucket = 0; bucket < buckets; bucket++) {
      const rank = rankOf(this.#index.words, this.#index.rowAt(row) + buckets, bucket);
      if (rank !== EMPTY_RANK) taken.add(rank);
    }
    if (taken.size !== held) this.#fail('ERR_SNAPSHOT_ENTRY', 'the order of a row is damaged');
  }

  #takeChecksum(view: DataView): number {
    if (view.byteLength < 4) return 0;
    if (view.getUint32(0, true) !== this.#crc >>> 0) {
      this.#fail('ERR_SNAPSHOT_CHECKSUM', 'the checksum is wrong: the snapshot is damaged');
    }
    this.#isChecked = true;
    return 4;
  }

  #fail(code: FlowCacheError['code'], message: string, at = 0): never {
    this.#failure = new FlowCacheError(code, message, this.#offset + at);
    throw this.#failure;
  }
}
