/**
 * What it costs to keep hop records: processor time per hop record, of all threads of the process, from decoded batches
 * in memory to synced files. `ParquetSink` against the engine's own row appender and against a plain write of the
 * columns, each in a process of its own.
 *
 * `--short`: fewer records. `--batches N`, `--rounds N`, `--only NAME,...`: these alone, which replace those in
 * the file of results; `--no-file`.
 */
import { fork } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BenchmarkRun, mergeRows, partsOf, readOptions } from '@int/harness';
import { median } from './decode/statistics.js';
import { type Contender, plainColumns, rowAppender, sink } from './parquet/contenders.js';
import { decodedBatches } from './parquet/reports.js';
import { parquetChart } from './parquet/results.js';

const values = readOptions({
  batches: { type: 'string' },
  rounds: { type: 'string' },
  only: { type: 'string' },
  part: { type: 'string' },
});
const BATCHES = Number(values.batches ?? (values.short ? 60 : 3000));
const ROUNDS = Number(values.rounds ?? (values.short ? 1 : 5));
/** Different batches; they are given again and again. */
const DIFFERENT = 64;
/** Share of the batches that come before the measurement. */
const WARM = 0.2;
/** What the package promises, in hop records per second of processor time. */
const WANTED = 500_000;

const CONTENDERS: Readonly<Record<string, () => Contender>> = {
  zstd: () => sink('zstd'),
  snappy: () => sink('snappy'),
  none: () => sink('none'),
  appender: rowAppender,
  columns: plainColumns,
};

interface Part {
  /** Hop records. */
  readonly records: number;
  /** Nanoseconds of processor time, and by the clock on the wall, per record. */
  readonly cpu: number;
  readonly wall: number;
  readonly bytes: number;
}

async function measure(contender: Contender): Promise<Part> {
  const batches = decodedBatches(DIFFERENT);
  const directory = mkdtempSync(join(tmpdir(), 'int-bench-parquet-'));
  try {
    const run = async (count: number): Promise<{ records: number; bytes: number }> => {
      await contender.start(directory);
      let records = 0;
      for (let k = 0; k < count; k++) {
        const each = batches[k % DIFFERENT]!;
        await contender.take(each);
        records += each.hops;
        // As sources do: the engine's questions for rows are answered in between.
        if (k % 8 === 7) await new Promise(setImmediate);
      }
      return { records, bytes: await contender.end() };
    };
    await run(Math.ceil(BATCHES * WARM));
    const cpu = process.cpuUsage();
    const from = performance.now();
    const { records, bytes } = await run(BATCHES);
    const wall = (performance.now() - from) * 1e6;
    const { user, system } = process.cpuUsage(cpu);
    return { records, cpu: ((user + system) * 1e3) / records, wall: wall / records, bytes: bytes / records };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Runs one contender in a process of its own. */
function part(name: string): Promise<Part> {
  const child = fork(fileURLToPath(import.meta.url), [...process.argv.slice(2), '--part', name]);
  return new Promise((resolve, reject) => {
    let result: Part | undefined;
    child.on('message', (message) => {
      result = message as Part;
    });
    child.on('exit', (code) => {
      if (result !== undefined && code === 0) resolve(result);
      else reject(new Error(`${name} ended with ${code}`));
    });
  });
}

if (values.part !== undefined) {
  const result = await measure(CONTENDERS[values.part]!());
  process.send!(result, undefined, undefined, () => process.disconnect());
} else {
  const run = new BenchmarkRun('parquet', { short: values.short });
  const chosen = partsOf(values.only, Object.keys(CONTENDERS));
  const names = chosen ?? Object.keys(CONTENDERS);
  const parts = new Map<string, Part[]>(names.map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round++) {
    // The order rotates: a disturbance of the machine does not always hit the same one.
    for (let k = 0; k < names.length; k++) {
      const name = names[(k + round) % names.length]!;
      parts.get(name)!.push(await part(name));
    }
  }
  const results = names.map((name) => {
    const rounds = parts.get(name)!;
    const cpu = median(rounds.map((each) => each.cpu));
    return {
      name,
      title: CONTENDERS[name]!().title,
      cpu,
      min: Math.min(...rounds.map((each) => each.cpu)),
      max: Math.max(...rounds.map((each) => each.cpu)),
      wall: median(rounds.map((each) => each.wall)),
      bytes: median(rounds.map((each) => each.bytes)),
      recordsPerSecond: 1e9 / cpu,
    };
  });
  console.log(`${BATCHES} batches of 1024 reports, ${parts.get(names[0]!)![0]!.records} hop records; ${ROUNDS} rounds`);
  for (const { title, cpu, min, max, wall, bytes, recordsPerSecond } of results) {
    console.log(
      `${title.padEnd(34)} ${cpu.toFixed(0).padStart(6)} ns (${min.toFixed(0)} to ${max.toFixed(0)}) per hop record, ` +
        `${Math.round(recordsPerSecond).toLocaleString('en')}/s per core; ${wall.toFixed(0)} ns elapsed; ${bytes.toFixed(1)} bytes`,
    );
  }
  const ours = results.find(({ name }) => name === 'zstd');
  const isMet = ours === undefined || ours.recordsPerSecond >= WANTED;
  if (ours !== undefined) console.log(`at least ${WANTED.toLocaleString('en')}/s per core: ${isMet ? 'yes' : 'NO'}`);
  if (!values['no-file'] && !values.short) {
    const duckdb = JSON.parse(
      readFileSync(new URL('../../node_modules/@duckdb/node-api/package.json', import.meta.url), 'utf8'),
    ) as { version: string };
    const records = parts.get(names[0]!)![0]!.records;
    const content = { duckdb: duckdb.version, records, rounds: ROUNDS, results };
    const saved = run.save('parquet', content, {
      parts: chosen,
      merge: (before, now) => ({ ...before, results: mergeRows(({ name }) => name, before.results, now.results) }),
    });
    await run.saveChart('parquet', parquetChart(saved.results));
  }
}
