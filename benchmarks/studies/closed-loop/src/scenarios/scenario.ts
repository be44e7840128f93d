/** A scenario: the network with its daily traffic, one thing that happens to it, and what the loop makes of it. */
import type { Intent } from '@int/control';
import { VirtualLoop } from '@int/example-closed-loop';
import { Random } from '@int/random';
import { begin, type Flow } from './surroundings.js';

/** What a scenario has measured, by the names of its measures; `null`: it has not happened. */
export type Values = Readonly<Record<string, number | null>>;

export interface Scene {
  readonly loop: VirtualLoop;
  readonly random: Random;
  readonly flows: readonly Flow[];
}

const WATCHED: Intent = {
  ...{
    id: 'all',
    owner: 'study',
    priority: 500,
    fromMs: 0,
    ttlMs: null,
    reason: 'what is not seen cannot be acted on',
  },
  ...{ kind: 'watch', match: {}, instructions: 0xf000, oneIn: 1 },
};
const POLICY = {
  autonomy: { avoid: 'act', path: 'act', block: 'act', limit: 'act' },
  // Short, so that one sees blocks renewed and removed.
  ttlMs: { avoid: 20_000, path: 20_000, block: 4000, limit: 4000 },
  settleMs: 2000,
  reportOneIn: 10,
} as const;

const START_SECONDS = 0.5;

/** Plays a scenario by a seed. */
export async function playScene(
  name: string,
  seed: number,
  calmSeconds: number,
  work: (scene: Scene) => Promise<Values>,
): Promise<Values> {
  const random = new Random(seed).derive(name);
  const loop = await VirtualLoop.open(seed, POLICY, [WATCHED]);
  try {
    // The first tables are there a little sooner or later: what follows begins at the same time all the same.
    await loop.seconds(START_SECONDS - loop.fabric.network.nowNs / 1e9);
    const flows = begin(loop.fabric, random.derive('surroundings'));
    // Windows of a second begin somewhere else for each seed.
    await loop.seconds(calmSeconds + random.uniform());
    return await work({ loop, random, flows });
  } finally {
    await loop.close();
  }
}

/** Milliseconds from a time to the first note of a state of proposals of some kinds; `null`: there is none. */
export function msToNote(
  { notes }: VirtualLoop,
  fromMs: number,
  kinds: readonly string[],
  what: string,
): number | null {
  const note = notes.find(
    (each) =>
      each.atMs >= fromMs && each.what === what && kinds.some((kind) => each.proposal?.startsWith(`${kind}-`) === true),
  );
  return note === undefined ? null : note.atMs - fromMs;
}
