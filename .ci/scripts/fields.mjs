// Writes the table of metadata items into the README of @int/codec, between its marks: `npm run fields`.
import { readFileSync, writeFileSync } from 'node:fs';
import { build } from 'esbuild';

const README = new URL('../../packages/codec/README.md', import.meta.url);
const SOURCE = new URL('../../packages/codec/src/fields.ts', import.meta.url);
const MARKED = /(<!-- fields -->\n)[\s\S]*?(<!-- \/fields -->)/;
/** Versions in the order of the table. */
const VERSIONS = ['0.5', '1.0', '2', '2016'];

/**
 * The table of `FIELDS` as Markdown.
 * @param {(source: string) => string} [change] what is to be changed in the source
 * @returns {Promise<string>}
 */
export async function fieldsTable(change = (source) => source) {
  const stdin = { contents: change(readFileSync(SOURCE, 'utf8')), loader: /** @type {const} */ ('ts') };
  const { outputFiles } = await build({ stdin, format: 'esm', write: false });
  const module = `data:text/javascript;base64,${Buffer.from(outputFiles[0].text).toString('base64')}`;
  /** @type {{ FIELDS: readonly { name: string, bits: number, at: Record<string, number>, metric?: number, text: string, isReserved?: true }[] }} */
  const { FIELDS } = await import(module);
  const rows = FIELDS.filter(({ isReserved }) => isReserved !== true).map(({ name, bits, at, metric, text }) => {
    const places = VERSIONS.flatMap((version) => (at[version] === undefined ? [] : `${version}: ${at[version]}`));
    return `| \`${name}\` | ${bits} | ${places.join(', ')} | ${metric ?? ''} | ${text} |\n`;
  });
  return `| Field | Bits | Instruction bit by INT version | Metric | What it is |\n|---|---|---|---|---|\n${rows.join('')}`;
}

/** The README with the table of today. @returns {Promise<{ before: string, after: string }>} */
export async function readmeWithFields() {
  const before = readFileSync(README, 'utf8');
  const table = await fieldsTable();
  return { before, after: before.replace(MARKED, (_, open, close) => `${open}${table}${close}`) };
}

if (process.argv[1] === new URL(import.meta.url).pathname) writeFileSync(README, (await readmeWithFields()).after);
