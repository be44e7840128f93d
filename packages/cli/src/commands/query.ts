import type { History, HistoryErrorCode, QueryResult } from '@int/sink-parquet';
import { type Command, Option } from 'commander';
import { given } from '../given.js';
import { opening } from '../interruption.js';
import { CliError, EXIT, hasColour, type Io, say, sayEach } from '../io.js';
import { readTopology, type TopologyFlags, topologyOption } from '../network/topology-option.js';
import { colours } from '../output/colour.js';
import { DataOutput } from '../output/data-output.js';
import { bytes, counted, percent } from '../output/numbers.js';
import { Progress } from '../output/progress.js';
import { CheckedFiles } from '../query/checked-files.js';
import { CsvLines, JsonLines, type ResultLines, TableLines } from '../query/result-lines.js';

interface QueryFlags extends TopologyFlags {
  readonly store: string;
  readonly json?: true;
  readonly csv?: true;
  readonly verify?: boolean;
  readonly salvage?: true;
}

export function define(command: Command, io: Io, done: (exitCode: number) => void): void {
  command
    .argument('<SQL>', 'one statement that reads, such as "select nodeId, max(hopLatency) from hops group by nodeId"')
    .requiredOption('--store <DIR>', 'folder of the history')
    .addOption(topologyOption('tables switches and ports with the names of topology.yaml, GraphML or a plan (none)'))
    .addOption(new Option('--json', 'one JSON object per row').conflicts('csv'))
    .option('--csv', 'comma-separated values; the first line names the columns')
    .option(
      '--verify',
      'read every file that the query may need, and hold it against its checksum (new and changed ones)',
    )
    .option('--no-verify', 'do not hold files against their checksums')
    .option('--salvage', 'leave out files that are damaged, and say which')
    .action(async (sql: string, flags: QueryFlags) => done(await query(sql, flags, io)));
}

const EXITS: Readonly<Record<HistoryErrorCode, number>> = {
  ERR_HISTORY_STORE: EXIT.OPEN,
  ERR_HISTORY_SQL: EXIT.USAGE,
  ERR_HISTORY_READ_ONLY: EXIT.USAGE,
  ERR_HISTORY_FAILED: EXIT.INPUT,
  ERR_HISTORY_INTERRUPTED: EXIT.OK,
  ERR_HISTORY_DAMAGED: EXIT.INPUT,
};

async function query(sql: string, flags: QueryFlags, io: Io): Promise<number> {
  const names = flags.topology === undefined ? undefined : await readTopology(flags.topology, io);
  // DuckDB is slow to load, and other commands do not need it.
  const parquet = await import('@int/sink-parquet');
  const output = new DataOutput(io.stdout);
  const progress = new Progress(io, false);
  const onVerify = (done: number, total: number): void =>
    progress.update(() => `checking files: ${percent(done / total)} of ${bytes(total)}`);
  const checked = await CheckedFiles.open(flags.store, io);
  let history: History | null = null;
  const stop = (): void => history?.interrupt();
  io.signal.addEventListener('abort', stop, { once: true });
  output.onClosed = stop;
  let rows = 0;
  try {
    const verify = flags.verify === undefined ? 'changed' : flags.verify ? 'all' : 'none';
    const salvage = flags.salvage === true;
    const store = parquet.History.open({
      directory: flags.store,
      verify,
      checked,
      salvage,
      onVerify,
      ...given({ names }),
    });
    history = await opening(io, 'the history', store);
    const lines = linesFor(flags, io);
    const result = await history.query(sql);
    progress.done();
    rows = await print(result, lines, output, io);
  } catch (error) {
    if (!parquet.HistoryError.is(error)) throw error;
    if (output.closed) return EXIT.OK;
    if (error.code === 'ERR_HISTORY_DAMAGED') {
      sayEach(
        io,
        error.damaged.map(({ path, reason }) => `${path} is damaged: ${reason}`),
      );
      throw new CliError('nothing was answered: --salvage answers without damaged files', EXIT.INPUT, error);
    }
    if (error.code !== 'ERR_HISTORY_INTERRUPTED') {
      const [first = '', ...others] = error.message.split('\n');
      const place = error.offset === null ? '' : `, at character ${error.offset + 1}`;
      throw new CliError([`${first}${place}`, ...others].join('\n'), EXITS[error.code], error);
    }
  } finally {
    io.signal.removeEventListener('abort', stop);
    progress.done();
    history?.close();
    await checked.save();
    await output.end();
  }
  if (output.error !== null) throw new CliError(`cannot write: ${output.error.message}`, EXIT.OPEN);
  if (io.signal.aborted) say(io, `interrupted after ${counted(rows, 'row')}`);
  const { leftOut = [], unchecked = 0 } = history ?? {};
  if (unchecked > 0) say(io, `${counted(unchecked, 'file')} without a checksum: not made by a sink`);
  sayEach(
    io,
    leftOut.map(({ path, reason }) => `left out ${path}: ${reason}`),
  );
  return leftOut.length > 0 ? EXIT.INPUT : EXIT.OK;
}

function linesFor(flags: QueryFlags, io: Io): ResultLines {
  if (flags.json === true) return new JsonLines();
  return flags.csv === true ? new CsvLines() : new TableLines(colours(hasColour(io)));
}

/** @returns number of rows printed */
async function print(result: QueryResult, lines: ResultLines, output: DataOutput, io: Io): Promise<number> {
  let printed = 0;
  let hasBegun = false;
  const begin = (rows: Parameters<ResultLines['begin']>[1]): void => {
    if (!hasBegun) for (const line of lines.begin(result.columns, rows)) output.line(line);
    hasBegun = true;
  };
  for await (const rows of result.chunks()) {
    begin(rows);
    for (const row of rows) {
      const busy = output.line(lines.row(row));
      if (busy !== undefined) await busy;
      if (output.closed) return printed;
      printed++;
    }
    if (io.signal.aborted) return printed;
  }
  begin([]);
  return printed;
}
