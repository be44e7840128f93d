import type { Sink } from '@int/collector';
import { optionalPackage } from '../input/optional-package.js';
import { bytesOf, millisecondsOf } from './quantities.js';
import type { ReadConfig } from './read-config.js';
import { opened, reporting, type Tell } from './sink-parts.js';

/** @throws CliError (rejects) */
export async function parquetSink(read: ReadConfig, index: number, name: string, tell: Tell): Promise<Sink> {
  const { directory, records, rotate, retention, compression, whenFull, memory } = read.config.sinks![index]!.parquet!;
  const module = import('@int/sink-parquet');
  const { ParquetSink } = await optionalPackage('@int/sink-parquet', 'a parquet sink', module);
  return opened(read, ['sinks', index, 'parquet'], () =>
    ParquetSink.open({
      name,
      directory: read.path(directory),
      ...reporting(name, tell),
      ...(records !== undefined && { records }),
      ...(compression !== undefined && { compression }),
      ...(whenFull !== undefined && { whenFull }),
      ...(memory !== undefined && { memoryBytes: bytesOf(memory) }),
      ...(rotate !== undefined && {
        rotate: {
          ...(rotate.rows !== undefined && { rows: rotate.rows }),
          ...(rotate.bytes !== undefined && { bytes: bytesOf(rotate.bytes) }),
          ...(rotate.age !== undefined && { ageMs: millisecondsOf(rotate.age) }),
        },
      }),
      ...(retention !== undefined && {
        retention: {
          ...(retention.age !== undefined && { ageMs: millisecondsOf(retention.age) }),
          ...(retention.bytes !== undefined && { bytes: bytesOf(retention.bytes) }),
        },
      }),
    }),
  );
}
