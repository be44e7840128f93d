/** Figures of the P4Runtime server: updates, entries read back, and pauses of the packets meanwhile. */
import { markdownTable, paragraph } from '@int/harness';
import { machineOf, ofFile, two, whole } from './reading.js';

interface Phase {
  readonly seconds: number;
  readonly pauses: { readonly own: { readonly longest: number; readonly p999: number } } | null;
}

type Phases = Readonly<Record<string, Phase>>;

interface Results {
  readonly entries: number;
  readonly batch: number;
  readonly load: readonly [number, number];
  readonly alone: Phases;
  readonly busy: Phases;
  readonly targets: Readonly<Record<string, boolean>>;
}

const p4runtime = (): string =>
  ofFile<Results>('p4runtime', (all) =>
    [
      paragraph(
        `${whole(all.entries)} routes in batches of ${all.batch} over loopback, on a ${machineOf(all)}; ${two(all.alone.read!.seconds)} s to read them back.`,
        'A pause is the time between two packets of the same thread, without the time that other processes had:',
      ),
      markdownTable(
        ['meanwhile', 'a second', 'longest pause, ms', '99.9 %'],
        Object.entries(all.busy)
          .filter(([name, { pauses }]) => name !== 'warm' && pauses !== null)
          .map(([name, { pauses }]) => [
            name,
            name === 'insert' || name === 'modify' || name === 'delete'
              ? whole(all.entries / all.alone[name]!.seconds)
              : '',
            two(pauses!.own.longest),
            two(pauses!.own.p999),
          ]),
      ),
      markdownTable(
        ['', ''],
        Object.entries(all.targets).map(([text, isMet]) => [text, isMet ? 'met' : 'missed']),
      ),
    ].join('\n\n'),
  );

export const ofP4Runtime = { p4runtime } as const;
