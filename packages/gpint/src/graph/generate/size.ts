/** Most nodes and links. Larger numbers are probably mistakes. */
const MOST_NODES = 4_000_000;
const MOST_LINKS = 32_000_000;

/** @throws RangeError unless `value` is an integer from `least` to 4 million */
export function requireSize(value: number, least: number, what: string): void {
  if (!Number.isInteger(value) || value < least || value > MOST_NODES) {
    throw new RangeError(`${what} must be an integer from ${least} to ${MOST_NODES}, not ${value}`);
  }
}

/** @throws RangeError if a graph would have more than 4 million nodes or 32 million links */
export function requireTotal(nodes: number, links: number): void {
  if (nodes > MOST_NODES || links > MOST_LINKS) {
    throw new RangeError(
      `${nodes} nodes and ${Math.round(links)} links are more than the ${MOST_NODES} and ${MOST_LINKS} allowed`,
    );
  }
}

/** @throws RangeError unless `p` is a number from 0 to 1 */
export function requireProbability(p: number): void {
  if (!(p >= 0 && p <= 1)) throw new RangeError(`probability must be a number from 0 to 1, not ${p}`);
}
