// The accuracy study: what the monitor has counted against what was sent, by a sender in another process.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type RunPlan, type RunResult, run } from './study/run.js';
import { table } from './study/table.js';

const { values } = parseArgs({
  options: { short: { type: 'boolean', default: false }, shards: { type: 'string', default: '1' } },
});
const { short } = values;

const BASE: Omit<RunPlan, 'rate'> = {
  seconds: short ? 1 : 5,
  events: 400_000,
  reportsPerDatagram: 16,
  flows: 100_000,
  shards: Number(values.shards),
  rows: 1 << 15,
  seed: 1,
};
/** Reports a second; each is tried until one loses datagrams. */
const RATES = short
  ? [50_000, 100_000]
  : [50_000, 100_000, 150_000, 200_000, 250_000, 300_000, 350_000, 400_000, 500_000, 600_000, 800_000];
/** Reports a second that "as fast as it can" is taken for, to choose the threshold and the number of datagrams. */
const OPEN = short ? 300_000 : 800_000;

const say = (text: string): void => console.error(text);
const results: RunResult[] = [];
for (const rate of RATES) {
  say(`${rate} reports a second`);
  const result = await run({ ...BASE, rate });
  results.push(result);
  if (result.lostInKernel + result.lostInProgram > 0) break;
}
say('as fast as the sender can');
results.push(await run({ ...BASE, rate: 0 }, OPEN));

const machine = `${cpus()[0]!.model.trim()}, ${cpus().length} CPUs, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}, load average ${loadavg()[0]!.toFixed(1)}`;
const text = table(results);
console.log(`${machine}\n\n${text}`);
if (!short) {
  const folder = fileURLToPath(new URL('../results/', import.meta.url));
  mkdirSync(folder, { recursive: true });
  const date = new Date().toISOString().slice(0, 10);
  writeFileSync(`${folder}accuracy.json`, `${JSON.stringify({ machine, date, results }, null, 2)}\n`);
  const readme = fileURLToPath(new URL('../README.md', import.meta.url));
  const [before, , after] = readFileSync(readme, 'utf8').split(
    /<!-- accuracy: (?:from here, written by `npm run study`|to here) -->\n/,
  );
  const inside = `<!-- accuracy: from here, written by \`npm run study\` -->\n\n${machine}, ${date}.\n\n${text}\n<!-- accuracy: to here -->\n`;
  writeFileSync(readme, `${before}${inside}${after}`);
}
if (!results.every(({ closes }) => closes)) {
  say('the accounting does not close');
  process.exitCode = 1;
}
