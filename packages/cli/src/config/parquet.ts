import type { Sink } from '@int/collector';
import type { Topology } from '@int/network';
import { given, ifGiven } from '../given.js';
import { optionalPackage } from '../input/optional-package.js';
import { bytesOf, millisecondsOf } from './quantities.js';
import type { ReadConfig } from './read-config.js';
import { opened, reporting, type Tell } from './sink-parts.js';

/** @param names of switches, for the metadata of files */
export async function parquetSink(
  read: ReadConfig,
  index: number,
  name: string,
  names: Topology,
  tell: Tell,
): Promise<Sink> {
  const { directory, rotate, retention, memory, ...same } = read.config.sinks![index]!.parquet!;
  const module = import('@int/sink-parquet');
  const { ParquetSink } = await optionalPackage('@int/sink-parquet', 'a parquet sink', module);
  return opened(read, ['sinks', index, 'parquet'], () =>
    ParquetSink.open({
      ...same,
      name,
      device: read.device,
      names,
      directory: read.path(directory),
      ...reporting(name, tell),
      ...given({
        memoryBytes: ifGiven(memory, bytesOf),
        rotate: ifGiven(rotate, ({ rows, bytes, age }) =>
          given({ rows, bytes: ifGiven(bytes, bytesOf), ageMs: ifGiven(age, millisecondsOf) }),
        ),
        retention: ifGiven(retention, ({ age, bytes }) =>
          given({ ageMs: ifGiven(age, millisecondsOf), bytes: ifGiven(bytes, bytesOf) }),
        ),
      }),
    }),
  );
}
