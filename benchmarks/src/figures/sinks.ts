/** Figures of sinks: Kafka, the spool before it, Parquet. */
import { markdownTable, paragraph } from '@int/harness';
import { median } from '../decode/statistics.js';
import { machineOf, one, pick, range, results, two, whole } from './reading.js';

interface Form {
  readonly format: string;
  readonly compression: string;
  readonly bare: readonly { readonly cpuNs: number }[];
  readonly sink: readonly { readonly cpuNs: number }[];
  readonly ratio: number;
}

interface Spooled {
  readonly brokers: string;
  readonly batch: number;
  readonly durability: string;
  readonly sync: string;
  readonly rounds: readonly unknown[];
  readonly median: {
    readonly cpuNs: number;
    readonly wallNs: number;
    readonly takenNs: number;
    readonly waitMs: number;
    readonly longWaitMs: number;
  };
}

interface Written {
  readonly name: string;
  readonly cpu: number;
  readonly bytes: number;
  readonly recordsPerSecond: number;
}

const readKafka = () => results<{ readonly forms: readonly Form[] }>('kafka');
const readSpool = () =>
  results<{ readonly records: number; readonly diskMs: number; readonly forms: readonly Spooled[] }>(
    'kafka-durability',
  );
const readParquet = () =>
  results<{ readonly records: number; readonly rounds: number; readonly results: readonly Written[] }>('parquet');

function kafka(): string {
  const { forms } = readKafka();
  const cpu = (rounds: Form['bare']): string => whole(median(rounds.map(({ cpuNs }) => cpuNs)));
  return [
    markdownTable(
      ['format, compression', 'client alone', '`KafkaSink`', 'ratio'],
      forms.map(({ format, compression, bare, sink, ratio }) => [
        `${format}, ${compression}`,
        cpu(bare),
        cpu(sink),
        two(ratio),
      ]),
    ),
    paragraph(
      'ns of processor time per message, medians; the ratio is the median over',
      `${forms[0]!.bare.length} rounds of the ratio within a round.`,
    ),
  ].join('\n\n');
}

/** Reports a second, as far as they are the same from run to run. */
const taken = ({ median: { takenNs } }: Spooled): string => whole(Math.round(1e6 / takenNs) * 1000);

/** What never waits for the disk is shown with a broker alone. */
const isShown = ({ brokers, sync }: Spooled): boolean => brokers === 'there' || sync !== 'never';

function spool(): string {
  const all = readSpool();
  return [
    paragraph(`This disk takes ${two(all.diskMs)} ms to force 256 KiB.`),
    markdownTable(
      [
        'brokers, batch, durability, sync',
        'ns of processor time per report',
        'a batch waits, ms',
        '99 of 100 wait less than, ms',
        'taken a second',
      ],
      all.forms
        .filter(isShown)
        .map((form) => [
          `${form.brokers}, ${form.batch}, ${form.durability}, ${form.sync}`,
          whole(form.median.cpuNs),
          two(form.median.waitMs),
          two(form.median.longWaitMs),
          taken(form),
        ]),
    ),
    paragraph(
      `Medians of ${all.forms[0]!.rounds.length} rounds of ${whole(all.records)} reports, on a ${machineOf(all)}. A batch waits for the time between two`,
      'commits (`commitMs`, 5).',
    ),
  ].join('\n\n');
}

/** For the README of the sink. */
function spoolInShort(): string {
  const all = readSpool();
  const rows = [1000, 64].flatMap((batch) =>
    ['memory', 'spool'].map((durability) => {
      const form = pick(
        all.forms,
        `${durability} of ${batch}`,
        (each) =>
          each.brokers === 'there' &&
          each.batch === batch &&
          each.durability === durability &&
          each.sync === (durability === 'memory' ? 'segment' : 'chunk'),
      );
      const wait = form.median.waitMs;
      return [
        durability === 'memory' ? `${batch} reports` : '',
        `\`${durability}\``,
        `${wait < 0.1 ? two(wait) : one(wait)} ms`,
        `${one(form.median.cpuNs / 1000)} µs`,
        taken(form),
      ];
    }),
  );
  return [
    paragraph(
      `The cost, measured on two cores with a broker beside the sink, and a disk that takes ${one(all.diskMs)} ms to force 256 KiB (benchmark`,
      `\`kafka-durability\`; medians of ${all.forms[0]!.rounds.length} rounds, \`commitMs\` 5). The benchmark gives the sink one batch at a time and waits for`,
      'it:',
    ),
    markdownTable(['batch', '`durability`', 'a batch waits', 'processor time per report', 'reports a second'], rows, 2),
  ].join('\n\n');
}

const TITLES: Readonly<Record<string, string>> = {
  zstd: '`ParquetSink`, zstd, 47 columns',
  snappy: '`ParquetSink`, snappy',
  none: '`ParquetSink`, none',
  appender: 'row appender of DuckDB, zstd, 21 columns',
  columns: 'columns as they are, into a file',
};

function parquet(): string {
  const all = readParquet();
  return [
    paragraph(`On a ${machineOf(all)}, ${whole(all.records)} hop records, medians of ${all.rounds} rounds:`),
    markdownTable(
      ['', 'ns per hop record', 'a second per core', 'bytes'],
      all.results.map(({ name, cpu, recordsPerSecond, bytes }) => [
        TITLES[name] ?? name,
        whole(cpu),
        whole(recordsPerSecond),
        one(bytes),
      ]),
    ),
  ].join('\n\n');
}

/** For FIGURES.md. */
export function sinksInWords(): string {
  const ratios = readKafka().forms.map(({ ratio }) => ratio);
  const perSecond = (name: string): string =>
    whole(pick(readParquet().results, name, (each) => each.name === name).recordsPerSecond);
  return `\`KafkaSink\` takes ${range(ratios, two)} times the processor time of the client it is built on, at equal batches, compression and acknowledgement (on a ${machineOf(readKafka())}). \`ParquetSink\` writes ${perSecond('zstd')} hop records of 47 columns a second per core (zstd; the engine's row appender ${perSecond('appender')} of 21).`;
}

export const sinks = { kafka, 'kafka-durability': spool, 'kafka-durability-in-short': spoolInShort, parquet };
