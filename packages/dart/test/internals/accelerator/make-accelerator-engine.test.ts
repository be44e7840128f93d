import { Arena } from '@int/codec';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { AcceleratorEngine, storeAcceleratorAvailable } from '../../../src/accelerator/accelerator-engine.js';
import { makeAcceleratorEngine } from '../../../src/accelerator/make-accelerator-engine.js';
import { geometryOf } from '../../../src/layout.js';
import { DartStore } from '../../../src/store/dart-store.js';
import { hashParameters } from '../../../src/store/hashes.js';
import { hostOf } from './engines.js';

const PARAMETERS = hashParameters('crc');
const geometry = geometryOf(1000, 20, 32, 2, 2 ** 20);

afterEach(() => {
  vi.unstubAllGlobals();
});

describe('makeAcceleratorEngine', () => {
  it('puts the segment where a cache line begins, in a memory that is shared if asked for', () => {
    for (const isShared of [false, true]) {
      const engine = makeAcceleratorEngine(geometry, PARAMETERS, isShared)!;
      const { place } = engine;
      expect(place.buffer instanceof SharedArrayBuffer).toBe(isShared);
      expect(place.byteOffset % 64).toBe(0);
    }
  });

  it('takes no more of a memory than it says', () => {
    for (const [valueBytes, copies] of [
      [20, 2],
      [1, 1],
      [1024, 8],
    ] as const) {
      const each = geometryOf(77, valueBytes, 32, copies, 2 ** 20);
      const { arena, buffer, instantiate } = partOf(AcceleratorEngine.byteLength(each));
      const before = arena.position;
      const engine = new AcceleratorEngine({ arena, buffer, instantiate }, each, PARAMETERS, false);
      expect(engine.place.byteOffset).toBeGreaterThan(before);
      expect(arena.position - before).toBeLessThanOrEqual(AcceleratorEngine.byteLength(each));
    }
  });

  it('has none for a store of several segments, or one that does not fit beside it', () => {
    const tooMany = geometryOf(100_000, 20, 32, 2, 2 ** 20);
    const tooLarge = geometryOf(4_194_048, 1020, 32, 2, 2 ** 32);
    expect([tooMany, tooLarge].map(({ segments }) => segments.length > 1)).toEqual([true, false]);
    // Not by `toBeNull`: a failure would print a memory.
    for (const each of [tooMany, tooLarge]) expect(makeAcceleratorEngine(each, PARAMETERS, false) === null).toBe(true);
  });

  it('lets a store answer from rows in its own memory', () => {
    const store = new DartStore({ slots: 1000 });
    expect(store.usesAccelerator).toBe(true);
    const { keys, values, answers } = store.accelerator!.rows(10, 130);
    for (let row = 0; row < 10; row++) {
      keys.offsets[row] = row * 13;
      keys.lengths[row] = 13;
      keys.bytes[row * 13] = row;
      values[row * 20] = row + 100;
    }
    store.writeRows(keys, values);
    store.queryRows(keys, answers);
    expect([...answers.status]).toEqual(new Array<number>(10).fill(0));
    expect(answers.values[9 * 20]).toBe(109);
    expect(store.query(keys.bytes.slice(39, 52)).value?.[0]).toBe(103);
  });
});

describe('without WebAssembly', () => {
  it('there is no accelerator, and a store does without', () => {
    vi.stubGlobal('WebAssembly', undefined);
    expect(storeAcceleratorAvailable()).toBe(false);
    expect(makeAcceleratorEngine(geometry, PARAMETERS, false)).toBeNull();
    const store = new DartStore({ slots: 1000 });
    expect(store.usesAccelerator).toBe(false);
    expect(store.accelerator).toBeNull();
    store.write(new Uint8Array(13), new Uint8Array(20).fill(7));
    expect(store.query(new Uint8Array(13)).value?.[0]).toBe(7);
  });
});

/** A part of a memory, zeroed. */
function partOf(bytes: number): ConstructorParameters<typeof AcceleratorEngine>[0] {
  const host = hostOf('own');
  new Uint8Array(host.buffer, 64, bytes).fill(0);
  return {
    buffer: host.buffer,
    arena: new Arena(host.buffer, 64, bytes),
    instantiate: (text) => host.instantiate(text),
  };
}
