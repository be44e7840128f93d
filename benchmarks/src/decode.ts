/**
 * Decoding of telemetry reports v2.0 with INT-MD: the batch path of @int/codec against the same algorithm in C and
 * against binary-parser.
 *
 * For each shape (hops x words per hop), all contenders decode the same reports, from a buffer too large for the
 * caches, turn by turn in each round, so that a disturbance of the machine hits all of them. Before that, each must
 * have produced the same checksum over all cells (objects: the same fields). Figures are medians over the rounds.
 *
 * `--short`: a smaller buffer and few rounds. `--batch N`: frames a call. `--rounds N`, `--megabytes N`.
 * `--shapes 1x1,5x4,mixed`: these alone, which replace those in the file of results; `--no-file`.
 */
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AcceleratorMemory } from '@int/codec';
import { BenchmarkRun, mergeRows, partsOf, readOptions } from '@int/harness';
import { type Contender, columnContenders, objectContenders } from './decode/contenders.js';
import { buildNative, NativeDecoder, writeFrames } from './decode/native.js';
import { fillReports, MIXED, type Reports, reportBytes, SHAPES, type Shape } from './decode/shapes.js';
import { fitLine, median } from './decode/statistics.js';

const values = readOptions({
  batch: { type: 'string', default: '1024' },
  rounds: { type: 'string' },
  megabytes: { type: 'string' },
  shapes: { type: 'string' },
});
const run = new BenchmarkRun('decode', { short: values.short });
const ROUNDS = Number(values.rounds ?? (values.short ? 1 : 15));
const MEGABYTES = Number(values.megabytes ?? (values.short ? 4 : 256));
const BATCH = Number(values.batch);
const C_REFERENCE = 'C -O3 -march=native';
const ACCELERATOR = 'accelerator in place';
const PARSER = 'binary-parser, lean';
/** What is asked of the batch path. */
const TARGET = { ratioToC: 1.5, fasterThanParser: 20, nanoseconds4x8: 700, factor4x8: 8 } as const;

interface Figures {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  /** Median over the rounds of: this contender's time in the round / that of C. */
  readonly ratioToC: number | null;
  readonly ratioOfMinimaToC: number | null;
  readonly parserRatio: number | null;
}

interface ShapeResult {
  readonly shape: string;
  readonly bytesPerReport: number;
  readonly reports: number;
  readonly checksum: number;
  readonly contenders: Record<string, Figures>;
}

async function measure(name: string, of: readonly Shape[], compiler: string | undefined): Promise<ShapeResult> {
  const largest = Math.max(...of.map(reportBytes));
  const size = of.reduce((sum, shape) => sum + reportBytes(shape), 0) / of.length;
  const count = Math.floor((MEGABYTES * 1024 * 1024) / size);
  // Random shapes do not add up to the mean exactly.
  const bytes = Math.ceil((count * size) / 4) * 4 + (of.length === 1 ? 0 : (1 << 20) + largest);
  const memory = new AcceleratorMemory(bytes + 8 * count + (8 << 20));
  const inside = fillReports(of, memory.bytes(bytes), memory.words(count), memory.words(count));
  const outside: Reports = {
    ...inside,
    bytes: inside.bytes.slice(),
    offsets: inside.offsets.slice(),
    lengths: inside.lengths.slice(),
  };
  const columns = columnContenders(memory, inside, outside, BATCH);
  const checksum = columns[0]!.checksum;
  const contenders: Contender[] = [];
  const natives: NativeDecoder[] = [];
  const path = join(tmpdir(), `int-benchmark-${process.pid}.frames`);
  try {
    if (compiler !== undefined) {
      writeFrames(path, inside, { frames: BATCH, hops: BATCH * 8 });
      for (const [name, program] of [
        [C_REFERENCE, 'decode_bench'],
        ['C -O2', 'decode_bench_O2'],
      ] as const) {
        const native = await NativeDecoder.start(program, path, BATCH);
        natives.push(native.decoder);
        if (native.reports !== count || native.checksum !== checksum) throw new Error(`${name}: other columns`);
        contenders.push({ name, pass: () => native.decoder.pass() });
      }
    }
    for (const contender of columns) {
      if (contender.checksum !== checksum) throw new Error(`${contender.name}: other columns`);
    }
    contenders.push(...columns, ...(of.length === 1 ? objectContenders(outside) : []));
    const times = new Map(contenders.map(({ name }) => [name, [] as number[]]));
    for (let round = -1; round < ROUNDS; round++) {
      for (let k = 0; k < contenders.length; k++) {
        // Each round begins with another one: nobody always follows the same neighbour's state of the caches.
        const contender = contenders[(k + Math.max(0, round)) % contenders.length]!;
        const nanoseconds = await contender.pass();
        // Round -1 warms up.
        if (round >= 0) times.get(contender.name)!.push(nanoseconds);
      }
    }
    const reference = times.get(C_REFERENCE);
    const parser = times.get(PARSER);
    const figures = (list: readonly number[]): Figures => ({
      median: median(list),
      min: Math.min(...list),
      max: Math.max(...list),
      ratioToC: reference === undefined ? null : median(list.map((value, round) => value / reference[round]!)),
      ratioOfMinimaToC: reference === undefined ? null : Math.min(...list) / Math.min(...reference),
      parserRatio: parser === undefined ? null : median(parser) / median(list),
    });
    return {
      shape: name,
      bytesPerReport: Math.round(size * 10) / 10,
      reports: count,
      checksum,
      contenders: Object.fromEntries([...times].map(([name, list]) => [name, figures(list)])),
    };
  } finally {
    for (const native of natives) native.stop();
    rmSync(path, { force: true });
  }
}

