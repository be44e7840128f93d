import { existsSync, readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { describe, expect, it } from 'vitest';
import { digestOf, readResults } from '../../benchmarks/harness/src/index.mjs';
import { repository } from '../scripts/workspaces.mjs';

/** Figures that somebody typed into a file before there were digests. A run of the part takes its line away. */
const TYPED: readonly string[] = [];

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesBelow(path);
    return entry.name.endsWith('.json') ? [path] : [];
  });
}

const studies = join(repository, 'benchmarks', 'studies');
const files = [
  join(repository, 'benchmarks', 'results'),
  ...readdirSync(studies).map((study) => join(studies, study, 'results')),
]
  .filter((folder) => existsSync(folder))
  .flatMap(filesBelow)
  .map((path) => relative(repository, path).split(sep).join('/'));

describe('files of results', () => {
  it('are there', () => expect(files.length).toBeGreaterThan(20));

  it.each(files)('%s is as its program wrote it', (file) => {
    const results = readResults(join(repository, file));
    expect(existsSync(join(repository, results.program)), results.program).toBe(true);
    for (const name of ['arguments', 'commit', 'isTreeClean', 'date', 'node', 'v8', 'kernel', 'machine']) {
      expect(results, name).toHaveProperty(name);
    }
  });

  it('show an edited figure, wherever it stands', () => {
    for (const file of files) {
      const results = readResults(join(repository, file));
      const edited = structuredClone(results) as Record<string, unknown>;
      expect(editLastNumber(edited), file).toBe(true);
      expect(digestOf(edited), file).not.toBe(results.digest);
    }
  });

  it('have no typed figures but those that are known', () => {
    const typed = files.flatMap((file) =>
      Object.entries(readResults(join(repository, file)).parts ?? {}).flatMap(([part, { program }]) =>
        program === null ? [`${file}: ${part}`] : [],
      ),
    );
    expect(typed).toEqual(TYPED);
  });
});

/** Adds a millionth to the last number of the content. @returns whether there is one */
function editLastNumber(value: Record<string, unknown>): boolean {
  for (const [name, member] of Object.entries(value).reverse()) {
    if (typeof member === 'number') {
      value[name] = member + 1e-6 * Math.max(1, Math.abs(member));
      return true;
    }
    if (typeof member === 'object' && member !== null && editLastNumber(member as Record<string, unknown>)) return true;
  }
  return false;
}
