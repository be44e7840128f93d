// @ts-check
// Reads vitest's JSON report: `node .ci/scripts/durations.mjs REPORT` prints the ten slowest test files; with `--write` it
// keeps the seconds of all files in .ci/test/durations.json, by which a run begins with the longest.
import { readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { repository } from './workspaces.mjs';

const [report = '', option] = process.argv.slice(2);
/** @type {{ testResults: { name: string, startTime: number, endTime: number }[] }} */
const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
const files = testResults
  .map(({ name, startTime, endTime }) => ({
    file: relative(repository, name).replaceAll('\\', '/'),
    seconds: Math.max(0, (endTime - startTime) / 1000),
  }))
  .sort((a, b) => b.seconds - a.seconds);
const foreign = files.find(({ file }) => file.startsWith('..'));
if (foreign !== undefined) throw new Error(`${report} is of tests of another folder: ${foreign.file}`);

if (option === '--write') {
  // In order of their names, and without what is as short as most, so that few lines change.
  const entries = files
    .filter(({ seconds }) => seconds >= 0.5)
    .sort((a, b) => (a.file < b.file ? -1 : 1))
    .map(({ file, seconds }) => [file, Number(seconds.toFixed(seconds < 10 ? 1 : 0))]);
  writeFileSync(
    new URL('../test/durations.json', import.meta.url),
    `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`,
  );
} else {
  console.log('The slowest test files:');
  for (const { file, seconds } of files.slice(0, 10)) console.log(`${seconds.toFixed(1).padStart(8)} s  ${file}`);
}
