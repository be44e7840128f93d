/** Figures of detection. */
import { markdownTable, paragraph } from '@int/harness';
import type { Figures, Result, RuleResult } from '../detect/results.js';
import type { Watches } from '../watches.js';
import { contender, one, percent, range, results, two, whole } from './reading.js';

interface Detection {
  readonly results: readonly Result[];
  readonly rules: readonly RuleResult[];
}

const read = () => results<Detection>('detect');
const C = 'C -O3 -march=native';
const OURS = 'accelerator in place';
const share = (value: number): string => percent(value, value < 0.01 ? 2 : 1);

function table(): string {
  return markdownTable(
    [
      'detector',
      'reports with an event',
      'C',
      'accelerator',
      'x C',
      'TypeScript',
      'exact state',
      'observe',
      'Maps',
      'Maps / accelerator',
    ],
    read().results.map(({ detector, withEvent, contenders }) => {
      const of = (name: string): Figures => contender(contenders, name);
      return [
        detector,
        share(withEvent),
        one(of(C).median),
        one(of(OURS).median),
        two(of(OURS).ratioToC),
        one(of('plain TypeScript').median),
        one(of('accelerator, exact state').median),
        of('objects (observe)').median.toFixed(0),
        of('objects and Maps').median.toFixed(0),
        one(of(OURS).fasterThanPeer),
      ];
    }),
  );
}

/** The targets, and by whom they are met. */
function targets(): string {
  const all = read().results;
  const missing = (name: string, isMet: (figures: Figures) => boolean): string[] => [
    ...new Set(
      all.filter(({ contenders }) => !isMet(contender(contenders, name))).map(({ detector }) => `\`${detector}\``),
    ),
  ];
  const but = (names: readonly string[]): string =>
    names.length === 0 ? 'for every detector' : `for all but ${names.join(' and ')}`;
  const missed = missing(OURS, ({ ratioToC, fasterThanPeer }) => ratioToC! <= 2 && fasterThanPeer >= 5);
  const plain = all.map(({ contenders }) => contender(contenders, 'plain TypeScript').ratioToC!);
  const slow = missing('plain TypeScript', ({ fasterThanPeer }) => fasterThanPeer >= 5);
  return paragraph(
    `The targets are at most 2 x C, and 5 times as fast as objects and Maps. The accelerator meets both ${but(missed)}.`,
    `Plain TypeScript is ${range(plain, (value) => value.toFixed(1))} times C, and meets the second ${but(slow)}.`,
    '`observe` is slower than objects and Maps: it is for convenience, not for high rates.',
  );
}

function rules(): string {
  const ns = (value: number): string => `${value.toFixed(1)} ns`;
  return markdownTable(
    [
      'rules',
      'reports that match',
      'classifier, new flows',
      'classifier, known flows',
      'detector, known flows',
      'detector, a single rule for all',
      'linear scan',
    ],
    read().rules.map(({ rules: count, matched, contenders }) => [
      count,
      percent(matched),
      ...[
        'classifier, new flows',
        'classifier, known flows',
        'detector, known flows',
        'detector, a single rule for all',
        'linear scan',
      ].map((name) => ns(contender(contenders, name).median)),
    ]),
  );
}

/** Detectors at the least share of events that FIGURES.md shows. */
function some(): string {
  const all = read();
  const rows = ['perHop', 'perFlow', 'movingAverage', 'complex'].map((wanted) => {
    const { contenders } = all.results.find(({ detector }) => detector === wanted)!;
    const ours = contender(contenders, OURS);
    return [
      wanted === 'complex' ? 'complex expression' : wanted,
      one(contender(contenders, C).median),
      one(ours.median),
      two(ours.ratioToC),
      one(contender(contenders, 'plain TypeScript').median),
      whole(contender(contenders, 'objects and Maps').median),
    ];
  });
  return markdownTable(
    [
      'detector',
      'C, -O3 -march=native',
      '`Detector`, accelerator',
      'ratio to C',
      'plain TypeScript',
      'objects and Maps',
    ],
    rows,
  );
}

/** Detectors that look at time, beside the moving average. */
function watches(): string {
  const rows = Object.entries(results<Watches>('watches').watches);
  return markdownTable(
    ['detector', 'ns a report', 'of the moving average'],
    rows.map(([name, { min, ratio }]) => [name, one(min), two(ratio)]),
  );
}

/** What it costs that all rules look. */
function decisions(): string {
  const { decisions: by } = results<Watches>('watches');
  const [first, all] = ['detector, known flows', 'detector, decide: all'].map((name) => by[name]!.min);
  return paragraph(
    `Ten rules, of which each report has to be compared with all: \`decide: all\` takes ${one(all!)} ns a report, the accelerator's`,
    `\`decide: first\` ${one(first!)} ns.`,
  );
}

/** What it takes to find a rule among many. */
export function findingARule(): string {
  const most = read().rules.at(-1)!;
  const ns = (name: string): string => `${contender(most.contenders, name).median.toFixed(0)} ns`;
  return `A rule is found in ${ns('classifier, known flows')} among ${whole(most.rules)} for a known flow, in ${ns('classifier, new flows')} for new ones.`;
}

export const detect = {
  'detect-table': table,
  'detect-targets': targets,
  'detect-rules': rules,
  'detect-some': some,
  'detect-watches': watches,
  'detect-decisions': decisions,
};
