/** Figures of the collector as a whole. */
import { markdownTable, paragraph } from '@int/harness';
import type { Load, StageCost, Throughput } from '../collector/measure.js';
import type { PeerCost } from '../collector/peer.js';
import { SOURCES, type SourceName, STAGES, type StageName } from '../collector/stages.js';
import { median } from '../decode/statistics.js';
import { machineOf, one, percent, pick, results, two, whole } from './reading.js';
import { sinksInWords } from './sinks.js';

interface Collecting {
  readonly stages: readonly StageCost[];
  readonly throughput: readonly Throughput[];
  readonly load: readonly Load[];
  readonly peer: PeerCost;
}

const read = () => results<Collecting>('collector');
const sum = ({ kernelNs, receiverNs }: Pick<StageCost, 'kernelNs' | 'receiverNs'>): number =>
  median(kernelNs.map((kernel, round) => kernel + receiverNs[round]!));

function upTo(source: SourceName, stage: StageName): StageCost {
  return pick(read().stages, `${source}, ${stage}`, (each) => each.source === source && each.stage === stage);
}

/** Reports a second that reach the end, in hundreds. */
function stored(source: SourceName, stage: StageName): string {
  const found = pick(
    read().throughput,
    `${source} to ${stage}`,
    (each) => each.source === source && each.stage === stage,
  );
  return whole(Math.round(median(found.perSecond) / 100) * 100);
}

function stages(): string {
  const all = read();
  const NAMES: Partial<Record<StageName, string>> = { flows: 'flow cache', kafka: 'Kafka', parquet: 'Parquet' };
  const before = all.machine?.loadBefore;
  return [
    paragraph(
      `On a ${machineOf(all)}, ${upTo('udp', 'receive').kernelNs.length} rounds, load ${before == null ? 'not known' : one(before)} before; ns per report on the receiving core, kernel and`,
      `process, ${whole(upTo('udp', 'receive').rate)} reports a second by UDP, ${whole(upTo('afxdp', 'receive').rate)} by AF_XDP:`,
    ),
    markdownTable(
      ['up to', 'UDP', 'AF_XDP'],
      STAGES.map((stage) => [NAMES[stage] ?? stage, ...SOURCES.map((source) => whole(sum(upTo(source, stage))))]),
    ),
    paragraph(
      'The target is less than 7.73 us from receiving to detection. AF_XDP meets it. UDP does not, because `node:dgram` alone takes',
      'most of that time. Rows by UDP vary by a microsecond or two from run to run. Stored on one core, with more sent than possible:',
      `${stored('afxdp', 'kafka')} reports a second from AF_XDP to Kafka, ${stored('afxdp', 'parquet')} to Parquet; ${stored('udp', 'kafka')} and ${stored('udp', 'parquet')} by UDP.`,
      `goflow2 takes ${whole(sum(all.peer))} ns per NetFlow record, and ${percent(median(all.peer.lost))} of ${whole(all.peer.rate)} a second are lost.`,
    ),
  ].join('\n\n');
}

interface Soak {
  readonly phases: readonly {
    readonly rate: number;
    readonly seconds: number;
    readonly growth: readonly { readonly what: string; readonly from: number; readonly to: number }[];
  }[];
  readonly totals: {
    readonly received: number;
    readonly reports: number;
    readonly kernelDropped: number;
    readonly dropped: Readonly<Record<string, number>>;
    readonly stages: { readonly detection: { readonly events: number } };
    readonly sinks: Readonly<Record<string, { readonly flows: { readonly delivered: number } }>>;
  };
}

const readSoak = () => results<Soak>('collector-soak');
/** What came before the phases included: the search for the rate. */
const sentIn = ({ totals }: Soak): number => totals.received + totals.kernelDropped;

function soak(): string {
  const all = readSoak();
  const { phases, totals } = all;
  const [bearable, more] = phases as [Soak['phases'][number], Soak['phases'][number]];
  const dropped = Object.values(totals.dropped).reduce((total, count) => total + count, 0);
  const grown = (what: string, digits: number): string =>
    phases
      .map(({ growth }) => {
        const { from, to } = pick(growth, what, (each) => each.what === what);
        const mebibytes = (to - from) / 2 ** 20;
        return `${mebibytes >= 0 ? '+' : ''}${mebibytes.toFixed(digits)}`;
      })
      .join(' and ');
  return paragraph(
    `On a ${machineOf(all)}, ten minutes at ${whole(bearable.rate)} and ten at ${whole(more.rate)} a second gave ${whole(sentIn(all))} datagrams:`,
    `${whole(totals.received)} received and ${whole(totals.kernelDropped)} dropped by the kernel. Of the former, ${whole(dropped)} were dropped as truncated,`,
    `malformed or unsupported. ${whole(totals.reports)} reports, ${whole(totals.stages.detection.events)} events and ${whole(totals.sinks.kafka!.flows.delivered)} flows were all delivered to Kafka`,
    `and to Parquet and found there. Over the last 80 % of each phase the resident set changed by ${grown('rss', 0)} MiB, the heap by ${grown('heap', 1)},`,
    `memory outside of it by ${grown('external', 1)}.`,
  );
}

/** For FIGURES.md. */
function some(): string {
  const all = read();
  const us = (source: SourceName, stage: StageName): string => two(sum(upTo(source, stage)) / 1000);
  const row = (name: string, source: SourceName): string[] => [
    name,
    ...(['receive', 'detect', 'kafka', 'parquet'] as const).map((stage) => us(source, stage)),
    ...(['kafka', 'parquet'] as const).map((stage) => stored(source, stage)),
  ];
  const soaked = readSoak();
  return [
    paragraph(
      "Delivering 5-hop reports from a virtual cable: us per report on the receiving core up to each stage, the kernel's work",
      `included, and the rate that arrives when more is sent than possible (${machineOf(all)}, [benchmarks](README.md), "The collector as a`,
      'whole"):',
    ),
    markdownTable(
      ['source', 'received', 'detected', 'to Kafka', 'to Parquet', 'stored by Kafka', 'in Parquet files'],
      [row('AF_XDP', 'afxdp'), row('UDP, `node:dgram`', 'udp')],
    ),
    paragraph(
      `goflow2 takes ${one(sum(all.peer) / 1000)} us for a NetFlow record on the same core, and loses ${percent(median(all.peer.lost), 0)} of ${whole(all.peer.rate)} a second.`,
      sinksInWords(),
      `In ten minutes at ${whole(soaked.phases[0]!.rate)} datagrams a second by UDP and ten at three times that, ${whole(sentIn(soaked))} in all and one in a hundred`,
      'hostile, each was delivered to Kafka and to Parquet or counted as dropped, and memory did not grow.',
    ),
  ].join('\n\n');
}

export const collector = { 'collector-stages': stages, 'collector-soak': soak, 'collector-some': some };
