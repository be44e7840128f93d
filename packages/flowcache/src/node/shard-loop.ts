/** A worker's loop: it fills its cache from slots, and answers requests between them. */
import { receiveMessageOnPort } from 'node:worker_threads';
import { AcceleratorMemory, Arena, type TelemetryBatch } from '@int/codec';
import { SpscRing } from '@int/rings';
import { acceleratorBytes, flowAcceleratorAvailable } from '../accelerator/accelerator-engine.js';
import { FlowCache } from '../cache/flow-cache.js';
import { FlowIndex } from '../cache/flow-index.js';
import type { FlowCacheOptions } from '../cache/options.js';
import { Thresholds } from '../cache/thresholds.js';
import { Distributions } from '../distribution/distributions.js';
import { geometryOf, HEADER_WORDS } from '../layout.js';
import { Ageing } from './ageing.js';
import {
  type Answer,
  BELL,
  type EntryPage,
  type Request,
  type RequestName,
  type Requests,
  type ShardReady,
  type ShardSetup,
} from './protocol.js';
import { makeSlots, slotBytes } from './slot.js';
import { readSnapshotFile, writeSnapshotFile } from './snapshot-file.js';

/** Entries handed on between two looks at the ring of work. */
const STEP = 256;
/** The most rows looked at for one page of entries: a cache may be almost empty. */
const PAGE_ROWS = 1 << 14;
/** How long to wait for room in the ring of entries before looking at the ring of work again. */
const PATIENCE_MS = 1;
const LINE = 64;

/** A request to hand on all entries. It takes many steps; reports are looked at between them. */
interface Draining {
  readonly id: number;
  /** Entries handed on, and those still to go. */
  done: number;
  left: number;
}

export class ShardLoop {
  readonly #setup: ShardSetup;
  readonly #cache: FlowCache;
  readonly #slotsAt: number;
  readonly #slots: readonly TelemetryBatch[];
  readonly #work: SpscRing;
  readonly #free: SpscRing;
  readonly #entries: SpscRing;
  readonly #events: SpscRing;
  readonly #distributions: Distributions | null;
  readonly #ageing: Ageing | null;
  readonly #record = new Int32Array(1);
  readonly #drainings: Draining[] = [];
  #isStopped = false;

  constructor(setup: ShardSetup) {
    this.#setup = setup;
    const { slots, distributions, idleNs } = setup;
    this.#work = SpscRing.attach(setup.work);
    this.#free = SpscRing.attach(setup.free);
    this.#entries = SpscRing.attach(setup.entries);
    this.#events = SpscRing.attach(setup.events);
    const slotsBytes = slots.count * slotBytes(slots.capacity);
    const memory = memoryFor(setup, slotsBytes);
    const arena = memory?.arena ?? new Arena(new SharedArrayBuffer(slotsBytes));
    this.#slotsAt = arena.take(slotsBytes);
    this.#slots = makeSlots(slots.capacity, slots.count, arena.buffer, this.#slotsAt);
    this.#cache = this.#makeCache(memory);
    this.#distributions = distributions === null ? null : Distributions.attach(distributions);
    this.#ageing = idleNs === null ? null : new Ageing(this.#cache, idleNs);
  }

  /** Works until the shard is stopped. */
  run(): void {
    const { buffer, byteOffset, usesAccelerator } = this.#cache;
    const ready: ShardReady = {
      buffer: buffer as SharedArrayBuffer,
      byteOffset,
      slots: { buffer: this.#slots[0]!.buffer as SharedArrayBuffer, byteOffset: this.#slotsAt },
      usesAccelerator,
    };
    this.#answer({ id: 0, value: ready });
    const work = this.#work;
    const record = this.#record;
    while (!this.#isStopped) {
      const [draining] = this.#drainings;
      if (work.pop(record, 0, 1) === 1) {
        if (record[0] === BELL) this.#onRequest();
        else this.#onSlot(record[0]!);
      } else {
        if (draining === undefined) {
          // The main thread has closed the ring without a request: it is gone.
          if (work.wait() === 'closed') break;
          continue;
        }
      }
      // A request to stop ends the draining.
      if (draining !== undefined && !this.#isStopped) this.#drain(draining);
    }
    this.#entries.close();
    this.#events.close();
  }

  #makeCache(memory: AcceleratorMemory | undefined): FlowCache {
    const { cache, restore, thresholds, shard } = this.#setup;
    const { accelerator, ...dimensions } = cache;
    const options: FlowCacheOptions = {
      shared: true,
      accelerator,
      ...(memory === undefined ? {} : { memory }),
      thresholds: new Thresholds(cache.metrics, {}, thresholds),
      entries: this.#entries,
      events: this.#events,
    };
    if (restore === null) return new FlowCache({ ...options, ...dimensions });
    const restored = readSnapshotFile(restore, options);
    const { geometry, hash, seed } = restored;
    for (const [name, is, was] of [
      ['layout', cache.layout, geometry.layout],
      ['rows', cache.rows, geometry.rows],
      ['buckets', cache.buckets, geometry.buckets],
      ['hops', cache.hops, geometry.hops],
      ['metrics', cache.metrics.join(), geometry.metrics.join()],
      ['hash', cache.hash, hash],
      ['seed', cache.seed, seed],
    ]) {
      if (is !== was) throw new RangeError(`the snapshot of shard ${shard} has ${name} ${was}, not ${is}`);
    }
    return restored;
  }

  #onSlot(index: number): void {
    const batch = this.#slots[index]!;
    this.#cache.update(batch);
    this.#distributions?.record(batch);
    this.#ageing?.after(batch);
    this.#record[0] = index;
    this.#free.push(this.#record, 0, 1);
  }

