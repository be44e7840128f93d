import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { kernelAvailable } from '../src/fast/kernel.js';
import { withSharedMemory } from '../src/fast/modules.js';

const BUILD = '../assembly/build.mjs';

it('is built from the source beside it', async () => {
  const { compile, compileShared, render } = (await import(BUILD)) as {
    compile(): Promise<Uint8Array>;
    compileShared(): Promise<Uint8Array>;
    render(binary: Uint8Array): string;
  };
  const committed = readFileSync(new URL('../src/fast/decode.wasm.ts', import.meta.url), 'utf8');
  const module = await compile();
  expect(render(module)).toBe(committed);
  // What it becomes for a shared memory is what its source compiles to for one.
  expect(Buffer.compare(withSharedMemory(module), await compileShared())).toBe(0);
});

it('runs on this engine', () => {
  expect(kernelAvailable()).toBe(true);
});
