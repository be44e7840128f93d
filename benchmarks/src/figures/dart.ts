/** Figures of the DART store, and of inserting a report. */
import { markdownTable, paragraph } from '@int/harness';
import type { Results } from '../dart/results.js';
import { type Insertions, type Name, SIZES } from '../dart-insertion/results.js';
import { contender, one, percent, range, results, two, whole } from './reading.js';

interface Times {
  readonly median: number;
  readonly ratioToC: number | null;
  readonly ratioToPrefetch: number | null;
}

const read = () => results<Results>('dart');
const C = 'C -O3 -march=native';
const PREFETCH = 'C -O3, prefetch';
const IN_PLACE = 'accelerator, rows in place';
const COPIED = 'accelerator, rows copied in';
const PLAIN = 'plain TypeScript';
type Speed = Results['speed'][number];

const nameOf = ({ shape }: Speed): string => `${shape.hash}, ${shape.copies}`;

/** Nanoseconds a key, and against C without and with prefetch. */
function keysTable(times: (speed: Speed) => Readonly<Record<string, Times>>): string {
  const head = ['hashes, copies', 'C -O3', 'C -O3, prefetch'];
  const ours = ['accelerator, in place', 'x C', 'accelerator, copied in', 'x C', 'plain TypeScript', 'x C'];
  return markdownTable(
    [...head, ...ours],
    read().speed.map((speed) => {
      const of = (name: string): Times => contender(times(speed), name);
      const both = (name: string, digits: number): string[] => [
        of(name).median.toFixed(digits),
        `${two(of(name).ratioToC)} / ${two(of(name).ratioToPrefetch)}`,
      ];
      return [
        nameOf(speed),
        one(of(C).median),
        one(of(PREFETCH).median),
        ...both(IN_PLACE, 1),
        ...both(COPIED, 1),
        ...both(PLAIN, 0),
      ];
    }),
  );
}

function random(): string {
  return markdownTable(
    [
      'hashes, copies',
      'random write, C / prefetch / TypeScript, ns',
      'C -O3',
      'accelerator, in place',
      'accelerator, copied in',
      'plain TypeScript',
    ],
    read().speed.map((speed) => {
      const raw = ['C', 'C, prefetch', 'TypeScript'].map((by) => contender(speed.raw, `random 24-byte writes, ${by}`));
      return [
        nameOf(speed),
        raw.map(({ median }) => one(median)).join(' / '),
        ...[C, IN_PLACE, COPIED, PLAIN].map((name) => {
          const { plain, prefetch } = contender(speed.shareOfRaw, name);
          return `${(100 * plain!).toFixed(0)} / ${percent(prefetch!, 0)}`;
        }),
      ];
    }),
  );
}

function objects(): string {
  const { write, query, bytesPerKey } = read().objects!;
  return markdownTable(
    ['', 'ns a write', 'ns a query', 'bytes a key'],
    Object.keys(write).map((name) => [
      name,
      write[name]!.median.toFixed(0),
      query[name]!.median.toFixed(0),
      bytesPerKey[name]!.toFixed(0),
    ]),
  );
}

function frames(): string {
  return markdownTable(
    ['', 'ns a frame', 'million a second', 'x C'],
    Object.entries(read().rnic!.receive).map(([name, times]) => [
      name.replace('kernel', 'accelerator'),
      one(times.median),
      one(1000 / times.median),
      two(times.ratioToC),
    ]),
  );
}

