import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { History, type HistoryOptions, ParquetSink, type ParquetSinkOptions, type ResultRow } from '@int/sink-parquet';
import { onTestFinished } from 'vitest';

/** A folder that is removed after the test. */
export async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'int-parquet-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** A sink that is closed after the test, without maintenance of its own. */
export async function open(options: ParquetSinkOptions): Promise<ParquetSink> {
  const sink = await ParquetSink.open({ maintenanceMs: 0, ...options });
  onTestFinished(() => sink.close(0).then(() => undefined));
  return sink;
}

/** All rows of a query. */
export async function rows(
  directory: string,
  sql: string,
  options: Partial<HistoryOptions> = {},
): Promise<ResultRow[]> {
  const history = await History.open({ directory, ...options });
  try {
    return await history.rows(sql);
  } finally {
    history.close();
  }
}

/** The one number that a query gives. */
export async function number(directory: string, sql: string): Promise<number> {
  const [row = {}] = await rows(directory, sql);
  return Number(Object.values(row)[0]);
}
