/** Figures of decoding. */
import { markdownTable, paragraph } from '@int/harness';
import { contender, machineOf, one, range, results, two, whole } from './reading.js';

interface Decoding {
  readonly settings: { readonly rounds: number; readonly megabytes: number };
  readonly results: readonly {
    readonly shape: string;
    readonly contenders: Readonly<
      Record<string, { readonly median: number; readonly ratioToC: number | null; readonly parserRatio: number | null }>
    >;
  }[];
}

const read = () => results<Decoding>('decode');

function table(): string {
  const all = read();
  const head = [
    'hops x words',
    'C, -O3 -march=native',
    '`BatchDecoder`, accelerator in place',
    'ratio to C',
    'plain TypeScript',
    'binary-parser, flat words',
  ];
  const rows = all.results.map(({ shape, contenders }) => {
    const ours = contender(contenders, 'accelerator in place');
    return [
      shape.replace('x', ' x '),
      one(contender(contenders, 'C -O3 -march=native').median),
      one(ours.median),
      two(ours.ratioToC),
      one(contender(contenders, 'plain TypeScript columns').median),
      whole(contender(contenders, 'binary-parser, lean').median),
    ];
  });
  const copied = all.results.map(({ contenders }) => contender(contenders, 'accelerator, input copied in').ratioToC!);
  return [
    paragraph(
      `Decoding telemetry reports v2.0 with INT-MD inside, from a ${all.settings.megabytes} MB buffer, on one core of a ${machineOf(all)}`,
      `(\`npm run bench\`; medians of ${all.settings.rounds} interleaved rounds, ns per report, raw figures in [results](results)):`,
    ),
    markdownTable(head, rows),
    paragraph(
      "The ratio is the median over the rounds, which stays valid when the machine's speed drifts. C fills the same columns with",
      'the same checks, without vector intrinsics. The accelerator needs its input in its own memory; with input copied in, the',
      `ratio is ${range(copied, two)}. [benchmarks](README.md) describes the method.`,
    ),
  ].join('\n\n');
}

/** Against C, and how many times as fast as binary-parser: reports of 5 hops. */
export function decodingOf5Hops(): { ratioToC: number; parserRatio: number } {
  const { contenders } = read().results.find(({ shape }) => shape === '5x4')!;
  const { ratioToC, parserRatio } = contender(contenders, 'accelerator in place');
  return { ratioToC: ratioToC!, parserRatio: parserRatio! };
}

export const decode = { decode: table };
