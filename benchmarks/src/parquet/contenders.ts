/** Ways to get hop records to the disk. */
import { closeSync, fsyncSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type DuckDBAppender, DuckDBInstance } from '@duckdb/node-api';
import { FLAG, formatIpv4, HOP_COLUMNS, STATE, type TelemetryBatch } from '@int/codec';
import { REPORT_WORD_COLUMNS } from '@int/codec/internals';
import { type Compression, ParquetSink } from '@int/sink-parquet';

/** Takes batches; `end` returns when all of them are in synced files. */
export interface Contender {
  readonly title: string;
  start(directory: string): Promise<void>;
  take(batch: TelemetryBatch): Promise<void> | undefined;
  /** @returns bytes of the files */
  end(): Promise<number>;
}

/** The package, as it is. */
export function sink(compression: Compression): Contender {
  let it: ParquetSink;
  return {
    title: `ParquetSink, ${compression}`,
    async start(directory) {
      it = await ParquetSink.open({ directory, compression, maintenanceMs: 0 });
    },
    take: (batch) => it.write(batch),
    async end() {
      await it.flush();
      const { bytes } = it.figures();
      await it.close();
      return bytes;
    },
  };
}

/** Rows in a file, as the package has them by default. */
const FILE_ROWS = 262_144;
const ROW_COLUMNS = `time UBIGINT, report UBIGINT, hop UINTEGER, source VARCHAR, destination VARCHAR, protocol UINTEGER,
  "sourcePort" UINTEGER, "destinationPort" UINTEGER, "nodeId" UINTEGER, "l1IngressInterface" UINTEGER,
  "l1EgressInterface" UINTEGER, "hopLatency" UINTEGER, "queueId" UINTEGER, "queueOccupancy" UINTEGER,
  "ingressTimestamp" UBIGINT, "egressTimestamp" UBIGINT, "egressUtilization" UINTEGER, "bufferId" UINTEGER,
  "bufferOccupancy" UINTEGER, "hwId" UINTEGER, sequence UINTEGER`;

/** What one writes first: the engine's own appender, value by value, into a table, and the table into a file. */
export function rowAppender(): Contender {
  let folder = '';
  let instance: DuckDBInstance;
  let connection: Awaited<ReturnType<DuckDBInstance['connect']>>;
  let appender: DuckDBAppender;
  let rows = 0;
  let report = 0n;
  let files = 0;
  let bytes = 0;
  const optional = (value: number | null): void => {
    if (value === null) appender.appendNull();
    else appender.appendUInteger(value);
  };
  const begin = async (): Promise<void> => {
    await connection.run(`CREATE OR REPLACE TABLE hops (${ROW_COLUMNS})`);
    appender = await connection.createAppender('hops');
    rows = 0;
  };
  const finish = async (): Promise<void> => {
    appender.closeSync();
    const path = join(folder, `${files++}.parquet`);
    await connection.run(`COPY hops TO '${path}' (FORMAT parquet, PARQUET_VERSION v2, COMPRESSION zstd)`);
    const file = openSync(path, 'r');
    fsyncSync(file);
    closeSync(file);
    bytes += statSync(path).size;
  };
  return {
    title: 'row appender of DuckDB, zstd',
    async start(directory) {
      folder = directory;
      instance = await DuckDBInstance.create(':memory:', { threads: '1' });
      connection = await instance.connect();
      await begin();
    },
    take(batch) {
      for (let row = 0; row < batch.reports; row++) {
        const view = batch.record(row);
        const time = batch.timeNs(row);
        const hasFlow = (batch.flags[row]! & FLAG.FLOW) !== 0;
        const source = hasFlow ? formatIpv4(batch.source0[row]!) : '';
        const destination = hasFlow ? formatIpv4(batch.destination0[row]!) : '';
        for (let k = 0; k < view.hopCount; k++) {
          const hop = view.hop(k);
          appender.appendUBigInt(time);
          appender.appendUBigInt(report);
          appender.appendUInteger(k);
          appender.appendVarchar(source);
          appender.appendVarchar(destination);
          appender.appendUInteger(batch.protocol[row]!);
          appender.appendUInteger(batch.ports[row]! >>> 16);
          appender.appendUInteger(batch.ports[row]! & 0xffff);
          optional(hop.nodeId);
          optional(hop.l1IngressInterface);
          optional(hop.l1EgressInterface);
          optional(hop.hopLatency);
          optional(hop.queueId);
          optional(hop.queueOccupancy);
          appender.appendUBigInt(hop.ingressTimestamp ?? 0n);
          appender.appendUBigInt(hop.egressTimestamp ?? 0n);
          optional(hop.egressUtilization);
          optional(hop.bufferId);
          optional(hop.bufferOccupancy);
          appender.appendUInteger(view.hwId);
          appender.appendUInteger(view.sequence);
          appender.endRow();
          rows++;
        }
        report++;
      }
      return rows < FILE_ROWS ? undefined : finish().then(begin);
    },
    async end() {
      await finish();
      connection.closeSync();
      instance.closeSync();
      return bytes;
    },
  };
}

/** The limit: the columns of the batch that hold something, as they lie in memory, into a file. */
export function plainColumns(): Contender {
  let file = 0;
  let bytes = 0;
  let path = '';
  return {
    title: 'columns as they are, into a file',
    async start(directory) {
      path = join(directory, 'columns.bin');
      file = openSync(path, 'w');
    },
    take(batch) {
      const { reports, hops, hopStride, reportStride } = batch;
      const write = (words: Uint32Array): void => {
        bytes += writeSync(file, words);
      };
      write(batch.frameTimeHigh.subarray(0, batch.frames));
      write(batch.frameTimeLow.subarray(0, batch.frames));
      for (let column = 0; column < REPORT_WORD_COLUMNS.length; column++) {
        write(batch.reportWords.subarray(column * reportStride, column * reportStride + reports));
      }
      for (let column = 0; column < HOP_COLUMNS.length; column++) {
        if ((batch.state[STATE.WRITTEN]! & (1 << column)) === 0) continue;
        write(batch.hopWords.subarray(column * hopStride, column * hopStride + hops));
      }
      return undefined;
    },
    async end() {
      fsyncSync(file);
      closeSync(file);
      rmSync(path);
      return bytes;
    },
  };
}
