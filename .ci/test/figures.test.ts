import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { madeOfResults } from '../../benchmarks/harness/src/index.mjs';
import { dartPathTracing } from '../../benchmarks/studies/dart-path-tracing/src/study/definition.js';
import { eventPrefilter } from '../../benchmarks/studies/event-prefilter/src/definition.js';
import { gpintMonitor } from '../../benchmarks/studies/gpint-monitor/src/study/definition.js';
import { immediateEvents } from '../../benchmarks/studies/immediate-events/src/study/definition.js';
import { accuracy } from '../../benchmarks/studies/smartnic-monitor/src/study/definition.js';
import { repository, workspaces } from '../scripts/workspaces.mjs';
import { elementsOf } from './xml.js';

/** What is made of the results of each study. */
const STUDIES = {
  'dart-path-tracing': () => madeOfResults(dartPathTracing),
  'event-prefilter': () => madeOfResults(eventPrefilter),
  'gpint-monitor': () => madeOfResults(gpintMonitor(new URL(import.meta.url))),
  'immediate-events': () => madeOfResults(immediateEvents),
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
