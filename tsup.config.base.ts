import { defineConfig, type Options } from 'tsup';

/** The one build every library package uses: ESM and CommonJS, types for both, nothing minified. */
export function library(
  entry: Record<string, string> = { index: 'src/index.ts' },
  extra: Options = {},
): ReturnType<typeof defineConfig> {
  return defineConfig({
    entry,
    format: ['esm', 'cjs'],
    target: 'es2022',
    dts: true,
    clean: true,
    sourcemap: true,
    treeshake: true,
    ...extra,
  });
}
