import type { History, HistoryErrorCode, QueryResult } from '@int/sink-parquet';
import { type Command, Option } from 'commander';
import { CliError, EXIT, hasColour, type Io, say } from '../io.js';
import { colours } from '../output/colour.js';
import { DataOutput } from '../output/data-output.js';
import { counted } from '../output/numbers.js';
import { CsvLines, JsonLines, type ResultLines, TableLines } from '../query/result-lines.js';

interface QueryFlags {
  readonly store: string;
  readonly json?: true;
  readonly csv?: true;
}

/** Gives `int query` its arguments, options and work. */
export function define(command: Command, io: Io, done: (exitCode: number) => void): void {
  command
    .argument('<SQL>', 'one statement that reads, such as "select nodeId, max(hopLatency) from hops group by nodeId"')
    .addOption(new Option('--store <DIR>', 'folder of the history').makeOptionMandatory())
    .addOption(new Option('--json', 'one JSON object per row').conflicts('csv'))
    .option('--csv', 'comma-separated values; the first line names the columns')
    .action(async (sql: string, flags: QueryFlags) => done(await query(sql, flags, io)));
}

const EXITS: Readonly<Record<HistoryErrorCode, number>> = {
  ERR_HISTORY_STORE: EXIT.OPEN,
  ERR_HISTORY_SQL: EXIT.USAGE,
  ERR_HISTORY_READ_ONLY: EXIT.USAGE,
  ERR_HISTORY_FAILED: EXIT.INPUT,
  ERR_HISTORY_INTERRUPTED: EXIT.OK,
};

async function query(sql: string, flags: QueryFlags, io: Io): Promise<number> {
  // The engine takes a moment to load: other commands do without.
  const parquet = await import('@int/sink-parquet');
  const output = new DataOutput(io.stdout);
  let history: History | null = null;
  const stop = (): void => history?.interrupt();
  io.signal.addEventListener('abort', stop, { once: true });
  output.onClosed = stop;
  let rows = 0;
  try {
    history = await parquet.History.open({ directory: flags.store });
    const lines = linesFor(flags, io);
    rows = await print(await history.query(sql), lines, output, io);
  } catch (error) {
    if (!parquet.HistoryError.is(error)) throw error;
    if (output.closed) return EXIT.OK;
    if (error.code !== 'ERR_HISTORY_INTERRUPTED') {
      const [first = '', ...others] = error.message.split('\n');
      const place = error.offset === null ? '' : `, at character ${error.offset + 1}`;
      throw new CliError([`${first}${place}`, ...others].join('\n'), EXITS[error.code], error);
    }
  } finally {
    io.signal.removeEventListener('abort', stop);
    history?.close();
    await output.end();
  }
  if (output.error !== null) throw new CliError(`cannot write: ${output.error.message}`, EXIT.OPEN);
  if (io.signal.aborted) say(io, `interrupted after ${counted(rows, 'row')}`);
  return EXIT.OK;
}

function linesFor(flags: QueryFlags, io: Io): ResultLines {
  if (flags.json === true) return new JsonLines();
  return flags.csv === true ? new CsvLines() : new TableLines(colours(hasColour(io)));
}

/** @returns rows printed */
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
