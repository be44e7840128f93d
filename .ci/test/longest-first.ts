import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { repository } from '../scripts/workspaces.mjs';

/** Seconds that each test file takes, from the repository's root; `node .ci/scripts/durations.mjs REPORT --write` writes them. */
const durations = JSON.parse(readFileSync(new URL('durations.json', import.meta.url), 'utf8')) as Record<
  string,
  number
>;

/** What the file leaves out: short ones, and those that nobody has measured. */
const UNKNOWN_S = 0.4;

/** Begins with the longest files, so that no worker is left alone with one at the end; a fresh clone knows them too. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const seconds = ({ moduleId }: TestSpecification): number =>
      durations[relative(repository, moduleId).replaceAll('\\', '/')] ?? UNKNOWN_S;
    return [...files].sort((a, b) => seconds(b) - seconds(a) || (a.moduleId < b.moduleId ? -1 : 1));
  }
}
