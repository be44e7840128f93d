import { readFileSync } from 'node:fs';
import { withSharedMemory } from '@int/codec/internals';
import { beforeAll, describe, expect, it } from 'vitest';
import { LENGTH } from '../../../../../.ci/test/length.js';

const BUILD = '../../../assembly/build.mjs';

interface Build {
  compile(): Promise<Uint8Array>;
  compileShared(): Promise<Uint8Array>;
  render(binary: Uint8Array): string;
  committed(): { readonly module: Uint8Array; readonly isCurrent: boolean };
}

describe('the accelerator', () => {
  let build: Build;
  let module: Uint8Array;
  let isCurrent: boolean;

  beforeAll(async () => {
    build = (await import(BUILD)) as Build;
    ({ module, isCurrent } = build.committed());
  });

  it('is built from the source beside it', () => {
    expect(isCurrent, 'run npm run build:accelerator -w @int/flowcache').toBe(true);
  });

  // Compiling takes seconds.
  it.runIf(LENGTH > 1)('is what its source compiles to', async () => {
    const committed = readFileSync(new URL('../../../src/accelerator/cache.wasm.ts', import.meta.url), 'utf8');
    expect(committed === build.render(await build.compile()), 'run npm run build:accelerator -w @int/flowcache').toBe(
      true,
    );
  });

  it.runIf(LENGTH > 1)('becomes, for a shared memory, what its source compiles to for one', async () => {
    const shared = withSharedMemory(module);
    expect(Buffer.compare(shared, await build.compileShared())).toBe(0);
    expect(shared.filter((byte, at) => byte !== module[at])).toHaveLength(1);
  });

  it('cannot be made to share its memory a second time', () => {
    expect(() => withSharedMemory(withSharedMemory(module))).toThrow(/env\.memory/);
    expect(() => withSharedMemory(module.subarray(0, 8))).toThrow(/env\.memory/);
  });
});
