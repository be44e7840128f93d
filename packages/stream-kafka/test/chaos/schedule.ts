/** The language of schedules: what happens to which part of a running system, and when. */
import { Random } from '@int/random';

/** Parts of the system, of which there may be several. */
export type Part = 'collector' | 'processor' | 'broker' | 'clock' | 'topic';

/**
 * What can be done to a part. `kill` ends a process as a power cut would, and it is started again; `freeze` is SIGSTOP, and
 * SIGCONT later; `restart` ends it in order. `cut` parts a collector from the brokers. `fill` leaves no room on the disk of a
 * collector's spool. `lock out` has a part's login end, and takes it away for a time. `step` sets a collector's clock forth or back.
 * `remake` deletes the topic of reports, and makes it again with other partitions.
 */
export type Action = 'kill' | 'freeze' | 'restart' | 'cut' | 'fill' | 'lock out' | 'step' | 'remake';

export interface Step {
  /** Since the beginning, milliseconds. */
  readonly atMs: number;
  readonly part: Part;
  readonly action: Action;
  /** Which of several. */
  readonly which: number;
  /** How long it lasts; of a clock: how far it is set; of a topic: how long there is none. */
  readonly forMs: number;
}

/** What a seed may draw, and how long it lasts. */
const CHOICES: readonly (readonly [Part, Action, number, number])[] = [
  ['collector', 'kill', 500, 3000],
  ['collector', 'freeze', 1000, 9000],
  ['collector', 'restart', 500, 2000],
  ['collector', 'cut', 1000, 9000],
  ['collector', 'fill', 2000, 9000],
  ['collector', 'lock out', 3000, 9000],
  ['processor', 'kill', 500, 4000],
  ['processor', 'freeze', 2000, 9000],
  ['processor', 'restart', 500, 2000],
  ['processor', 'lock out', 3000, 9000],
  ['broker', 'kill', 500, 6000],
  ['broker', 'freeze', 1000, 6000],
  ['clock', 'step', -700, 1500],
  ['topic', 'remake', 700, 3000],
];

/**
 * Steps of a seed, in the order in which they begin: the same for the same seed.
 * @param without actions that cannot be done here
 */
export function scheduleOf(seed: number, lengthMs: number, steps: number, without: readonly Action[]): Step[] {
  const choices = CHOICES.filter(([, action]) => !without.includes(action));
  const random = new Random(seed);
  const between = (least: number, most: number): number => least + random.integer(most - least + 1);
  const drawn = Array.from({ length: steps }, (): Step => {
    const [part, action, least, most] = choices[between(0, choices.length - 1)]!;
    return { atMs: between(0, lengthMs), part, action, which: between(0, 1), forMs: between(least, most) };
  });
  return drawn.sort((a, b) => a.atMs - b.atMs);
}

/** A schedule as text, a step a line: for whoever looks at a failure. */
export function textOf(schedule: readonly Step[]): string {
  const lines = schedule.map(
    ({ atMs, part, action, which, forMs }) =>
      `  at ${(atMs / 1000).toFixed(1)} s ${action} ${part} ${which}, ${forMs} ms`,
  );
  return lines.join('\n');
}
