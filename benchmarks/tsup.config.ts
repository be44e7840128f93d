import { readdirSync } from 'node:fs';
import { defineConfig } from 'tsup';

const programs = readdirSync(new URL('src/', import.meta.url)).filter((file) => file.endsWith('.ts'));

/** Benchmarks are bundled with the sources of the packages, where tsconfig.base.json finds them: they measure the working tree. */
export default defineConfig({
  entry: {
    ...Object.fromEntries(programs.map((file) => [file.slice(0, -3), `src/${file}`])),
    // What a program that is a bundle has to bring along for a sharded cache.
    'flowcache-shard': '../packages/flowcache/src/node/shard-worker.ts',
    // The same for a dashboard.
    'dashboard-thread': '../packages/dashboard/src/thread/dashboard-thread.ts',
    // The same for a page of metrics.
    'metrics-page-thread': '../packages/metrics/src/page/page-thread.ts',
  },
  format: ['esm'],
  target: 'es2022',
  platform: 'node',
  clean: true,
  // The harness runs as it is.
  noExternal: [/^@int\/(?!harness$)/],
  // CommonJS inside, or native.
  external: [
    '@int/harness',
    '@duckdb/node-api',
    '@duckdb/node-bindings',
    '@platformatic/kafka',
    'graphology',
    'playwright-core',
    'prom-client',
    'ws',
    'yaml',
  ],
});
