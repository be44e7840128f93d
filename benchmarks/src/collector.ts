/**
 * The collector as a whole: what receiving, decoding, detection, flow cache, message and delivery to Kafka and to Parquet cost
 * on the core that does it, from UDP and from AF_XDP; how many reports a second arrive at the end; and the load by rate, as
 * in figure 6 of the paper on knowledge-defined networking; beside it goflow2, where it is installed. The broker runs on the
 * sender's core.
 *
 * Everything happens in a network namespace of its own, which needs root and two processors; where that is not possible,
 * a line says why. `--short`: one round of few stages. `--only stages,throughput,load,peer`: these parts alone, which replace
 * those in the file of results; `--rounds N`, `--no-file`.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { xdpSupport } from '@int/afxdp';
import { BenchmarkRun, partsOf, readOptions } from '@int/harness';
import { kafkaVersion, missingForKafka, startCluster } from '../../.ci/kafka/cluster.mjs';
import { Cable, enterNamespace, insideNamespace, SEND_CORE } from './afxdp/network.js';
import { buildPrograms, Sender } from './afxdp/programs.js';
import type { Bench } from './afxdp/speed.js';
import { measureLoad, measureStages, measureThroughput } from './collector/measure.js';
import { measurePeer } from './collector/peer.js';
import {
  loadChart,
  printLoad,
  printPeer,
  printStages,
  printThroughput,
  stageChart,
  stageTargets,
} from './collector/results.js';

const { isInside, args } = insideNamespace(process.argv.slice(2));
const values = readOptions(
  {
    only: { type: 'string' },
    rounds: { type: 'string' },
  },
  args,
);
const SHORT = values.short;
const PARTS = ['stages', 'throughput', 'load', 'peer'] as const;
const parts = partsOf(values.only, PARTS);
const wants = (part: (typeof PARTS)[number]): boolean => parts?.includes(part) ?? (!SHORT || part === 'stages');

function leaveOut(reason: string): never {
  console.log(`the collector as a whole is left out: ${reason}`);
  process.exit(0);
}

if (!isInside) {
  const outcome = enterNamespace(fileURLToPath(import.meta.url), args);
  if ('missing' in outcome) leaveOut(outcome.missing);
  process.exit(outcome.status);
}

function layCable(): Cable {
  try {
    const cable = new Cable();
    // For the broker.
    execFileSync('ip', ['link', 'set', 'lo', 'up']);
    return cable;
  } catch (error) {
    return leaveOut(`no virtual cable: ${error instanceof Error ? error.message.trim() : String(error)}`);
  }
}

const run = new BenchmarkRun('collector', { short: SHORT, args });
const built = buildPrograms();
if ('missing' in built) leaveOut(built.missing);
const cable = layCable();
const support = xdpSupport(cable.interface);
if (!support.ok) leaveOut(support.error.message);
const folder = mkdtempSync(join(tmpdir(), 'int-collector-'));
const sender = new Sender(cable, folder);
const refusal = await sender.refusal();
if (refusal !== undefined) {
  rmSync(folder, { recursive: true, force: true });
  leaveOut(refusal);
}
const missing = missingForKafka();
if (missing !== null) console.log(`without Kafka: ${missing} is missing (npm run setup:system)`);
const cluster = missing === null ? await startCluster({ brokers: 1 }) : null;
try {
  if (cluster !== null) {
    for (const { pid } of cluster.brokers) execFileSync('taskset', ['-a', '-p', '-c', String(SEND_CORE), String(pid)]);
  }
  const bench: Bench = {
    cable,
    sender,
    isShort: SHORT,
    rounds: Number(values.rounds ?? (SHORT ? 1 : 5)),
    duration: SHORT ? 0.1 : 3,
  };
  const targets = { kafka: cluster?.bootstrap.join(',') ?? null, parquet: join(folder, 'parquet') };
  const stages = wants('stages') ? await measureStages(bench, targets) : null;
  if (stages !== null) printStages(stages);
  const throughput = wants('throughput')
    ? await measureThroughput({ ...bench, rounds: Math.min(bench.rounds, 3) }, targets)
    : null;
  if (throughput !== null) printThroughput(throughput);
  const load = wants('load') ? await measureLoad(bench, targets) : null;
  if (load !== null) printLoad(load);
  const peer = wants('peer') && targets.kafka !== null ? await measurePeer(bench, targets.kafka) : null;
  if (wants('peer')) printPeer(peer);

  if (!values['no-file'] && !SHORT) {
    const results = {
      kafka: kafkaVersion() ?? null,
      ...(stages !== null && { stages, stageTargets: stageTargets(stages) }),
      ...(throughput !== null && { throughput }),
      ...(load !== null && { load }),
      ...(peer !== null && { peer }),
    };
    run.save('collector', results, { parts, merge: (before, now) => ({ ...before, ...now }) });
    if (stages !== null) await run.saveChart('collector-stages', stageChart(stages));
    if (load !== null && load.length > 0) await run.saveChart('collector-load', loadChart(load));
  }
} finally {
  await cluster?.close();
  rmSync(folder, { recursive: true, force: true });
}
