import { fileURLToPath } from 'node:url';
import { defineConfig } from 'tsup';

const source = (name: string): string => fileURLToPath(new URL(`../packages/${name}/src/index.ts`, import.meta.url));

/** Benchmarks are bundled with the sources of the packages, so that they measure the working tree. */
export default defineConfig({
  entry: ['src/*.ts'],
  format: ['esm'],
  target: 'es2022',
  platform: 'node',
  clean: true,
  noExternal: [/^@int\//],
  esbuildOptions(options) {
    options.alias = {
      '@int/codec': source('codec'),
      '@int/detect': source('detect'),
      '@int/hash': source('hash'),
      '@int/traffic': source('traffic'),
    };
  },
});
