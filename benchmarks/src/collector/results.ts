/** Figures as text and charts, and what was asked for. */
import { type Chart, lineChart, stackedBars } from '@int/harness';
import type { Target } from '../afxdp/speed.js';
import { median } from '../decode/statistics.js';
import type { Load, StageCost, Throughput } from './measure.js';
import type { PeerCost } from './peer.js';
import { BEFORE, SOURCES, type SourceName, type StageName } from './stages.js';

/** Microseconds per INT packet of the monitoring service in the paper on knowledge-defined networking, table I. */
const PAPER_US = 7.73;

const total = ({ kernelNs, receiverNs }: StageCost): number =>
  median(kernelNs.map((kernel, round) => kernel + receiverNs[round]!));
const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

function find(costs: readonly StageCost[], source: SourceName, stage: StageName): StageCost | undefined {
  return costs.find((each) => each.source === source && each.stage === stage);
}

/** What a stage adds to the one before it. */
function added(costs: readonly StageCost[], cost: StageCost): number {
  const before = BEFORE[cost.stage];
  const below = before === null ? undefined : find(costs, cost.source, before);
  return total(cost) - (below === undefined ? 0 : total(below));
}

export function printStages(costs: readonly StageCost[]): void {
  console.log('\ncollector, ns per report on the receiving core (kernel and process); added: over the stage before');
  console.log(
    `  ${'source, up to'.padEnd(24)}${['kernel', 'process', 'sum', 'added', 'at k/s', 'lost'].map((cell) => cell.padStart(10)).join('')}`,
  );
  for (const cost of costs) {
    const { source, stage, kernelNs, receiverNs, rate, lost } = cost;
    const cells = [
      median(kernelNs).toFixed(0),
      median(receiverNs).toFixed(0),
      total(cost).toFixed(0),
      added(costs, cost).toFixed(0),
      (rate / 1000).toFixed(0),
      percent(median(lost)),
    ];
    console.log(`  ${`${source}, ${stage}`.padEnd(24)}${cells.map((cell) => cell.padStart(10)).join('')}`);
  }
  for (const { what, value, limit, isMet } of stageTargets(costs)) {
    console.log(`  ${isMet ? 'met   ' : 'missed'} ${what} ${limit}: ${value.toFixed(2)}`);
  }
}

/** The monitoring path: everything but what leaves for Kafka or a file. */
export function stageTargets(costs: readonly StageCost[]): Target[] {
  return SOURCES.flatMap((source) => {
    const cost = find(costs, source, 'detect');
    if (cost === undefined) return [];
    const value = total(cost) / 1000;
    return [
      { what: `${source}, receive to detect, us per report, below`, value, limit: PAPER_US, isMet: value < PAPER_US },
    ];
  });
}

export function stageChart(costs: readonly StageCost[]): Chart {
  const bars = SOURCES.flatMap((source) =>
    (['kafka', 'parquet'] as const).flatMap((end) => {
      const chain: StageCost[] = [];
      for (let stage: StageName | null = end; stage !== null; stage = BEFORE[stage]) {
        const cost = find(costs, source, stage);
        if (cost === undefined) return [];
        chain.unshift(cost);
      }
      const first = chain[0]!;
      const kernel = median(first.kernelNs);
      const parts = [
        { name: 'kernel', value: kernel },
        ...chain.map((cost) => ({
          name: cost.stage,
          value: cost === first ? total(cost) - kernel : added(costs, cost),
        })),
      ];
      return [{ name: `${source} to ${end}`, parts }];
    }),
  );
  return stackedBars({
    title: 'Collector: processor time by stage',
    description: `Processor time per report of 5 hops, in nanoseconds, by stage: ${bars.map(({ name }) => name).join(', ')}.`,
    unit: 'ns per report of 5 hops',
    bars,
  });
}

export function printThroughput(list: readonly Throughput[]): void {
  console.log('\nreports a second confirmed, on one core, with more sent than can be taken');
  for (const { source, stage, perSecond, lost } of list) {
    const rate = `${(median(perSecond) / 1000).toFixed(1)} k/s`;
    console.log(`  ${`${source} to ${stage}`.padEnd(24)}${rate.padStart(12)}   not taken ${percent(median(lost))}`);
  }
}

export function printLoad(list: readonly Load[]): void {
  if (list.length === 0) return;
  console.log('\nshare of a core, reports to Kafka, by reports sent a second');
  for (const { source, rate, share, lost } of list) {
    console.log(
      `  ${source.padEnd(8)}${String(rate).padStart(8)} /s${percent(share).padStart(10)}   lost ${percent(lost)}`,
    );
  }
}

export function loadChart(list: readonly Load[]): Chart {
  const series = SOURCES.map((source, look) => ({
    label: source === 'udp' ? 'UDP to Kafka' : 'AF_XDP to Kafka',
    look,
    points: list.filter((each) => each.source === source).map(({ rate, share }) => ({ x: rate, y: 100 * share })),
  }));
  return lineChart({
    title: 'Collector: load',
    description: 'Share of a core that the collector takes, by reports a second, from UDP and from AF_XDP to Kafka.',
    x: { label: 'reports a second', scale: 'categories', ticks: [...new Set(list.map(({ rate }) => rate))] },
    y: { label: 'share of a core, %', scale: 'linear' },
    series,
  });
}

export function printPeer(peer: PeerCost | null): void {
  if (peer === null) {
    console.log('\ngoflow2 is left out: it is not in the search path, nor named by INT_GOFLOW2');
    return;
  }
  const { version, rate, kernelNs, receiverNs, lost } = peer;
  const sums = kernelNs.map((kernel, round) => kernel + receiverNs[round]!);
  console.log(`\ngoflow2 (${version}), NetFlow v5 by UDP to Kafka, one record a datagram, at ${rate / 1000} k/s`);
  console.log(
    `  kernel ${median(kernelNs).toFixed(0)}, process ${median(receiverNs).toFixed(0)}, sum ${median(sums).toFixed(0)} ns per record; lost ${percent(median(lost))}`,
  );
}
