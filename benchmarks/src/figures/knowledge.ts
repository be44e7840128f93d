/** Figures of the knowledge plane, and of rehearsals of changes. */
import { markdownTable, paragraph } from '@int/harness';
import type { Knowledge } from '../knowledge.js';
import type { Rehearsals } from '../rehearsal.js';
import { machineOf, ofFile, one, two, whole } from './reading.js';

const megabytes = (bytes: number): string => `${one(bytes / 1e6)} MB`;
const targetsOf = (targets: Readonly<Record<string, boolean>>): string =>
  Object.entries(targets)
    .map(([text, isMet]) => `${text} (${isMet ? 'met' : 'missed'})`)
    .join('; ');

const knowledge = (): string =>
  ofFile<Knowledge>('knowledge', (all) =>
    [
      paragraph(
        `Nanoseconds of processor time per report of 3 hops, without decoding, on a ${machineOf(all)}: the least of the rounds. Maps of`,
        'objects by flow, host and switch only count, and detect nothing.',
      ),
      markdownTable(
        ['', '`observe`', 'Maps of objects', 'decoding, beside', 'tables of the plane', 'Maps in the end'],
        all.cases.map(({ name, plane, maps, decode, planeBytes, mapsBytes }) => [
          name,
          whole(plane.least),
          whole(maps.least),
          whole(decode.least),
          megabytes(planeBytes),
          megabytes(mapsBytes),
        ]),
      ),
      paragraph(`Targets: ${targetsOf(all.targets)}.`),
    ].join('\n\n'),
  );

const rehearsal = (): string =>
  ofFile<Rehearsals>('rehearsal', (all) =>
    [
      paragraph(
        `${whole(all.flows)} flows of a minute through ${all.switches} switches, on a ${machineOf(all)}, seconds of processor time:`,
      ),
      markdownTable(
        ['change', 'entries', 'steps', 'flows walked', 'median', 'longest'],
        all.changes.map(({ change, changes, steps, walks, median, longest }) => [
          change,
          changes,
          steps,
          whole(walks),
          two(median),
          two(longest),
        ]),
      ),
      paragraph(`Targets: ${targetsOf(all.targets)}.`),
    ].join('\n\n'),
  );

export const ofKnowledge = { knowledge, rehearsal } as const;
