import { afterEach, describe, expect, it, vi } from 'vitest';
import { AcceleratorReport2 } from '../../src/fast/accelerator.js';
import { decodeBase64 } from '../../src/fast/base64.js';
import { DECODE_WASM } from '../../src/fast/decode.wasm.js';
import { AcceleratorMemory } from '../../src/fast/memory.js';
import { canRunAccelerator, withSharedMemory } from '../../src/fast/modules.js';
import { marks } from './fast-oracle.js';

afterEach(() => {
  vi.unstubAllGlobals();
});

/** A module that imports `env.memory` with a maximum of 65,536 pages and exports nothing. */
const BOUNDED = Buffer.from('0061736d010000000212' + '0103656e76066d656d6f7279020101808004', 'hex').toString('base64');

/** The same without a maximum. */
const UNBOUNDED = Buffer.from('0061736d01000000020f' + '0103656e76066d656d6f7279020001', 'hex').toString('base64');

const large = (): AcceleratorMemory => new AcceleratorMemory(2 ** 32);

describe('AcceleratorMemory', () => {
  it('is shared if asked for, and has the bytes asked for', () => {
    for (const isShared of [false, true]) {
      const memory = new AcceleratorMemory(70_000, isShared);
      expect(memory.isShared).toBe(isShared);
      expect(memory.buffer instanceof SharedArrayBuffer).toBe(isShared);
      expect(memory.buffer.byteLength).toBe(131_072);
      expect(memory.bytes(10).buffer).toBe(memory.buffer);
      expect(memory.instantiate(BOUNDED)).toEqual({});
    }
  });

  it('has up to 4 GiB, for modules that import a memory with a maximum', () => {
    const memory = large();
    expect(memory.buffer.byteLength).toBe(2 ** 32);
    expect(memory.instantiate(BOUNDED)).toEqual({});
    expect(() => memory.instantiate(UNBOUNDED)).toThrow(/more than 2 GiB/);
    expect(() => new AcceleratorMemory(1 << 20, true).instantiate(UNBOUNDED)).toThrow(/env\.memory/);
    expect(new AcceleratorMemory(1 << 20).instantiate(UNBOUNDED)).toEqual({});
  });

  it('has room for the decoder of reports, whatever its kind', () => {
    for (const memory of [large(), new AcceleratorMemory(1 << 20, true), new AcceleratorMemory(1 << 20)]) {
      expect(new AcceleratorReport2(memory, marks({}), 2048).memory).toBe(memory);
    }
  });

  it('says which modules the engine can run', () => {
    expect(canRunAccelerator(BOUNDED)).toBe(true);
    expect(canRunAccelerator(DECODE_WASM)).toBe(true);
    expect(canRunAccelerator(BOUNDED.slice(0, 12))).toBe(false);
  });

  it('refuses lengths that are none', () => {
    for (const length of [0, -1, Number.NaN, 2 ** 32 + 1]) {
      expect(() => new AcceleratorMemory(length)).toThrow(RangeError);
    }
  });
});

describe('withSharedMemory', () => {
  it('changes one bit of a module that imports a memory with a maximum', () => {
    const module = decodeBase64(BOUNDED);
    const shared = withSharedMemory(module);
    const changed = [...shared.keys()].filter((at) => shared[at] !== module[at]);
    expect(changed.map((at) => shared[at]! ^ module[at]!)).toEqual([2]);
  });

  it('refuses others, and those that share already', () => {
    const module = decodeBase64(BOUNDED);
    for (const other of [decodeBase64(UNBOUNDED), module.subarray(0, 8), withSharedMemory(module)]) {
      expect(() => withSharedMemory(other)).toThrow(/env\.memory/);
    }
  });
});

describe('without WebAssembly', () => {
  it('there is no memory for an accelerator, and none runs', () => {
    vi.stubGlobal('WebAssembly', undefined);
    expect(() => new AcceleratorMemory(1)).toThrow(/WebAssembly/);
    expect(canRunAccelerator(DECODE_WASM)).toBe(false);
  });
});
