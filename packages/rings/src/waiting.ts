/**
 * Waiting for the other side of a ring.
 *
 * Each side has a flag in shared memory: the number of records (or of room for records) it waits for, or 0. The other
 * side reads the flag after each change; this read stays in its cache. If the wait is satisfied, it clears the flag and
 * calls `Atomics.notify`. One wait thus costs at most one notification.
 *
 * No wake-up is lost. The sleeper performs S1 set the flag, S2 read index and closing mark, S3 wait unless the flag
 * changed. The waker performs W1 store index or mark, W2 read the flag, W3 clear it, W4 notify. All are sequentially
 * consistent atomic operations, so all threads see them in one order. If W1 comes before S2, the sleeper sees the
 * change and does not sleep. Otherwise the order is S1, S2, W1, W2, and the waker sees the flag. If W3 then comes
 * before the comparison in S3, S3 returns at once. If it comes after, the sleeper is already in the list of waiters,
 * because comparing and entering the list are one step for W4. A sleeper that wakes up begins again with S1, so a
 * superfluous notification does no harm.
 *
 * The sleeper never clears the flag, not even after a timeout: another wait of the same side (two pending promises) may
 * rely on it. This costs at most one superfluous notification. A wait does not raise a flag that another wait has set
 * to a smaller number. A sleeper that is woken too early waits again.
 */

/** Why a wait ended. */
export type WaitResult = 'ready' | 'timed-out' | 'closed';

/** Checks the ring; null means to wait on. */
export type Look = () => 'ready' | 'closed' | null;

/** Functions of browsers, Node and other platforms that the language's library does not declare. */
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

/**
 * Pauses between two checks where nothing can wake up a promise, in milliseconds. They double from the first to the
 * last.
 */
const FIRST_PAUSE = 1;
const LAST_PAUSE = 16;
/** The longest interval that timers accept, 2^31 - 1 ms. */
const NEVER = 0x7fffffff;

const now = (): number => host().performance?.now() ?? Date.now();

/** Whether several threads can share the memory. */
export function isShared(buffer: ArrayBufferLike): boolean {
  // Not instanceof: pages without isolation have WebAssembly's shared memory, but no SharedArrayBuffer.
  return Object.prototype.toString.call(buffer) === '[object SharedArrayBuffer]';
}

/** @throws RangeError unless `timeoutMs` is a number of milliseconds or Infinity */
export function checkTimeout(timeoutMs: number): void {
  if (!(typeof timeoutMs === 'number' && timeoutMs >= 0)) {
    throw new RangeError(`timeoutMs must be a number of milliseconds or Infinity, not ${timeoutMs}`);
  }
}

/** Sets a flag, unless it is set to a smaller number. Returns its value. */
function raise(header: Int32Array, flag: number, wanted: number): number {
  const other = Atomics.load(header, flag);
  const value = other > 0 && other < wanted ? other : wanted;
  Atomics.store(header, flag, value);
  return value;
}

/**
 * Wakes up the thread that waits on a flag. Call it if the flag is set and the wait is satisfied.
 * @param flag RECORDS_WANTED or ROOM_WANTED
 */
export function wake(header: Int32Array, flag: number): void {
  Atomics.store(header, flag, 0);
  Atomics.notify(header, flag);
}

/**
 * Blocks the thread until `look` returns an answer.
 * @throws TypeError if it would have to block, and the thread may not or the memory is not shared
 */
export function block(header: Int32Array, flag: number, wanted: number, timeoutMs: number, look: Look): WaitResult {
  const first = look();
  if (first !== null) return first;
  if (timeoutMs === 0) return 'timed-out';
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
 * A promise of the answer of `look`. Like a timer, it keeps Node running while it is pending.
 * @throws TypeError (rejects) if there is neither `Atomics.waitAsync` nor `setTimeout`
 */
export async function blockAsync(
  header: Int32Array,
  flag: number,
  wanted: number,
  timeoutMs: number,
  look: Look,
): Promise<WaitResult> {
  const first = look();
  if (first !== null) return first;
  if (timeoutMs === 0) return 'timed-out';
  const { waitAsync } = Atomics as unknown as { readonly waitAsync?: WaitAsync };
  if (typeof waitAsync !== 'function' || !isShared(header.buffer)) return poll(timeoutMs, look);
  const deadline = now() + timeoutMs;
  // A pending promise of Atomics.waitAsync alone does not keep Node running.
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

/** Like blockAsync, by checks at growing intervals, for memory on which nothing can wake up a promise. */
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
