/**
 * Writes the figures of all texts, and the charts, from the files of results: `npm run figures`. Nothing is measured. The studies
 * write theirs by themselves, as with `--render`.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { drawChart, REPOSITORY } from '@int/harness';
import { CHARTS } from './figures/charts.js';
import { DOCUMENTS, documentOf } from './figures/documents.js';

for (const name of DOCUMENTS) {
  const { path, before, after } = documentOf(name);
  if (after === before) continue;
  writeFileSync(path, after);
  console.log(`${relative(REPOSITORY, path)} has other figures now`);
}

for (const [name, chart] of Object.entries(CHARTS)) {
  writeFileSync(join(REPOSITORY, 'benchmarks', 'results', name), await drawChart(chart()));
}

const { scripts } = JSON.parse(readFileSync(join(REPOSITORY, 'benchmarks', 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};
for (const [name, command] of Object.entries(scripts)) {
  if (!name.startsWith('study:')) continue;
  const program = command.replace(/^node /, '');
  execFileSync(process.execPath, [join(REPOSITORY, 'benchmarks', program), '--render'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
