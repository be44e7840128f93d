import { hop, report } from '../reports.js';

/** Numbers from 0 to 2^32 - 1, the same for a seed (xorshift). */
export function random(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state;
  };
}

/** Sound reports to start from. */
const SOUND = Array.from({ length: 64 }, (_, at) =>
  report(at, at, [hop(at, at, at), hop(at + 1, at, at)].slice(at % 3)),
);
/** Where the id of the reporting node is in them: behind the first word of the header. */
const NODE_ID = 4;

/**
 * Datagrams as strangers send them: random bytes, sound reports of switches that there are not, the same cut off, and the same
 * with random bytes in them.
 */
export function strangeDatagrams(count: number, next: () => number): Uint8Array[] {
  return Array.from({ length: count }, () => {
    const kind = next() % 4;
    if (kind === 0) return Uint8Array.from({ length: next() % 200 }, () => next() & 0xff);
    const forged = SOUND[next() % SOUND.length]!.slice();
    new DataView(forged.buffer).setUint32(NODE_ID, next());
    if (kind === 1) return forged;
    if (kind === 2) return forged.subarray(0, next() % forged.length);
    for (let change = 0; change < 3; change++) forged[next() % forged.length] = next() & 0xff;
    return forged;
  });
}