function print(result: ShapeResult): void {
  console.log(
    `\n${result.shape}: ${result.bytesPerReport} bytes a report, ${result.reports} reports, ${ROUNDS} rounds`,
  );
  console.log(
    `  ${'contender'.padEnd(26)}${'ns/report'.padStart(10)}${'min'.padStart(9)}${'max'.padStart(9)}${'Mreports/s'.padStart(12)}${'x C'.padStart(8)}${'x C (min)'.padStart(11)}${'vs parser'.padStart(11)}`,
  );
  for (const [name, f] of Object.entries(result.contenders)) {
    const ratio = (value: number | null): string => (value === null ? '-' : value.toFixed(2));
    console.log(
      `  ${name.padEnd(26)}${f.median.toFixed(2).padStart(10)}${f.min.toFixed(2).padStart(9)}${f.max.toFixed(2).padStart(9)}${(1000 / f.median).toFixed(2).padStart(12)}${ratio(f.ratioToC).padStart(8)}${ratio(f.ratioOfMinimaToC).padStart(11)}${(f.parserRatio === null ? '-' : `${f.parserRatio.toFixed(1)}x`).padStart(11)}`,
    );
  }
}

const compiler = buildNative();
if (compiler === undefined)
  console.log('no C compiler: the C contenders are left out (apt-get install build-essential)');
const chosen = partsOf(values.shapes, [...SHAPES.map(({ name }) => name), 'mixed'], 'shapes');
const shapes = SHAPES.filter(({ name }) => chosen === null || chosen.includes(name));
const results: ShapeResult[] = [];
const others: ShapeResult[] = [];
for (const shape of shapes) {
  const result = await measure(shape.name, [shape], compiler);
  print(result);
  results.push(result);
}

if (chosen === null || chosen.includes('mixed')) {
  const mixed = await measure('mixed', MIXED, compiler);
  print(mixed);
  others.push(mixed);
}

/** Nanoseconds per report = a + b * fields, of the contenders that are in every shape. */
function fitsOf(measured: readonly ShapeResult[]): Record<string, { a: number; b: number }> {
  if (measured.length < 2) return {};
  const names = Object.keys(measured[0]!.contenders).filter((name) =>
    measured.every(({ contenders }) => contenders[name] !== undefined),
  );
  return Object.fromEntries(
    names.map((name) => {
      const points = measured.map(({ shape, contenders }) => {
        const { hops, items } = SHAPES.find((each) => each.name === shape)!;
        return [hops * items, contenders[name]!.median] as const;
      });
      return [name, fitLine(points)] as const;
    }),
  );
}

/** What is asked, and whether it is met. */
function targetsOf(measured: readonly ShapeResult[]): Record<string, boolean> {
  const targets: Record<string, boolean> = {};
  for (const { shape, contenders } of measured) {
    const f = contenders[ACCELERATOR];
    // A file may have shapes that were measured when it had another name.
    if (f === undefined) continue;
    if (f.ratioToC !== null) {
      targets[`${shape}: ${f.ratioToC.toFixed(2)} x C, at most ${TARGET.ratioToC}`] = f.ratioToC <= TARGET.ratioToC;
    }
    if (f.parserRatio !== null) {
      targets[
        `${shape}: ${f.parserRatio.toFixed(1)} x faster than binary-parser, at least ${TARGET.fasterThanParser}`
      ] = f.parserRatio >= TARGET.fasterThanParser;
    }
    if (shape !== '4x8') continue;
    const factor = TARGET.nanoseconds4x8 / f.median;
    targets[
      `4x8: ${f.median.toFixed(1)} ns, ${factor.toFixed(1)} x faster than ${TARGET.nanoseconds4x8} ns, at least ${TARGET.factor4x8}`
    ] = factor >= TARGET.factor4x8;
  }
  return targets;
}

console.log('\ncost by number of fields (words on the stack), ns per report = a + b * fields:');
for (const [name, { a, b }] of Object.entries(fitsOf(results)))
  console.log(`  ${name.padEnd(26)} a = ${a.toFixed(2)} ns, b = ${b.toFixed(3)} ns`);
console.log(`\ntargets (${ACCELERATOR}):`);
for (const [text, isMet] of Object.entries(targetsOf(results))) console.log(`  ${isMet ? 'met   ' : 'MISSED'} ${text}`);

if (!values['no-file']) {
  const settings = { rounds: ROUNDS, megabytes: MEGABYTES, batch: BATCH };
  const content = {
    compiler: compiler ?? null,
    settings,
    results,
    others,
    fits: fitsOf(results),
    targets: targetsOf(results),
  };
  const nameOf = ({ shape }: ShapeResult): string => shape;
  run.save('decode', content, {
    parts: chosen,
    merge: (before, now) => {
      const all = mergeRows(nameOf, before.results, now.results);
      const rest = { others: mergeRows(nameOf, before.others, now.others), fits: fitsOf(all), targets: targetsOf(all) };
      return { ...before, results: all, ...rest };
    },
  });
}
