import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { afterAll, describe, expect, it } from 'vitest';
import { runs } from '../../../../../.ci/test/length.js';
import { inTime } from '../../../../../.ci/test/until.js';
import { DartReader, DartStore, fixedKeyRows } from '../../../src/index.js';
import { STATUS_NAMES } from '../../../src/store/rows.js';
import { bundle } from '../../bundle.js';
import { removeDirectories } from '../../node/support.js';
import type { WatcherData, WatcherReport } from '../../store/watcher.program.js';

const KEYS = 48;
const ROUNDS = runs(800);
/** The writer goes on until the reader has had its rounds and seen changes: on a busy machine that takes as long as it takes. */
const CHANGES = 100;
const WITHIN_MS = process.env.INT_LONG === '1' ? 600_000 : 40_000;

afterAll(removeDirectories);

/** Writes every slot as it is, as RDMA would. */
function rewrite(store: DartStore): void {
  const { slots, slotBytes } = store.geometry;
  const bytes = store.pieces[0]!.slice();
  for (let slot = 0; slot < slots; slot++) store.writeBytes(slot * slotBytes, bytes, slot * slotBytes, slotBytes);
}

describe.each(['plain', 'auto'] as const)('while another thread writes (engine %s)', (engine) => {
  // Longer values are longer in the writing.
  it.each([20, 400])('no answer is a mix of two writes of %i bytes', async (valueBytes) => {
    // As many slots as keys: keys take each other's slots, too.
    const store = new DartStore({ slots: KEYS, valueBytes, copies: 2, shared: true, engine });
    const keys = fixedKeyRows(
      Uint8Array.from({ length: KEYS }, (_, id) => id),
      1,
    );
    const values = new Uint8Array(KEYS * valueBytes);
    const words = new Uint32Array(values.buffer);
    const control = new Int32Array(new SharedArrayBuffer(16));
    const data: WatcherData = { places: store.share(), keys: KEYS, control };
    const worker = new Worker(await bundle(new URL('../../store/watcher.program.ts', import.meta.url)), {
      workerData: data,
    });
    const answer = once(worker, 'message') as Promise<[WatcherReport]>;
    try {
      const limit = performance.now() + WITHIN_MS;
      const isDone = (): boolean => Atomics.load(control, 1) >= ROUNDS && Atomics.load(control, 3) > CHANGES;
      for (let version = 0; !isDone() && performance.now() < limit; version++) {
        for (let id = 0; id < KEYS; id++) {
          words.fill((id << 24) | (version & 0xffffff), (id * valueBytes) / 4, ((id + 1) * valueBytes) / 4);
        }
        store.writeRows(keys, values);
        if (version % 16 === 0) rewrite(store);
        // A moment in which it can be read at leisure.
        if (version % 64 === 0) Atomics.wait(control, 2, 0, 0.2);
      }
    } finally {
      Atomics.store(control, 0, 1);
    }
    const [report] = await inTime('the report of the watcher', answer);
    expect(report.mixed).toEqual([]);
    expect(report.found).toBeGreaterThan(ROUNDS);
    expect(report.changed).toBeGreaterThan(CHANGES);
  });
});

describe('a reader', () => {
  it('says busy for a page whose writer stopped in the middle, and goes on when it is repaired', () => {
    const store = new DartStore({ slots: 64, shared: true });
    const reader = new DartReader(store.share());
    const key = Uint8Array.of(1);
    store.write(key, new Uint8Array(20).fill(7));
    store.segments[0]!.begin(0);
    expect(reader.query(key)).toEqual({ status: 'busy', value: null, matching: 0, agreeing: 0 });
    expect(STATUS_NAMES).toContain('busy');
    store.segments[0]!.repair();
    expect(reader.query(key).value).toEqual(new Uint8Array(20).fill(7));
  });

  it('knows the epoch and the writes, and refuses what is no store', () => {
    const store = new DartStore({ slots: 640, shared: true, hash: 'crc', segmentBytes: 8192 });
    store.clear(2n ** 40n);
    store.write(Uint8Array.of(1), new Uint8Array(20).fill(3));
    const places = store.share();
    expect(places.length).toBeGreaterThan(1);
    const reader = new DartReader(places);
    expect([reader.epoch, reader.keyWrites]).toEqual([2n ** 40n, 1]);
    expect(reader.hashes.parameters).toEqual(store.hashes.parameters);
    expect(reader.query(Uint8Array.of(1)).value).toEqual(new Uint8Array(20).fill(3));
    expect(() => new DartReader(places.slice(1))).toThrow(TypeError);
    expect(() => new DartReader([...places].reverse())).toThrow(TypeError);
    expect(() => new DartReader([{ buffer: new ArrayBuffer(4096), byteOffset: 0 }])).toThrow(TypeError);
    const newer = new DartStore({ slots: 64 });
    newer.segments[0]!.header[1] = 9;
    expect(() => new DartReader(newer.share())).toThrow(/layout 9/);
  });
});
