/** A metadata item that a future version of INT defines is one line in the table of fields: a made-up one shows it. */
import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build, type Plugin } from 'esbuild';
import { afterAll, expect, it } from 'vitest';
import { fieldsTable } from '../scripts/fields.mjs';
import { entryPoints, sourceOf, workspaces } from '../scripts/workspaces.mjs';

const LINE =
  "  { name: 'madeUp', bits: 32, at: { '2': 9 }, protobuf: 25, metric: 20, unit: 'ns', text: 'a made-up item' },\n";
/** The end of the table. */
const END = /\n(?=\] as const satisfies readonly Definition\[\];)/;
const run = promisify(execFile);
// Beside the installed packages, which it needs.
const program = fileURLToPath(new URL(`../../node_modules/.cache/int-made-up-${process.pid}.mjs`, import.meta.url));
afterAll(() => rmSync(program, { force: true }));

const addsLine = (text: string): string => text.replace(END, `\n${LINE}`);

/** The sources of the packages, with the line. */
const withLine: Plugin = {
  name: 'a made-up item',
  setup({ onLoad, onResolve }) {
    const sources = new Map(
      workspaces().flatMap((workspace) =>
        entryPoints(workspace.manifest).map((path): [string, string] => [
          workspace.manifest.name + path.slice(1),
          sourceOf(workspace, path) ?? `${workspace.path}/src/index.ts`,
        ]),
      ),
    );
    onResolve({ filter: /^@int\// }, ({ path }) => ({ path: sources.get(path)! }));
    onResolve({ filter: /^[^./]/ }, ({ path }) => (path.startsWith('@int/') ? undefined : { path, external: true }));
    onLoad({ filter: /packages\/codec\/src\/fields\.ts$/ }, ({ path }) => ({
      contents: addsLine(readFileSync(path, 'utf8')),
      loader: 'ts',
    }));
  },
};

it('is in JSON, Parquet, Prometheus, rules and the documentation', async () => {
  const entry = fileURLToPath(new URL('made-up/program.ts', import.meta.url));
  await build({
    entryPoints: [entry],
    outfile: program,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'error',
    plugins: [withLine],
  });
  const { stdout } = await run(process.execPath, [program], { timeout: 60_000 });
  const found = JSON.parse(stdout) as Record<string, unknown>;
  expect(found).toMatchObject({
    json: { nodeId: 1, hopLatency: 700, madeUp: 4711 },
    record: { nodeId: 1, hopLatency: 700, madeUp: 4711 },
    page: ['int_switch_measure{switch="1",metric="madeUp"} 4711'],
    events: [{ rule: 'made-up', value: 4711 }],
    rows: [{ madeUp: 4711 }],
  });
  expect(await fieldsTable(addsLine)).toContain('| `madeUp` | 32 | 2: 9 | 20 | a made-up item |');
});
