/**
 * Packets a second of P4 programs on one core: int.p4 as transit, sink and forwarder, and a router of one table; against
 * simple_switch, if INT_SIMPLE_SWITCH and INT_P4C name it and its compiler.
 *
 * Before a time counts, both must have sent as many packets by the same ports, with the same bytes where the time of day
 * does not show in them. `--short`: fewer packets and rounds. `--only NAME,...`, `--rounds N`, `--packets N`, `--no-file`.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { PcapWriter, readCapture } from '@int/pcap';
import { median } from './decode/statistics.js';
import { CASES, type Case, COLLECTOR, OUT } from './p4vm/cases.js';
import { OurSwitch, type Pass } from './p4vm/ours.js';
import { compile, findReference, type ReferenceRun, runReference, versionOf } from './p4vm/reference.js';
import { surroundings } from './surroundings.js';

const { values } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    only: { type: 'string' },
    rounds: { type: 'string' },
    packets: { type: 'string' },
    'no-file': { type: 'boolean', default: false },
  },
});
const SHORT = values.short;
const ROUNDS = Number(values.rounds ?? (SHORT ? 2 : 5));
const PACKETS = Number(values.packets ?? (SHORT ? 20_000 : 100_000));
/** Passes of ours within a round: the first of all only warms up. */
const PASSES = 3;
const names = values.only?.split(',');
const chosen = CASES.filter(({ name }) => names === undefined || names.includes(name));
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
      const run = await runReference(reference, json, each.commands, input, PACKETS, folder);
      checkSame(each, folder, run);
      theirs.push(run.ns);
      ratios.push(run.ns / files.at(-1)!);
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
const rateOf = (name: string): number => results.find((result) => result.name === name)?.alone ?? 0;
const targets: Record<string, boolean> = {};
for (const name of ['transit', 'sink']) {
  if (chosen.some((each) => each.name === name)) {
    targets[`int.p4, ${name}: ${WANTED.toLocaleString('en')} packets a second`] = rateOf(name) >= WANTED;
  }
}
if (reference !== undefined) {
  for (const { name, ratio } of results) targets[`${name}: twice as fast as simple_switch`] = (ratio ?? 0) >= 2;
} else {
  console.log('simple_switch beside it: INT_SIMPLE_SWITCH=PATH INT_P4C="PATH [-I FOLDER]"');
}
console.log(SHORT ? '\ntargets, which are those of a full run:' : '\ntargets:');
for (const [text, isMet] of Object.entries(targets)) console.log(`  ${isMet ? 'met   ' : 'MISSED'} ${text}`);

if (!values['no-file']) {
  const out = fileURLToPath(new URL('../results/', import.meta.url));
  mkdirSync(out, { recursive: true });
  const about = {
    ...surroundings(),
    ...(reference !== undefined && { simpleSwitch: versionOf(reference) }),
  };
  writeFileSync(
    join(out, SHORT ? 'p4vm-short.json.tmp' : 'p4vm.json'),
    `${JSON.stringify({ ...about, packets: PACKETS, rounds: ROUNDS, results, targets }, null, 2)}\n`,
  );
}
