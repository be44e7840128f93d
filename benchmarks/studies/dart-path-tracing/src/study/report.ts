/** The study in words and tables (Markdown). */
import { markdownTable as table } from '@int/harness';
import type { Results } from './results.js';

export const percent = (value: number, digits = 2): string => `${(value * 100).toFixed(digits)} %`;

/** What is found of scarce and of much memory. */
export function headlineTable({ paper }: Results): string {
  const shown = paper.byAge.filter(({ bytesPerFlow }) => bytesPerFlow === 300 || bytesPerFlow === 30);
  return table(
    ['memory', 'N', 'found', 'theory', 'oldest 1 % found', 'theory', 'wrong answers'],
    shown.map((curve) => [
      `${curve.bytesPerFlow} B/flow`,
      curve.copies,
      percent(curve.success),
      percent(curve.theory),
      percent(curve.oldest.success),
      percent(curve.oldest.theory),
      Math.round(curve.wrong * curve.keys),
    ]),
  );
}

/** Queries with checksums of 32 bits and two copies: how many, how many wrong answers, and how many theory expects. */
export function wrongWith32({ paper }: Results): { queries: number; answers: number; expected: number } {
  const points = paper.wrong.filter(({ checksumBits }) => checksumBits === 32);
  return {
    queries: points.reduce((sum, { keys }) => sum + keys, 0),
    answers: points.reduce((sum, { answers }) => sum + answers, 0),
    expected: points.reduce((sum, { keys, theory }) => sum + keys * theory, 0),
  };
}

function verdict(name: string, gains: readonly number[]): string {
  const [least, most] = [Math.min(...gains) * 100, Math.max(...gains) * 100];
  const points = `${least.toFixed(2)} to ${most.toFixed(2)} percentage points`;
  if (least >= 0 && most > 0) return `${name} helps or is equal at every point measured: ${points}.`;
  if (most <= 0) return `${name} does not help at any point measured: ${points}.`;
  return `${name} helps at some points and not at others: ${points}.`;
}

export function renderReport(results: Results): string {
  const { paper, adaptive, insertion, loss, counters } = results;
  const { answers, expected, queries } = wrongWith32(results);
  const best = (shares: readonly { exact: number; withinOnePercent: number; copies: number }[]): string => {
    const top = shares.reduce((one, other) => (other.exact > one.exact ? other : one));
    return `${percent(top.exact)} / ${percent(top.withinOnePercent)} (N = ${top.copies})`;
  };
  return [
    `## Headline, ${results.keys} keys, 20-byte values, 32-bit checksums`,
    headlineTable(results),
    `With 32 bits: ${answers} wrong answers in ${queries} queries with N = 2; theory expects ${expected.toPrecision(2)}.`,
    '## Wrong answers, N = 2',
    table(
      ['bits', 'memory', 'queries', 'wrong answers', 'expected'],
      paper.wrong.map((point) => [
        point.checksumBits,
        `${point.bytesPerFlow} B/flow`,
        point.keys,
        point.answers,
        (point.theory * point.keys).toPrecision(3),
      ]),
    ),
    '## Copies that follow the load',
    table(
      ['memory', 'load', 'best fixed N', 'found', 'oldest 1 %', 'adaptive', 'theory', 'oldest 1 %', 'writes per key'],
      adaptive.map((point) => [
        `${point.bytesPerFlow} B/flow`,
        point.load.toFixed(2),
        point.fixedCopies,
        percent(point.fixed),
        percent(point.fixedOldest),
        percent(point.adaptive),
        percent(point.theory),
        percent(point.adaptiveOldest),
        point.adaptiveWrites.toFixed(2),
      ]),
    ),
    verdict(
      'Adapting the copies',
      adaptive.map((point) => point.adaptive - point.fixed),
    ),
    '## Insertion by COMPARE&SWAP, 8-byte slots',
    table(
      [
        'memory',
        'load',
        'best fixed N',
        'found',
        'oldest 1 %',
        'insertion',
        'theory',
        'oldest 1 %',
        'adaptive, N <= 2',
      ],
      insertion.map((point) => [
        `${point.bytesPerFlow} B/flow`,
        point.load.toFixed(2),
        point.fixedCopies,
        percent(point.fixed),
        percent(point.fixedOldest),
        percent(point.insertion),
        percent(point.insertionTheory),
        percent(point.insertionOldest),
        percent(point.adaptive2),
      ]),
    ),
    verdict(
      'Insertion',
      insertion.map((point) => point.insertion - point.fixed),
    ),
    '## Packets, bytes on the wire and loss, 120 B/flow',
    table(
      ['N', 'loss', 'a packet per copy', 'multi-slot packet', 'random copies', 'one packet, one copy'],
      loss.map((point) => [
        point.copies,
        percent(point.loss, 0),
        ...[point.onePerCopy, point.multiSlot, point.randomCopy, point.oneCopy].map(
          ({ packets, bytes, success }) => `${percent(success)} (${packets} x ${bytes / packets} B)`,
        ),
      ]),
    ),
    verdict(
      'A multi-slot packet, against a packet per copy,',
      loss.map((point) => point.multiSlot.success - point.onePerCopy.success),
    ),
    'It takes one packet and little more than half to a third of the bytes; under loss a key is lost as a whole.',
    verdict(
      'A multi-slot packet, against one packet with one copy,',
      loss.map((point) => point.multiSlot.success - point.oneCopy.success),
    ),
    verdict(
      'Writing copies at random',
      loss.map((point) => point.randomCopy.success - point.onePerCopy.success),
    ),
    `## Packets per flow, ${counters.flows} flows, ${counters.packets} packets, Zipf ${counters.exponent}: exact / within 1 %`,
    table(
      ['memory', 'FETCH&ADD, best N', 'plain, best N', 'plain without answer'],
      counters.points.map((point) => [
        `${point.bytesPerFlow} B/flow`,
        best(point.countMin),
        best(point.plain),
        percent(Math.min(...point.plain.map(({ empty }) => empty))),
      ]),
    ),
    verdict(
      'Counting by FETCH&ADD, by exact counts,',
      counters.points.map(
        (point) =>
          Math.max(...point.countMin.map(({ exact }) => exact)) - Math.max(...point.plain.map(({ exact }) => exact)),
      ),
    ),
    'Plain slots need the count of each flow in the switch and say so when they have no answer; FETCH&ADD needs no state in the switch, always answers, and never too low.',
    `${results.seconds.toFixed(0)} s in all; the largest simulation took ${(results.largestBytes / 1e6).toFixed(0)} MB for its slots.`,
    '',
  ].join('\n\n');
}
