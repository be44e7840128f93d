/**
 * Packets a second of P4 programs on one core: int.p4 as transit, sink and forwarder, and a router of one table; against
 * simple_switch, if INT_SIMPLE_SWITCH and INT_P4C name it and its compiler.
 *
 * Before a time counts, both must have sent as many packets by the same ports, with the same bytes where the time of day
 * does not show in them. `--short`: fewer packets and rounds. `--only NAME,...`: these alone,
 * which replace those in the file of results; `--rounds N`, `--packets N`, `--no-file`.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BenchmarkRun, mergeRows, partsOf, readOptions } from '@int/harness';
import { PcapWriter, readCapture } from '@int/pcap';
import { median } from './decode/statistics.js';
import { CASES, type Case, COLLECTOR, OUT } from './p4vm/cases.js';
import { OurSwitch, type Pass } from './p4vm/ours.js';
import { compile, findReference, type ReferenceRun, runReference, versionOf } from './p4vm/reference.js';

const values = readOptions({
  only: { type: 'string' },
  rounds: { type: 'string' },
  packets: { type: 'string' },
});
const SHORT = values.short;
const ROUNDS = Number(values.rounds ?? (SHORT ? 1 : 5));
const PACKETS = Number(values.packets ?? (SHORT ? 5000 : 100_000));
/** Passes of ours within a round: the first of all only warms up. */
const PASSES = 3;
const run = new BenchmarkRun('p4vm', { short: SHORT });
const names = partsOf(
  values.only,
  CASES.map(({ name }) => name),
);
const chosen = CASES.filter(({ name }) => names === null || names.includes(name));
const reference = findReference();

interface Result {
  readonly name: string;
  readonly about: string;
  readonly frameBytes: number;
  /** Packets a second: medians over the rounds. */
  readonly alone: number;
  readonly files: number;
  readonly reference?: number;
  /** Median over the rounds of ours, from file to file, by the reference. */
  readonly ratio?: number;
  readonly ratios?: readonly number[];
}

function writeInput(path: string, { frames }: Case): number {
  const flows = frames();
  const writer = new PcapWriter({ nanosecond: false });
  const records = flows.map((data) => writer.record({ data, timeNs: 0n }));
  const parts: Uint8Array[] = [writer.header()];
  for (let i = 0; i < PACKETS; i++) parts.push(records[i % records.length]!);
  writeFileSync(path, Buffer.concat(parts));
  return flows[0]!.length;
}

function framesOf(path: string): Uint8Array[] {
  return [...readCapture(readFileSync(path))].map(({ data }) => data);
}

/** Both have done the same work. */
function checkSame({ name, copies, isTimeless }: Case, folder: string, { outputs }: ReferenceRun): void {
  const ports = copies === 1 ? [OUT] : [OUT, COLLECTOR];
  for (const port of ports) {
    const ours = framesOf(join(folder, `ours-${port}.pcap`));
    const theirs = outputs.get(port) ?? [];
    if (ours.length !== PACKETS || theirs.length !== PACKETS) {
      throw new Error(`${name}, port ${port}: ${ours.length} packets of ours, ${theirs.length} of simple_switch`);
    }
    for (const [at, frame] of ours.entries()) {
      const other = theirs[at]!;
      const isSame = isTimeless ? Buffer.compare(frame, other) === 0 : frame.length === other.length;
      if (!isSame) throw new Error(`${name}, port ${port}: packet ${at} differs`);
    }
  }
}

async function measure(each: Case): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'int-p4vm-'));
  const input = join(folder, 'in.pcap');
  const frameBytes = writeInput(input, each);
  const json = reference === undefined ? '' : compile(reference, each.program, folder);
  const ours = new OurSwitch(each.name, input, folder);
  const alone: number[] = [];
  const files: number[] = [];
  const theirs: number[] = [];
  const ratios: number[] = [];
  try {
    await ours.pass();
    for (let round = 0; round < ROUNDS; round++) {
      const passes: Pass[] = [];
      for (let pass = 0; pass < PASSES; pass++) passes.push(await ours.pass());
      if (passes.some(({ copies }) => copies !== each.copies)) throw new Error(`${each.name}: packets are missing`);
      alone.push(median(passes.map((pass) => pass.alone)));
      files.push(median(passes.map((pass) => pass.files)));
      if (reference === undefined) continue;
      const theirRun = await runReference(reference, json, each.commands, input, PACKETS, folder);
      checkSame(each, folder, theirRun);
      theirs.push(theirRun.ns);
      ratios.push(theirRun.ns / files.at(-1)!);
    }
  } finally {
    ours.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  const perSecond = (ns: readonly number[]): number => Math.round(1e9 / median(ns));
  return {
    name: each.name,
    about: each.about,
    frameBytes,
    alone: perSecond(alone),
    files: perSecond(files),
    ...(reference !== undefined && { reference: perSecond(theirs), ratio: median(ratios), ratios }),
  };
}

const results: Result[] = [];
const cell = (value: number | undefined, digits = 0): string =>
  (value === undefined
    ? ''
    : value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
  ).padStart(14);
console.log(`packets a second on one core; ${PACKETS} packets, ${ROUNDS} rounds`);
console.log(
  ['program'.padEnd(16), ...['the switch', 'pcap to pcap', 'simple_switch', 'ratio'].map((t) => t.padStart(14))].join(
    '',
  ),
);
for (const each of chosen) {
  const result = await measure(each);
  results.push(result);
  const { name, alone, files, reference: theirs, ratio } = result;
  console.log(`${name.padEnd(16)}${cell(alone)}${cell(files)}${cell(theirs)}${cell(ratio, 2)}`);
}

const WANTED = 150_000;

/** What is asked of the machine, and whether it is met. */
function targetsOf(measured: readonly Result[]): Record<string, boolean> {
  const targets: Record<string, boolean> = {};
  for (const { name, alone } of measured) {
    if (name !== 'transit' && name !== 'sink') continue;
    targets[`int.p4, ${name}: ${WANTED.toLocaleString('en')} packets a second`] = alone >= WANTED;
  }
  for (const { name, ratio } of measured) {
    if (ratio !== undefined) targets[`${name}: twice as fast as simple_switch`] = ratio >= 2;
  }
  return targets;
}

if (reference === undefined) console.log('simple_switch beside it: INT_SIMPLE_SWITCH=PATH INT_P4C="PATH [-I FOLDER]"');
console.log(SHORT ? '\ntargets, which are those of a full run:' : '\ntargets:');
for (const [text, isMet] of Object.entries(targetsOf(results))) console.log(`  ${isMet ? 'met   ' : 'MISSED'} ${text}`);

if (!values['no-file']) {
  const content = {
    ...(reference !== undefined && { simpleSwitch: versionOf(reference) }),
    packets: PACKETS,
    rounds: ROUNDS,
    results,
    targets: targetsOf(results),
  };
  run.save('p4vm', content, {
    parts: names,
    merge: (before, now) => {
      const all = mergeRows(({ name }) => name, before.results, now.results);
      return { ...before, results: all, targets: targetsOf(all) };
    },
  });
}
