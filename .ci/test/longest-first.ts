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
/** Files that take less are spread among the longer ones. */
const SHORT_S = 1;
/** Where tests wait for most of their time: for programs, brokers and networks. */
const WAITING = /^(?:native-afxdp|examples|packages\/(?:cli|metrics|sink-[a-z]+|stream-kafka))\//;

interface File {
  readonly specification: TestSpecification;
  readonly path: string;
  readonly seconds: number;
}

/**
 * The longest first, so that no worker is left alone with one at the end; a fresh clone knows them too. Files that wait, files that
 * compute and short ones take turns, so that there is work for all cores at any time.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const all = files.map((specification): File => {
      const path = relative(repository, specification.moduleId).replaceAll('\\', '/');
      return { specification, path, seconds: durations[path] ?? UNKNOWN_S };
    });
    all.sort((a, b) => b.seconds - a.seconds || (a.path < b.path ? -1 : 1));
    const long = all.filter(({ seconds }) => seconds >= SHORT_S);
    return takeTurns([
      long.filter(({ path }) => WAITING.test(path)),
      long.filter(({ path }) => !WAITING.test(path)),
      all.filter(({ seconds }) => seconds < SHORT_S),
    ]).map(({ specification }) => specification);
  }
}

/** Of each list, in its order, at any place the same share of its seconds. */
function takeTurns(lists: readonly (readonly File[])[]): File[] {
  const queues = lists
    .filter((files) => files.length > 0)
    .map((files) => ({ files, next: 0, done: 0, all: files.reduce((sum, { seconds }) => sum + seconds, 0) }));
  const result: File[] = [];
  for (;;) {
    const left = queues.filter(({ files, next }) => next < files.length);
    if (left.length === 0) return result;
    const queue = left.reduce((a, b) => (b.done / b.all < a.done / a.all ? b : a));
    const file = queue.files[queue.next++]!;
    queue.done += file.seconds;
    result.push(file);
  }
}
