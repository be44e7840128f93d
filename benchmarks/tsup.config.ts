import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'tsup';

const source = (name: string, file = 'index.ts'): string =>
  fileURLToPath(new URL(`../packages/${name}/src/${file}`, import.meta.url));

const native = (file: string): string => fileURLToPath(new URL(`../native-afxdp/src/${file}`, import.meta.url));

const programs = readdirSync(new URL('src/', import.meta.url)).filter((file) => file.endsWith('.ts'));

/** Benchmarks are bundled with the sources of the packages, so that they measure the working tree. */
export default defineConfig({
  entry: {
    ...Object.fromEntries(programs.map((file) => [file.slice(0, -3), `src/${file}`])),
    // What a program that is a bundle has to bring along for a sharded cache.
    'flowcache-shard': source('flowcache', 'node/shard-worker.ts'),
  },
  format: ['esm'],
  target: 'es2022',
  platform: 'node',
  clean: true,
  noExternal: [/^@int\//],
  // CommonJS inside, or native.
  external: ['@duckdb/node-api', '@duckdb/node-bindings', '@platformatic/kafka', 'graphology'],
  esbuildOptions(options) {
    options.alias = {
      '@int/afxdp': native('index.ts'),
      '@int/afxdp/prefilter': native('prefilter/index.ts'),
      '@int/afxdp/source': native('source/index.ts'),
      '@int/codec': source('codec'),
      '@int/collector': source('collector'),
      '@int/dart': source('dart'),
      '@int/dart/node': source('dart', 'node/index.ts'),
      '@int/detect': source('detect'),
      '@int/flowcache': source('flowcache'),
      '@int/flowcache/node': source('flowcache', 'node/index.ts'),
      '@int/gpint': source('gpint'),
      '@int/hash': source('hash'),
      '@int/p4vm': source('p4vm'),
      '@int/p4vm/node': source('p4vm', 'node/index.ts'),
      '@int/pcap': source('pcap'),
      '@int/pcap/node': source('pcap', 'node/index.ts'),
      '@int/random': source('random'),
      '@int/rings': source('rings'),
      '@int/sink-kafka': source('sink-kafka'),
      '@int/sink-parquet': source('sink-parquet'),
      '@int/traffic': source('traffic'),
    };
  },
});
