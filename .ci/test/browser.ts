import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import ts from 'typescript';
import { entryPoints } from '../scripts/workspaces.mjs';
import type { Consumer } from './consumer.js';
import type { Block } from './readmes.js';

/** What a bundle says after it ran. */
export interface BrowserReport {
  /** Names each entry point exports, by import path. */
  readonly exports: Record<string, string[]>;
  /** For each README example that was bundled, `ok` or the error. */
  readonly examples: Record<string, string>;
}

/** Import paths that a browser may use: all but `./node` ones. */
export function browserPaths(consumer: Consumer, nodeOnly: readonly string[]): string[] {
  return consumer.packages
    .filter(({ short }) => !nodeOnly.includes(short))
    .flatMap(({ manifest }) => entryPoints(manifest).map((path) => manifest.name + path.slice(1)))
    .filter((path) => !path.endsWith('/node'));
}

/** True for an example that needs nothing of Node but its assert module. */
export function isPortable({ code }: Block): boolean {
  const modules = ts.preProcessFile(code).importedFiles.map(({ fileName }) => fileName);
  return (
    !modules.some((name) => name.startsWith('node:') && name !== 'node:assert/strict') &&
    !modules.some((name) => name.endsWith('/node')) &&
    !/\b(Buffer|process)\b/.test(code)
  );
}

/**
 * Bundles entry points and README examples for a browser into one script, which leaves a promise of a
 * {@link BrowserReport} in `globalThis.report`.
 */
export async function bundle(
  consumer: Consumer,
  paths: readonly string[],
  examples: readonly Block[],
): Promise<string> {
  const imports = paths.map((path, index) => `import * as m${index} from '${path}';`);
  const exported = paths.map((path, index) => `'${path}': Object.keys(m${index})`);
  const parts = examples.map((block, index) => {
    writeFileSync(join(consumer.folder, `example-${index}.ts`), asFunction(block));
    return `import { example as e${index} } from './example-${index}.ts';`;
  });
  const runs = examples.map(({ file, line }, index) => `  ['${file}:${line}', e${index}],`);
  const entry = `${[...imports, ...parts].join('\n')}
async function run() {
  const examples = {};
  for (const [name, example] of [
${runs.join('\n')}
  ]) examples[name] = await example().then(() => 'ok', (error) => String(error?.stack ?? error));
  return { exports: { ${exported.join(', ')} }, examples };
}
globalThis.report = run();
`;
  const { outputFiles } = await build({
    stdin: { contents: entry, resolveDir: consumer.folder },
    bundle: true,
    write: false,
    platform: 'browser',
    format: 'iife',
    target: 'es2022',
    logLevel: 'silent',
    alias: { 'node:assert/strict': fileURLToPath(new URL('browser-assert.ts', import.meta.url)) },
  });
  return outputFiles[0]!.text;
}

/** Puts all but the imports of an example into an async function, because a plain script knows no top-level await. */
function asFunction({ code }: Block): string {
  const source = ts.createSourceFile('example.ts', code, ts.ScriptTarget.ES2022);
  const imports = source.statements.filter(ts.isImportDeclaration);
  let body = code;
  for (const statement of [...imports].reverse()) body = body.slice(0, statement.pos) + body.slice(statement.end);
  return `${imports.map((each) => each.getFullText(source)).join('\n')}\nexport async function example() {\n${body}\n}\n`;
}

/** Size in bytes of everything an import path exports, bundled for a browser and minified. */
export async function minify(consumer: Consumer, path: string): Promise<Uint8Array> {
  const { outputFiles } = await build({
    stdin: { contents: `export * from '${path}';`, resolveDir: consumer.folder },
    bundle: true,
    write: false,
    minify: true,
    platform: 'browser',
    format: 'esm',
    target: 'es2022',
    logLevel: 'silent',
  });
  return outputFiles[0]!.contents;
}
