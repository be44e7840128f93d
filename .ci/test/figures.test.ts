import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { drawChart, madeOfResults, marksOf } from '../../benchmarks/harness/src/index.mjs';
import { CHARTS } from '../../benchmarks/src/figures/charts.js';
import { DOCUMENTS, documentOf, FIGURE_NAMES } from '../../benchmarks/src/figures/documents.js';
import { closedLoop } from '../../benchmarks/studies/closed-loop/src/study/definition.js';
import { dartPathTracing } from '../../benchmarks/studies/dart-path-tracing/src/study/definition.js';
import { eventPrefilter } from '../../benchmarks/studies/event-prefilter/src/definition.js';
import { gpintMonitor } from '../../benchmarks/studies/gpint-monitor/src/study/definition.js';
import { immediateEvents } from '../../benchmarks/studies/immediate-events/src/study/definition.js';
import { incidentDetection } from '../../benchmarks/studies/incident-detection/src/study/definition.js';
import { accuracy } from '../../benchmarks/studies/smartnic-monitor/src/study/definition.js';
import { repository, workspaces } from '../scripts/workspaces.mjs';
import { readmes } from './readmes.js';
import { elementsOf } from './xml.js';

/** What is made of the results of each study. */
const STUDIES = {
  'closed-loop': () => madeOfResults(closedLoop),
  'dart-path-tracing': () => madeOfResults(dartPathTracing),
  'event-prefilter': () => madeOfResults(eventPrefilter),
  'gpint-monitor': () => madeOfResults(gpintMonitor(new URL(import.meta.url))),
  'immediate-events': () => madeOfResults(immediateEvents),
  'incident-detection': () => madeOfResults(incidentDetection),
  'smartnic-monitor': () => madeOfResults(accuracy),
} as const;

describe('studies', () => {
  it('are all looked at here', () => {
    const folders = workspaces().map(({ folder }) => folder.split('/'));
    const studies = folders.filter(([, parent]) => parent === 'studies').map(([, , name]) => name!);
    expect(studies.sort()).toEqual(Object.keys(STUDIES));
  });

  it.each(Object.entries(STUDIES))(
    '%s: charts, report and README are those of its results; if not: npm run figures',
    async (_, made) => {
      const files = await made();
      expect(files.map(({ path }) => relative(repository, path)).at(-1)).toMatch(/README\.md$/);
      for (const { path, text } of files) {
        expect(readFileSync(path, 'utf8'), relative(repository, path)).toBe(text);
        if (path.endsWith('.svg')) expect(elementsOf(text)[0]).toBe('svg');
      }
    },
  );

  it('are run by name', () => {
    const run = spawnSync(
      process.execPath,
      [join(repository, '.ci/scripts/long-forms.mjs'), 'study', 'immediate-events', '--help'],
      {
        encoding: 'utf8',
      },
    );
    expect(run.stdout, run.stderr).toContain('Usage: npm run study -- immediate-events');
    expect(run.status).toBe(0);
  });
});

describe('texts', () => {
  /** Those outside of the studies. */
  const others = [...readmes(), 'benchmarks/FIGURES.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md'].filter(
    (file) => !file.startsWith('benchmarks/studies/'),
  );
  const textOf = (file: string): string => readFileSync(join(repository, file), 'utf8');

  it('with marks are all looked at here', () => {
    expect(others.filter((file) => marksOf(textOf(file)).length > 0).sort()).toEqual([...DOCUMENTS].sort());
  });

  it.each(DOCUMENTS)('%s has the figures of the results; if not: npm run figures', (file) => {
    const { before, after } = documentOf(file);
    expect(before).toBe(after);
  });

  it('use each of the figures that there are', () => {
    const used = new Set(DOCUMENTS.flatMap((file) => marksOf(textOf(file))));
    expect(FIGURE_NAMES.filter((name) => !used.has(name))).toEqual([]);
  });
});

describe('charts of benchmarks', () => {
  const folder = join(repository, 'benchmarks', 'results');

  it('are all looked at here', () => {
    const files = readdirSync(folder).filter((file) => file.endsWith('.svg'));
    expect(files.sort()).toEqual(Object.keys(CHARTS).sort());
  });

  it.each(Object.entries(CHARTS))('%s is that of its results; if not: npm run figures', async (file, chart) => {
    const svg = await drawChart(chart());
    expect(elementsOf(svg)[0]).toBe('svg');
    expect({ [file]: readFileSync(join(folder, file), 'utf8') === svg }).toEqual({ [file]: true });
  });
});
