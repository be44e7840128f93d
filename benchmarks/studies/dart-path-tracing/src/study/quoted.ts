/** What the README says of the results. */
import { markdownTable } from '@int/harness';
import { headlineTable, percent, wrongWith32 } from './report.js';
import type { Results } from './results.js';

const gigabytes = (bytes: number): string => `${Number((bytes / 1e9).toPrecision(2))} GB`;
const time = (seconds: number): string =>
  seconds < 200 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} minutes`;
const points = (share: number): string => `${share > 0 ? '+' : ''}${(100 * share).toFixed(1)}`;

/** What is found, and what it took. */
export function headline(results: Results): string {
  const took = `${time(results.seconds)} on one core, ${gigabytes(results.largestBytes)} for slots`;
  return `${results.keys / 1e6} million flows (${took}), 20-byte values, 32-bit checksums, plurality:\n\n${headlineTable(results)}`;
}

/** @param fewer the same with fewer flows */
export function wrongAnswers(results: Results, fewer: Results): string {
  const { answers, expected, queries } = wrongWith32(results);
  const theory = ({ paper }: Results): number =>
    paper.byAge.find(({ bytesPerFlow, copies }) => bytesPerFlow === 300 && copies === 2)!.theory;
  return `${answers === 0 ? 'None' : answers} of ${queries / 1e6} million queries with N = 2, from 30 to 300 bytes per flow, had a wrong answer; theory expects ${expected.toPrecision(2)}.
At 1.25 billion slots, hashes of 32 bits favour some slots: with N = 2 this costs ${(100 * (theory(fewer) - theory(results))).toFixed(2)} percentage points, which theory includes.`;
}

/** The extensions, each compared with plain DART in the same memory. */
export function extensions({ adaptive, counters, insertion, loss }: Results): string {
  const gains = adaptive.map((point) => point.adaptive - point.fixed);
  const follows = adaptive.find(({ bytesPerFlow }) => bytesPerFlow === 60)!;
  const inserted = (bytes: number): (typeof insertion)[number] =>
    insertion.find(({ bytesPerFlow }) => bytesPerFlow === bytes)!;
  const gained = (bytes: number): string => points(inserted(bytes).insertion - inserted(bytes).fixed);
  const { insertionOldest, fixedOldest } = inserted(10);
  const lossy = loss.find((point) => point.copies === 2 && point.loss === 0.05)!;
  const random = loss.map((point) => 100 * (point.onePerCopy.success - point.randomCopy.success));
  const counted = counters.points.find(({ bytesPerFlow }) => bytesPerFlow === 16)!;
  const exact = (shares: readonly { readonly exact: number }[]): string =>
    percent(Math.max(...shares.map((share) => share.exact)), 1);
  return markdownTable(
    ['', 'helps?', 'by how much'],
    [
      [
        'copies that follow the load, up to 8',
        'yes, or equal',
        `${(100 * Math.min(...gains)).toFixed(0)} to ${(100 * Math.max(...gains)).toFixed(0)} percentage points more found than by the best fixed N; ${percent(follows.adaptive)} against ${percent(follows.fixed)} at 60 B/flow; costs more writes (${follows.adaptiveWrites.toFixed(1)} a key there, against ${follows.fixedCopies})`,
      ],
      [
        'COMPARE&SWAP insertion, 8-byte slots',
        'where memory is scarce',
        `${gained(80)} points at 80 B/flow, ${gained(20)} at 20, ${gained(10)} at 10; the oldest keys gain most (${percent(insertionOldest, 1)} against ${percent(fixedOldest, 1)} at 10 B/flow)`,
      ],
      [
        'multi-slot packets',
        'not what is found',
        `the same without loss, for ${lossy.multiSlot.bytes} bytes a key and one packet instead of ${lossy.onePerCopy.bytes} and two (N = 2); under loss a key is lost as a whole: ${percent(lossy.multiSlot.success, 1)} against ${percent(lossy.onePerCopy.success, 1)} at 5 %`,
      ],
      [
        "one copy at random per report, as the paper's prototype writes",
        'no',
        `${Math.min(...random).toFixed(1)} to ${Math.max(...random).toFixed(1)} points less than all copies, with as many packets`,
      ],
      [
        'FETCH&ADD counters instead of (checksum, count)',
        'no',
        `exact counts for ${exact(counted.countMin)} of the flows against ${exact(counted.plain)} at 16 B/flow; but plain slots need the count in the switch, and FETCH&ADD does not`,
      ],
    ],
    3,
  );
}
