import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TableName } from '../table/table.js';

/**
 * The store is a folder:
 *
 * - `<table>/date=YYYY-MM-DD/hour=HH/*.parquet`: the files, by the hour (UTC) of their rows' times. A file that is there
 *   is whole and never changes; the last part of its name is its checksum.
 * - `<table>/date=.../hour=.../*.parquet.damaged`: files that were found not to be as they were written.
 * - `<table>/date=.../hour=.../.<file>.replaces`: names of files whose rows are in `<file>`, too, because it was made of
 *   them; they are about to be removed. They count as removed as soon as `<file>` is there.
 * - `.writing/`: files that are being written.
 * - `.maintainer`: the process that merges and removes files.
 */
const HOUR_MS = 3_600_000;
const PARTITION_DATE = /^date=(\d{4}-\d{2}-\d{2})$/;
const PARTITION_HOUR = /^hour=(\d{2})$/;
const REPLACES = /^\.(.+\.parquet)\.replaces$/;

const DAMAGED = '.damaged';

export const WRITING = '.writing';
export const MAINTAINER = '.maintainer';

/** The folder of an hour, below that of the table. `hour` counts from 1970-01-01 00:00 UTC. */
export function partitionOf(hour: number): string {
  const text = new Date(hour * HOUR_MS).toISOString();
  return join(`date=${text.slice(0, 10)}`, `hour=${text.slice(11, 13)}`);
}

/** The name of the list of what a file replaces. */
export function replacesName(file: string): string {
  return `.${file}.replaces`;
}

export function damagedName(file: string): string {
  return `${file}${DAMAGED}`;
}

/** Files of one table and hour. */
export interface Partition {
  readonly table: TableName;
  readonly hour: number;
  readonly path: string;
  /** Names of files to read, in the order of their names. */
  readonly files: readonly string[];
  /** Names of files whose rows are in others, too, by the file that has them. */
  readonly replaced: ReadonlyMap<string, readonly string[]>;
  /** Lists of files that are not there: a merge that was not finished. */
  readonly stale: readonly string[];
  /** Names of files that were set aside. */
  readonly damaged: readonly string[];
}

/** Names in a folder; none if it is not there. */
async function namesIn(path: string): Promise<string[]> {
  try {
    return (await readdir(path)).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

async function readPartition(table: TableName, hour: number, path: string): Promise<Partition> {
  const names = await namesIn(path);
  const replaced = new Map<string, readonly string[]>();
  const stale: string[] = [];
  const gone = new Set<string>();
  for (const each of names) {
    const file = REPLACES.exec(each)?.[1];
    if (file === undefined) continue;
    if (!names.includes(file)) {
      stale.push(each);
      continue;
    }
    const listed = await readFile(join(path, each), 'utf8').catch(() => '');
    const files = listed.split('\n').filter((line) => line !== '');
    replaced.set(file, files);
    for (const old of files) gone.add(old);
  }
  const files = names.filter((each) => each.endsWith('.parquet') && !each.startsWith('.') && !gone.has(each));
  const damaged = names.filter((each) => each.endsWith(damagedName('.parquet')));
  return { table, hour, path, files, replaced, stale, damaged };
}

/** All hours of a table, oldest first. A table that nothing was written to has none. */
export async function readPartitions(directory: string, table: TableName): Promise<Partition[]> {
  const partitions: Partition[] = [];
  for (const date of await namesIn(join(directory, table))) {
    const day = PARTITION_DATE.exec(date)?.[1];
    if (day === undefined) continue;
    for (const hourName of await namesIn(join(directory, table, date))) {
      const ofDay = PARTITION_HOUR.exec(hourName)?.[1];
      if (ofDay === undefined) continue;
      const hour = Date.parse(`${day}T${ofDay}:00:00Z`) / HOUR_MS;
      if (Number.isNaN(hour)) continue;
      partitions.push(await readPartition(table, hour, join(directory, table, date, hourName)));
    }
  }
  return partitions;
}
