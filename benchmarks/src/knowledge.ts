/**
 * The knowledge plane: processor time per report with 100,000 flows that are known, reports of three hops, against the least that one would write
 * instead: a Map from the text of a flow to its counts, and one by destination.
 *
 * `--short`: fewer reports, one round. `--no-file`.
 */
import { BatchDecoder, type Frames, TelemetryBatch } from '@int/codec';
import { BenchmarkRun, printTable, readOptions } from '@int/harness';
import { KnowledgePlane } from '@int/knowledge';
import { MAX_REPORT_BYTES, ReportStream } from '@int/traffic';

const values = readOptions({});
const ROUNDS = values.short ? 2 : 7;
const FRAMES = 1024;
/** Batches kept in memory; about 2 million reports in the long form. */
const BATCHES = values.short ? 400 : 2000;
const FLOWS = 100_000;
const RATE = 100_000;
/** What the package promises, in nanoseconds a report. */
const WANTED = 150;
const run = new BenchmarkRun('knowledge', { short: values.short });

/** Reports to decode, a batch at a time: a consumer gets them while they are in the processor's caches. */
function undecoded(): (Frames & { readonly count: number })[] {
  const stream = new ReportStream({ topology: 'leaf-spine:8x4', flows: FLOWS, ratePps: RATE, seed: 7 });
  const { startNs } = stream.settings;
  return Array.from({ length: BATCHES }, () => {
    const bytes = new Uint8Array(FRAMES * MAX_REPORT_BYTES);
    const offsets = new Uint32Array(FRAMES);
    const lengths = new Uint32Array(FRAMES);
    const times = new Float64Array(FRAMES);
    const count = stream.fill(bytes, offsets, lengths, times);
    const kept = bytes.slice(0, offsets[count - 1]! + lengths[count - 1]!);
    const timestampsHigh = new Uint32Array(FRAMES);
    const timestampsLow = new Uint32Array(FRAMES);
    for (let row = 0; row < count; row++) {
      const time = startNs + BigInt(Math.floor(times[row]!));
      timestampsHigh[row] = Number(time >> 32n);
      timestampsLow[row] = Number(time & 0xffffffffn);
    }
    return { bytes: kept, offsets, lengths, timestampsHigh, timestampsLow, count };
  });
}

/** Counts by flow and destination, as one writes it in an afternoon. */
function byMaps(): (batch: TelemetryBatch) => void {
  const flows = new Map<string, { reports: number; lastNs: number }>();
  const destinations = new Map<number, number>();
  return (batch) => {
    for (let row = 0; row < batch.reports; row++) {
      const key = `${batch.source0[row]}>${batch.destination0[row]}:${batch.ports[row]}/${batch.protocol[row]}`;
      const flow = flows.get(key);
      const lastNs = batch.frameTimeLow[batch.frame[row]!]!;
      if (flow === undefined) flows.set(key, { reports: 1, lastNs });
      else {
        flow.reports++;
        flow.lastNs = lastNs;
      }
      const destination = batch.destination0[row]!;
      destinations.set(destination, (destinations.get(destination) ?? 0) + 1);
    }
  };
}

let found = { incidents: 0, lost: 0 };
function byPlane(): (batch: TelemetryBatch) => void {
  const plane = new KnowledgePlane({}, { incident: () => {} });
  return (batch) => {
    plane.observe(batch);
    const { incidents, untracked } = plane.totals();
    found = { incidents, lost: Object.values(untracked).reduce((sum, count) => sum + count, 0) };
  };
}

const inputs = undecoded();
const reports = inputs.reduce((sum, { count }) => sum + count, 0);
const batch = new TelemetryBatch({ frames: FRAMES, hops: 5 * FRAMES });
const decoder = new BatchDecoder({ linkType: 'report' });

/** Processor time per report of the second half of the input, with decoding. Flows are known from the first half. */
function nsOf(consumer: (batch: TelemetryBatch) => void): number {
  const half = inputs.length / 2;
  let before = process.cpuUsage();
  for (const [k, input] of inputs.entries()) {
    if (k === half) before = process.cpuUsage();
    batch.clear();
    decoder.decode(batch, input);
    consumer(batch);
  }
  return (process.cpuUsage(before).user * 1000) / (reports / 2);
}

const rounds = Array.from({ length: ROUNDS }, () => ({
  decode: nsOf(() => {}),
  plane: nsOf(byPlane()),
  maps: nsOf(byMaps()),
}));
const least = (name: 'decode' | 'plane' | 'maps'): number => Math.min(...rounds.map((round) => round[name]));
const decode = least('decode');
const plane = least('plane') - decode;
const maps = least('maps') - decode;
printTable(
  `${reports} reports of ${FLOWS} flows, ${RATE} a second`,
  ['', 'ns/report', 'times the maps'],
  [
    ['KnowledgePlane.observe', plane.toFixed(1), (plane / maps).toFixed(2)],
    ['two Maps', maps.toFixed(1), '1.00'],
    ['decoding, beside', decode.toFixed(1), (decode / maps).toFixed(2)],
  ],
);
const memoryBytes = KnowledgePlane.byteLength();
const targets = { [`at most ${WANTED} ns a report`]: plane <= WANTED };
console.log(`tables: ${(memoryBytes / 1e6).toFixed(1)} MB; ${found.incidents} incidents, ${found.lost} not tracked`);
for (const [text, isMet] of Object.entries(targets)) console.log(`  ${isMet ? 'met   ' : 'MISSED'} ${text}`);
if (!values['no-file'])
  run.save('knowledge', { reports, flows: FLOWS, plane, maps, decode, rounds, memoryBytes, ...found, targets });