  #onRequest(): void {
    const received = receiveMessageOnPort(this.#setup.port) as { message: Request } | undefined;
    if (received === undefined) throw new Error('a bell without a request');
    const request = received.message;
    try {
      this.#serve(request);
    } catch (error) {
      this.#answer({ id: request.id, error, isStopped: false });
    }
  }

  #serve(request: Request): void {
    const cache = this.#cache;
    const { id } = request;
    switch (request.name) {
      case 'totals':
        this.#reply<'totals'>(id, cache.words.slice(0, HEADER_WORDS));
        break;
      case 'get':
        this.#reply<'get'>(id, cache.get(request.flow));
        break;
      case 'entries':
        this.#replyEntries(id, request.row, request.most);
        break;
      case 'drain':
        this.#drainings.push({ id, done: 0, left: cache.size });
        break;
      case 'age':
        this.#reply<'age'>(id, cache.age(request.nowNs, request.idleNs, request.maxRows));
        break;
      case 'snapshot':
        this.#reply<'snapshot'>(id, writeSnapshotFile(cache, request.file));
        break;
      case 'distributions': {
        const copy = Uint8Array.from(new Uint8Array(this.#setup.distributions!));
        this.#reply<'distributions'>(id, copy.buffer, [copy.buffer]);
        break;
      }
      case 'stop':
        this.#stop(id);
    }
  }

  #reply<K extends RequestName>(id: number, value: Requests[K]['answer'], transfer: ArrayBuffer[] = []): void {
    this.#answer({ id, value }, transfer);
  }

  #answer(answer: Answer, transfer: ArrayBuffer[] = []): void {
    this.#setup.port.postMessage(answer, transfer);
  }

  #replyEntries(id: number, from: number, most: number): void {
    const { words, geometry } = this.#cache;
    const { rows, buckets, bucketStride } = geometry;
    const index = new FlowIndex(words, geometry);
    const page = new Int32Array((most + buckets) * bucketStride);
    let records = 0;
    const end = Math.min(rows, from + PAGE_ROWS);
    let row = from;
    for (; row < end && records < most; row++) {
      for (const { at } of index.flows(row, row + 1)) {
        page.set(words.subarray(at, at + bucketStride), records * bucketStride);
        records++;
      }
    }
    const value: EntryPage = { words: page, records, next: row < rows ? row : -1 };
    this.#reply<'entries'>(id, value, [page.buffer]);
  }

  #drain(draining: Draining): void {
    const wanted = Math.min(STEP, draining.left);
    const drained = this.#cache.drain(wanted);
    draining.done += drained;
    draining.left = Math.min(draining.left - drained, this.#cache.size);
    if (draining.left === 0) {
      this.#drainings.shift();
      this.#reply<'drain'>(draining.id, draining.done);
    } else if (drained < wanted && this.#work.length === 0) {
      // Nobody reads the entries. There are two rings, and a thread can wait at one only.
      if (this.#entries.waitForRoom(1, PATIENCE_MS) === 'closed') this.#abandon(draining);
    }
  }

  /** The reader of the entries has closed their ring. */
  #abandon({ id, done }: Draining): void {
    this.#drainings.shift();
    const error = new Error(`the ring of entries was closed by its reader, after ${done} entries`);
    this.#answer({ id, error, isStopped: false });
  }

  #stop(id: number): void {
    for (const draining of this.#drainings) this.#answer({ id: draining.id, error: null, isStopped: true });
    this.#drainings.length = 0;
    this.#reply<'stop'>(id, this.#cache.words.slice(0, HEADER_WORDS));
    this.#isStopped = true;
  }
}

/**
 * If there is an accelerator, a memory for cache and slots: reports are then read where the main thread has put them.
 */
function memoryFor({ cache }: ShardSetup, slotsBytes: number): AcceleratorMemory | undefined {
  if (!cache.accelerator || !flowAcceleratorAvailable()) return undefined;
  try {
    return new AcceleratorMemory(acceleratorBytes(geometryOf(cache)) + slotsBytes + LINE, true);
  } catch (error) {
    // Too much for the 4 GiB of an accelerator, or for the address space: do without.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
