import { readFileSync } from 'node:fs';
import { withSharedMemory } from '@int/codec';
import { beforeAll, describe, expect, it } from 'vitest';
import { LENGTH } from '../../../../.ci/test/length.js';

const BUILD = '../../assembly/build.mjs';

interface Build {
  compile(): Promise<Uint8Array>;
  compileShared(): Promise<Uint8Array>;
  render(binary: Uint8Array): string;
}

describe('the kernel', () => {
  let build: Build;
  let module: Uint8Array;

  beforeAll(async () => {
    build = (await import(BUILD)) as Build;
    module = await build.compile();
  }, 60_000);

  it('is what its source compiles to', () => {
    const committed = readFileSync(new URL('../../src/kernel/cache.wasm.ts', import.meta.url), 'utf8');
    expect(committed === build.render(module), 'run npm run build:kernel -w @int/flowcache').toBe(true);
  });

  // Compiling takes seconds; the test of @int/codec's kernel holds the same function to the same promise.
  it.runIf(LENGTH > 1)(
    'becomes, for a shared memory, what its source compiles to for one',
    async () => {
      const shared = withSharedMemory(module);
      expect(Buffer.compare(shared, await build.compileShared())).toBe(0);
      expect(shared.filter((byte, at) => byte !== module[at])).toHaveLength(1);
    },
    60_000,
  );

  it('cannot be made to share its memory a second time', () => {
    expect(() => withSharedMemory(withSharedMemory(module))).toThrow(/env\.memory/);
    expect(() => withSharedMemory(module.subarray(0, 8))).toThrow(/env\.memory/);
  });
});
