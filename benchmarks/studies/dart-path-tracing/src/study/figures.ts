/** The charts of the study. */
import { bestCopies, outcomesAtLoad } from '@int/dart';
import { type Chart, lineChart } from '@int/harness';
import { FIGURE_COPIES, type PaperFigures } from './paper.js';

type Band = NonNullable<Parameters<typeof lineChart>[0]['bands']>[number];
type Series = Parameters<typeof lineChart>[0]['series'][number];

const NOTE = 'marks: simulated; lines: theory';
const at = ([x, y]: readonly [number, number]): { x: number; y: number } => ({ x, y });

/** Where which of the numbers of copies finds most, by theory. */
function bestBands(from: number, to: number): Band[] {
  const bands: Band[] = [];
  const best = (load: number): number => {
    const found = FIGURE_COPIES.map((copies) => outcomesAtLoad({ load, copies }).absent);
    return found.indexOf(Math.min(...found));
  };
  const steps = 200;
  let begun = from;
  for (let step = 1; step <= steps; step++) {
    const load = from * (to / from) ** (step / steps);
    const before = from * (to / from) ** ((step - 1) / steps);
    if (step < steps && best(load) === best(before)) continue;
    bands.push({ from: begun, to: load, label: `best: N = ${FIGURE_COPIES[best(before)]!}`, look: best(before) });
    begun = load;
  }
  return bands;
}

function byLoad({ byLoad: { keys, points } }: PaperFigures): Chart {
  const series: Series[] = [];
  const loads = Array.from({ length: 80 }, (_, at) => 0.05 * 60 ** (at / 79));
  FIGURE_COPIES.forEach((copies, look) => {
    const mine = points.filter((point) => point.copies === copies);
    const label = `N = ${copies}`;
    series.push({
      label,
      look,
      kind: 'line',
      points: loads.map((load) => at([load, outcomesAtLoad({ load, copies }).success])),
    });
    series.push({ label, look, kind: 'marks', points: mine.map(({ load, success }) => at([load, success])) });
  });
  return lineChart({
    title: 'Success of queries by load',
    description: `Share of ${keys} keys found, by keys per slot, for ${FIGURE_COPIES.join(', ')} copies. At a load of 0.2 the best number of copies is ${bestCopies(0.2)}.`,
    x: { label: 'keys per slot', scale: 'log', ticks: [0.05, 0.1, 0.2, 0.5, 1, 2, 3], domain: [0.05, 3] },
    y: { label: 'keys found', scale: 'linear', ticks: [0, 0.2, 0.4, 0.6, 0.8, 1], domain: [0, 1], format: '.0%' },
    note: NOTE,
    series,
    bands: bestBands(0.05, 3),
  });
}

function byAge({ byAge: curves }: PaperFigures): Chart {
  const series = curves.flatMap(({ bytesPerFlow, copies, ages }, look): Series[] => {
    const label = `${bytesPerFlow} B, N = ${copies}`;
    return [
      { label, look, kind: 'line', points: ages.map(({ age, theory }) => at([age, theory])) },
      { label, look, kind: 'marks', points: ages.map(({ age, success }) => at([age, success])) },
    ];
  });
  return lineChart({
    title: 'Success of queries by age of the report',
    description: `Share of keys found, by the share of all ${curves[0]?.keys} keys that was written since, for several amounts of memory per flow.`,
    x: {
      label: 'age: share of the keys written since',
      scale: 'linear',
      domain: [0, 1],
      format: '.0%',
    },
    y: { label: 'keys found', scale: 'linear', domain: [0.3, 1], format: '.0%' },
    note: NOTE,
    series,
  });
}

function wrongByMemory({ wrong }: PaperFigures): Chart {
  const series = [8, 16, 32].flatMap((bits, look): Series[] => {
    const mine = wrong.filter(({ checksumBits }) => checksumBits === bits);
    const slotBytes = 20 + bits / 8;
    const memories = Array.from({ length: 60 }, (_, at) => 20 * 20 ** (at / 59));
    const label = `b = ${bits}`;
    return [
      {
        label,
        look,
        kind: 'line',
        points: memories.map((bytes) =>
          at([bytes, outcomesAtLoad({ load: slotBytes / bytes, copies: 2, checksumBits: bits }).wrong]),
        ),
      },
      {
        label,
        look,
        kind: 'marks',
        points: mine.filter((point) => point.answers > 0).map((point) => at([point.bytesPerFlow, point.wrong])),
      },
    ];
  });
  return lineChart({
    title: 'Wrong answers by memory',
    description:
      'Share of queries with a wrong answer, by bytes per flow, for checksums of 8, 16 and 32 bits; two copies. Points without a wrong answer are not on a logarithmic scale.',
    x: { label: 'bytes per flow', scale: 'log', ticks: [20, 30, 60, 120, 200, 300, 400], domain: [20, 400] },
    y: {
      label: 'wrong answers',
      scale: 'log',
      ticks: [1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2],
      domain: [1e-12, 1e-2],
      format: '.0e',
    },
    note: NOTE,
    series,
  });
}

/** The charts, by file name. */
export function charts(figures: PaperFigures): (readonly [string, Chart])[] {
  return [
    ['success-by-load.svg', byLoad(figures)],
    ['success-by-age.svg', byAge(figures)],
    ['wrong-by-memory.svg', wrongByMemory(figures)],
  ];
}
