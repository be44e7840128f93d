/** What was measured, and how it is shown. */
import { printTable } from '@int/harness';
import {
  type ObjectsResult,
  RAW,
  RAW_PLAIN,
  RAW_PREFETCH,
  type RnicResult,
  type SpeedResult,
  type Table,
} from './speed.js';

export interface Results {
  readonly speed: readonly SpeedResult[];
  readonly objects: ObjectsResult | null;
  readonly rnic: RnicResult | null;
}

/** What is asked of the store. */
const TARGET = { ratioToC: 1.3, shareOfRaw: 0.6, rnicRatioToC: 2 } as const;

const fixed = (value: number | null | undefined, digits: number): string =>
  value === null || value === undefined ? '-' : value.toFixed(digits);
const millions = (ns: number): string => (1e3 / ns).toFixed(2);

function printFigures(title: string, unit: string, table: Table): void {
  printTable(
    title,
    ['', `ns/${unit}`, 'min', 'max', 'M/s', 'x C', 'x C, prefetch'],
    Object.entries(table).map(([name, { median, min, max, ratioToC, ratioToPrefetch }]) => [
      name,
      fixed(median, 1),
      fixed(min, 1),
      fixed(max, 1),
      millions(median),
      fixed(ratioToC, 2),
      fixed(ratioToPrefetch, 2),
    ]),
  );
}

export function printSpeed({ shape, slots, answered, write, query, raw, shareOfRaw }: SpeedResult): void {
  const of = `${slots} slots of 24 bytes, ${shape.copies} copies, ${shape.hash}`;
  printFigures(`writes of keys: ${of}`, 'key', write);
  printFigures(`queries of keys, ${(100 * answered).toFixed(1)} % answered: ${of}`, 'key', query);
  printFigures('the machine', 'write', raw);
  printTable(
    'slots written a second / random 24-byte writes a second, C',
    ['', 'plain', 'prefetch'],
    Object.entries(shareOfRaw).map(([name, { plain, prefetch }]) => [name, fixed(plain, 2), fixed(prefetch, 2)]),
  );
}

export function printObjects({ keys, write, query, bytesPerKey }: ObjectsResult): void {
  printTable(
    `instead: ${keys} keys, values of 20 bytes copied`,
    ['', 'ns/write', 'ns/query', 'bytes/key'],
    Object.keys(write).map((name) => [
      name,
      fixed(write[name]!.median, 0),
      fixed(query[name]!.median, 0),
      fixed(bytesPerKey[name], 0),
    ]),
  );
}

export function printRnic({ frames, bytesOfFrame, receive }: RnicResult): void {
  printFigures(`frames to the RNIC, iCRC looked at: ${frames} of ${bytesOfFrame} bytes`, 'frame', receive);
}

/** Each bar in words, and whether the fastest of ours meets it: against C, and against C with prefetch. */
export function* bars({ speed, rnic }: Results): Generator<readonly [text: string, isMet: boolean]> {
  for (const { shape, write, query, shareOfRaw } of speed) {
    const of = `${shape.hash}, ${shape.copies} copies`;
    for (const [what, table] of [
      ['writes', write],
      ['queries', query],
    ] as const) {
      const best = fastestOfOurs(table);
      const { ratioToC, ratioToPrefetch } = table[best]!;
      for (const [ratio, c] of [
        [ratioToC, 'C'],
        [ratioToPrefetch, 'C with prefetch'],
      ] as const) {
        if (ratio === null) continue;
        const text = `${of}: ${what}: ${best}: ${ratio.toFixed(2)} x ${c}, at most ${TARGET.ratioToC}`;
        yield [text, ratio <= TARGET.ratioToC];
      }
    }
    const best = fastestOfOurs(write);
    const shares = shareOfRaw[best];
    if (shares === undefined) continue;
    for (const [share, raw] of [
      [shares.plain, 'C'],
      [shares.prefetch, 'C with prefetch'],
    ] as const) {
      const percent = `${(100 * share).toFixed(0)} % of the random writes of ${raw}`;
      yield [`${of}: writes: ${best}: ${percent}, at least ${100 * TARGET.shareOfRaw} %`, share >= TARGET.shareOfRaw];
    }
  }
  if (rnic === null) return;
  const best = fastestOfOurs(rnic.receive);
  const ratio = rnic.receive[best]!.ratioToC;
  if (ratio === null) return;
  yield [`RNIC: ${best}: ${ratio.toFixed(2)} x C, at most ${TARGET.rnicRatioToC}`, ratio <= TARGET.rnicRatioToC];
}

function fastestOfOurs(table: Table): string {
  const isOther = (name: string): boolean => name.startsWith('C ') || [RAW, RAW_PREFETCH, RAW_PLAIN].includes(name);
  const ours = Object.keys(table).filter((name) => !isOther(name));
  return ours.reduce((best, name) => (table[name]!.median < table[best]!.median ? name : best));
}
