/** Number of flows remembered for each link. */
export const RECENT_FLOWS = 8;

/**
 * The flows seen last, per row: at most 8 hashes and their times. The latest comes first; equal times are ordered by
 * hash. The result depends only on the flows and times noted, not on their order. So two merged lists are the list of
 * all.
 */
export class RecentFlows {
  /** Signed, because an unsigned number may be no small integer, and passing it would allocate an object. */
  readonly hashes: Int32Array;
  readonly timesUs: Float64Array;
  readonly counts: Uint8Array;

  constructor(rows: number) {
    this.hashes = new Int32Array(rows * RECENT_FLOWS);
    this.timesUs = new Float64Array(rows * RECENT_FLOWS);
    this.counts = new Uint8Array(rows);
  }

  /** @param flowHash 32 bits, signed or not */
  note(row: number, flowHash: number, timeUs: number): void {
    const hash = flowHash | 0;
    const { hashes, timesUs } = this;
    const start = row * RECENT_FLOWS;
    const count = this.counts[row]!;
    let at = start;
    if (count > 0 && hashes[at] === hash && timesUs[at]! <= timeUs) {
      timesUs[at] = timeUs;
      return;
    }
    while (at < start + count && hashes[at] !== hash) at++;
    if (at < start + count) {
      if (timesUs[at]! >= timeUs) return;
    } else if (count < RECENT_FLOWS) {
      this.counts[row] = count + 1;
    } else {
      at--;
      if (!isBefore(timeUs, hash, timesUs[at]!, hashes[at]!)) return;
    }
    for (; at > start && isBefore(timeUs, hash, timesUs[at - 1]!, hashes[at - 1]!); at--) {
      hashes[at] = hashes[at - 1]!;
      timesUs[at] = timesUs[at - 1]!;
    }
    hashes[at] = hash;
    timesUs[at] = timeUs;
  }

  /** Pairs of a hash and its time. Allocates. */
  read(row: number): number[] {
    const pairs: number[] = [];
    const start = row * RECENT_FLOWS;
    for (let at = start; at < start + this.counts[row]!; at++) pairs.push(this.hashes[at]! >>> 0, this.timesUs[at]!);
    return pairs;
  }
}

function isBefore(timeUs: number, hash: number, otherUs: number, otherHash: number): boolean {
  return timeUs > otherUs || (timeUs === otherUs && hash >>> 0 < otherHash >>> 0);
}
