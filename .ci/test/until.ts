import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

/** How long a test waits for what a busy machine does late. It is less than a test has, so that the test can say what is missing. */
const WITHIN_MS = 30_000;
/** Characters of what there is that a message shows: the last ones. */
const SHOWN = 4000;

/** How long to wait, and what to do in vain. */
export interface Patience {
  /** Milliseconds to wait at most, from 1; 30 000 by default. */
  readonly withinMs?: number;
  /** What there is instead, for the message. */
  readonly found?: () => unknown;
  /** Done when the time is over: ends what would go on for ever, such as a process. */
  readonly inVain?: () => unknown;
}

/**
 * Waits for a promise that may never be settled.
 *
 * @param what what is waited for, as in `the end of int collect`
 * @returns what the promise gives
 * @throws Error that says what was waited for, how long, and what there is; or what the promise throws
 */
export async function inTime<T>(what: string, promise: PromiseLike<T>, patience: Patience = {}): Promise<T> {
  const { withinMs = WITHIN_MS, found, inVain } = patience;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const there = found === undefined ? '' : `; there is: ${shown(found())}`;
      reject(new Error(`waited ${withinMs / 1000} s in vain for ${what}${there}`));
      inVain?.();
    }, withinMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Waits until something holds, and looks again and again.
 *
 * @param what what is waited for, as in `the first report`
 * @param condition gives false, null or undefined as long as it does not hold; what it throws ends the wait
 * @returns what the condition gave at last
 * @throws Error as {@link inTime}
 */
export async function until<T>(
  what: string,
  condition: () => T | Promise<T>,
  patience: Patience & { /** Milliseconds between two looks, 2 by default. */ readonly everyMs?: number } = {},
): Promise<Exclude<Awaited<T>, false | null | undefined>> {
  let isOver = false;
  const look = async (): Promise<Exclude<Awaited<T>, false | null | undefined>> => {
    for (;;) {
      const given = await condition();
      if (given !== false && given !== null && given !== undefined) {
        return given as Exclude<Awaited<T>, false | null | undefined>;
      }
      if (isOver) throw new Error(`too late for ${what}`);
      await sleep(patience.everyMs ?? 2);
    }
  };
  try {
    return await inTime(what, look(), patience);
  } finally {
    isOver = true;
  }
}

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : inspect(value, { depth: 5, breakLength: 120 });
  return text.length > SHOWN ? `... ${text.slice(-SHOWN)}` : text;
}
