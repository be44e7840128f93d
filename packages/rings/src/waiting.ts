/**
 * Waiting for the other side of a ring.
 *
 * Each side has a flag in shared memory, which is 0 or for how many records (of room) it waits. The other side looks at
 * it after each change, a read that stays in its cache, and calls `Atomics.notify` only if the flag is set and as much
 * is there. It clears the flag before that, so that one wait costs at most one notification.
 *
 * No wake-up is lost. The sleeper does S1 set the flag, S2 look at index and mark of closing, S3 wait unless the flag
 * changed. The waker does W1 store index or mark, W2 look at the flag, W3 clear it, W4 notify. All are sequentially
 * consistent atomic operations, so there is one order of all of them that each thread sees. If W1 comes before S2, the
 * sleeper sees the change and does not sleep. Otherwise S1, S2, W1, W2 are in this order and the waker sees the flag.
 * Then W3 comes either before S3 compares, and S3 returns at once; or after, and then the sleeper is already in the list
 * of waiters, because comparing and entering the list are one step for W4. Whoever wakes up begins again with S1, thus a
 * notification too many does no harm.
 *
 * The sleeper never clears the flag, not even after a timeout: another wait of the same side (two pending promises) may
 * rely on it. This costs at most one notification that nobody needs. A flag that another wait has set to less is left as
 * it is: who is woken too early looks and waits again.
 */

/** Why a wait ended. */
export type WaitResult = 'ready' | 'timed-out' | 'closed';

/** What a look at the ring says; null is to wait on. */
export type Look = () => 'ready' | 'closed' | null;

/** What browsers, Node and others have, and the language's library does not declare. */
interface Host {
  readonly performance?: { now(): number };
  readonly setTimeout?: (callback: () => void, milliseconds: number) => unknown;
  readonly setInterval?: (callback: () => void, milliseconds: number) => unknown;
  readonly clearInterval?: (timer: unknown) => void;
}

type WaitAsync = (
  words: Int32Array,
  index: number,
  value: number,
  milliseconds: number,
) => { readonly value: Promise<string> | string };

const host = (): Host => globalThis as unknown as Host;

/** Pauses between two looks where nothing can wake up a promise, in milliseconds: doubled from the first to the last. */
const FIRST_PAUSE = 1;
const LAST_PAUSE = 16;
/** An interval that is never reached; timers hold up to 2^31 - 1. */
const NEVER = 0x7fffffff;

const now = (): number => host().performance?.now() ?? Date.now();

/** True for memory that several threads can have. */
export function isShared(buffer: ArrayBufferLike): boolean {
  // Not instanceof: pages that are not isolated have shared memory of WebAssembly, but no SharedArrayBuffer.
  return Object.prototype.toString.call(buffer) === '[object SharedArrayBuffer]';
}

/** @throws RangeError unless it is a number of milliseconds, or Infinity */
export function checkTimeout(timeoutMs: number): void {
  if (!(typeof timeoutMs === 'number' && timeoutMs >= 0)) {
    throw new RangeError(`timeoutMs must be a number of milliseconds or Infinity, not ${timeoutMs}`);
  }
}

/** Sets a flag, unless it is set to less. Returns what it is now. */
function raise(header: Int32Array, flag: number, wanted: number): number {
  const other = Atomics.load(header, flag);
  const value = other > 0 && other < wanted ? other : wanted;
  Atomics.store(header, flag, value);
  return value;
}

/**
 * Wakes up who waits on a flag that was seen set, and has what it waits for.
 * @param flag RECORDS_WANTED or ROOM_WANTED
 */
export function wake(header: Int32Array, flag: number): void {
  Atomics.store(header, flag, 0);
  Atomics.notify(header, flag);
}

/**
 * Blocks the thread until `look` has an answer.
 * @throws TypeError if the thread may not block or the memory is not shared
 */
export function block(header: Int32Array, flag: number, wanted: number, timeoutMs: number, look: Look): WaitResult {
  if (!isShared(header.buffer)) {
    throw new TypeError('nothing but this thread can fill or empty a ring in an ArrayBuffer: it would block forever');
  }
  const deadline = now() + timeoutMs;
  for (;;) {
    const value = raise(header, flag, wanted);
    const seen = look();
    if (seen !== null) return seen;
    const left = deadline - now();
    if (left <= 0) return 'timed-out';
    try {
      Atomics.wait(header, flag, value, left);
    } catch (cause) {
      throw new TypeError('this thread may not block, as the main thread of a page may not: wait in the async way', {
        cause,
      });
    }
  }
}

/**
 * A promise for the answer of `look`. While it is pending, Node goes on running, as for a timer.
 * @throws TypeError (rejects) if there is neither `Atomics.waitAsync` nor `setTimeout`
 */
export async function blockAsync(
  header: Int32Array,
  flag: number,
  wanted: number,
  timeoutMs: number,
  look: Look,
): Promise<WaitResult> {
  const { waitAsync } = Atomics as unknown as { readonly waitAsync?: WaitAsync };
  if (typeof waitAsync !== 'function' || !isShared(header.buffer)) return poll(timeoutMs, look);
  const deadline = now() + timeoutMs;
  // Node does not count a promise of Atomics.waitAsync among the things to wait for before it exits.
  const { setInterval, clearInterval } = host();
  const hold = setInterval?.(() => {}, NEVER);
  try {
    for (;;) {
      const value = raise(header, flag, wanted);
      const seen = look();
      if (seen !== null) return seen;
      const left = deadline - now();
      if (left <= 0) return 'timed-out';
      await waitAsync(header, flag, value, left).value;
    }
  } finally {
    clearInterval?.(hold);
  }
}

/** The same by looking again and again, at growing intervals, where nothing can wake us up. */
async function poll(timeoutMs: number, look: Look): Promise<WaitResult> {
  const deadline = now() + timeoutMs;
  for (let pause = FIRST_PAUSE; ; pause = Math.min(2 * pause, LAST_PAUSE)) {
    const seen = look();
    if (seen !== null) return seen;
    const left = deadline - now();
    if (left <= 0) return 'timed-out';
    await sleep(Math.min(pause, left));
  }
}

function sleep(milliseconds: number): Promise<void> {
  const { setTimeout } = host();
  if (setTimeout === undefined) throw new TypeError('there is neither Atomics.waitAsync nor setTimeout to wait with');
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}
