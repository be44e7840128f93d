import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { LENGTH } from '../../../../.ci/test/length.js';
import { acceleratorAvailable } from '../../src/fast/accelerator.js';
import { withSharedMemory } from '../../src/fast/modules.js';
import { webAssembly } from '../../src/fast/webassembly.js';

const BUILD = '../../assembly/build.mjs';

interface Build {
  compile(): Promise<Uint8Array>;
  compileShared(): Promise<Uint8Array>;
  render(binary: Uint8Array): string;
  committed(): { readonly module: Uint8Array; readonly isCurrent: boolean };
}

it('is built from the source beside it', async () => {
  const { committed } = (await import(BUILD)) as Build;
  expect(committed().isCurrent, 'run npm run build:accelerator -w @int/codec').toBe(true);
});

it('differs in one byte for a shared memory', async () => {
  const { module } = ((await import(BUILD)) as Build).committed();
  const shared = withSharedMemory(module);
  expect(shared.filter((byte, at) => byte !== module[at])).toHaveLength(1);
  const { Instance, Memory, Module } = webAssembly()!;
  const withMemory = (isShared: boolean): unknown =>
    new Instance(new Module(shared), {
      env: { memory: new Memory({ initial: 1, maximum: 65_536, shared: isShared }) },
    });
  expect(withMemory(true)).toBeDefined();
  expect(() => withMemory(false)).toThrow('shared');
});

// Compiling takes seconds.
it.runIf(LENGTH > 1)('is what its source compiles to, also for a shared memory', async () => {
  const { compile, compileShared, render } = (await import(BUILD)) as Build;
  const module = await compile();
  expect(render(module)).toBe(readFileSync(new URL('../../src/fast/decode.wasm.ts', import.meta.url), 'utf8'));
  expect(Buffer.compare(withSharedMemory(module), await compileShared())).toBe(0);
});

it('runs on this engine', () => {
  expect(acceleratorAvailable()).toBe(true);
});
