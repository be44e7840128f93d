import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { kernelAvailable } from '../src/fast/kernel.js';

const BUILD = '../assembly/build.mjs';

it('is built from the source beside it', async () => {
  const { compile, render } = (await import(BUILD)) as {
    compile(): Promise<Uint8Array>;
    render(binary: Uint8Array): string;
  };
  const committed = readFileSync(new URL('../src/fast/decode.wasm.ts', import.meta.url), 'utf8');
  expect(render(await compile())).toBe(committed);
});

it('runs on this engine', () => {
  expect(kernelAvailable()).toBe(true);
});