function targets(): string {
  const { speed, rnic } = read();
  const ratios = speed.flatMap(({ write, query }) =>
    [write, query].flatMap((times) => {
      const { ratioToC, ratioToPrefetch } = contender<Times>(times, IN_PLACE);
      return [ratioToC!, ratioToPrefetch!];
    }),
  );
  const shares = speed.flatMap(({ shareOfRaw }) => {
    const { plain, prefetch } = contender(shareOfRaw, IN_PLACE);
    return [plain!, prefetch!];
  });
  const frame = contender<Times>(rnic!.receive, 'accelerator, frames in place').ratioToC!;
  return paragraph(
    'The targets are writes and queries at most 1.3 x C, slots written at least at 60 % of the rate of random writes, and frames',
    `at most 2 x C. The accelerator with rows in place takes ${range(ratios, two)} x C, writes at ${range(shares, (value) => percent(value, 0))} of`,
    `that rate, and takes ${two(frame)} x C for frames: for both families and 2 and 4 copies, against C with and without prefetch.`,
  );
}

/** For FIGURES.md. */
function some(): string {
  const all = read();
  const ours = '`DartStore`, accelerator';
  const cells = (times: Readonly<Record<string, Times>>): string[] => {
    const of = (name: string): Times => contender(times, name);
    return [one(of(C).median), one(of(IN_PLACE).median), two(of(IN_PLACE).ratioToC), of(PLAIN).median.toFixed(0)];
  };
  const table = markdownTable(
    [
      'hashes, copies',
      'write: C',
      ours,
      'ratio to C',
      'plain TypeScript',
      'query: C',
      ours,
      'ratio to C',
      'plain TypeScript',
    ],
    all.speed.map((speed) => [nameOf(speed), ...cells(speed.write), ...cells(speed.query)]),
  );
  const first = all.speed.find(({ shape }) => shape.hash === 'xxhash' && shape.copies === 2)!;
  const { write, query } = all.objects!;
  const frame = contender<Times>(all.rnic!.receive, 'accelerator, frames in place');
  const map = [write, query].map((times) => whole(times['Map, string key']!.median));
  return [
    table,
    paragraph(
      `That is ${percent(contender(first.shareOfRaw, IN_PLACE).plain!, 0)} of the machine's rate of random 24-byte writes, for 2 copies and xxhash. A Map with text`,
      `keys takes ${map.join(' and ')} ns. The software RNIC takes ${one(1000 / frame.median)} million RoCEv2 frames a second from memory, with the`,
      `iCRC checked (${two(frame.ratioToC)} x C).`,
    ),
  ].join('\n\n');
}

const inserted = () => results<{ readonly results: Insertions }>('dart-insertion').results;

function insertion(size: (typeof SIZES)[number]): string {
  return markdownTable(
    ['', 'ns', 'cycles', 'x plain UDP receive'],
    Object.values(inserted()[size]!).map(({ title, cpu, cycles, ratioToUdp }) => [
      title,
      cpu.toFixed(0),
      whole(cycles),
      two(ratioToUdp),
    ]),
  );
}

function insertionWords(): string {
  const of = (name: Name): { ratioToUdp: number | null; stored: number }[] =>
    SIZES.map((size) => inserted()[size]![name]!);
  const kafka = of('kafka').map(({ ratioToUdp }) => ratioToUdp!);
  const lost = of('udp-dart').map(({ stored }) => 1 - stored);
  return paragraph(
    `In the paper Kafka costs 11.5 times as many cycles as receiving, here ${range(kafka, two)} times: 1,000 messages go into a`,
    'request, and everything over UDP is expensive because of `node:dgram`. Of the datagrams through `UdpRnic`, up to',
    `${percent(Math.max(...lost), 2)} are not stored: when the 65,536 packets begin anew, their sequence numbers do too, and they count as`,
    'stale until 16 in a row, without a loss, have shown the restart.',
  );
}

export const dart = {
  'dart-writes': () => keysTable(({ write }) => write),
  'dart-queries': () => keysTable(({ query }) => query),
  'dart-random': random,
  'dart-objects': objects,
  'dart-frames': frames,
  'dart-targets': targets,
  'dart-some': some,
  'dart-insertion-64': () => insertion(64),
  'dart-insertion-128': () => insertion(128),
  'dart-insertion-words': insertionWords,
};
