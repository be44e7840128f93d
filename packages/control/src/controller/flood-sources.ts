import type { FlowMatch } from '../intents/flow-match.js';
import type { ObservedFlow } from '../twin/rehearsal.js';
import { addressBytes } from './link-map.js';

/** Sources of a destination that are remembered as usual; the oldest gives way. */
const MOST_KNOWN = 16_384;
/** A flow of so many packets in a window has an answer, or is no flood of single packets. */
const CONVERSATION = 3;
/** Of the packets of unknown sources so much must be covered, by so few prefixes. */
const COVERED = 0.8;
const MOST_PREFIXES = 64;
const LENGTHS: readonly number[] = [32, 24, 16, 8];

/** Who usually talks to a destination, and which prefixes a flood comes from. */
export class FloodSources {
  /** `<destination> <source>`, in the order of time. */
  readonly #known = new Map<string, number>();

  /** Learns who talks to whom. @param isFlooded destinations of which nothing is learnt now */
  learn(flows: readonly ObservedFlow[], timeMs: number, isFlooded: (destination: string) => boolean): void {
    for (const { source, destination, packets } of flows) {
      const key = `${destination} ${source}`;
      if (!this.#known.has(key) && (packets < CONVERSATION || isFlooded(destination))) continue;
      this.#known.delete(key);
      this.#known.set(key, timeMs);
      if (this.#known.size > MOST_KNOWN) this.#known.delete(this.#known.keys().next().value!);
    }
  }

  /**
   * Few prefixes from which most of a flood comes, and none of the usual sources; the longest that are few enough.
   * `spread`: there are none. `unseen`: no packet of it was seen yet.
   */
  prefixes(destination: string, flows: readonly ObservedFlow[]): readonly FlowMatch[] | 'spread' | 'unseen' {
    const usual: Uint8Array[] = [];
    for (const key of this.#known.keys()) {
      if (!key.startsWith(`${destination} `)) continue;
      const bytes = addressBytes(key.slice(destination.length + 1));
      if (bytes?.length === 4) usual.push(bytes);
    }
    const strangers = flows.flatMap((flow) => {
      const bytes = addressBytes(flow.source);
      const isStranger = flow.destination === destination && !this.#known.has(`${destination} ${flow.source}`);
      return isStranger && bytes?.length === 4 ? [{ bytes, packets: flow.packets, protocol: flow.protocol }] : [];
    });
    const total = strangers.reduce((sum, { packets }) => sum + packets, 0);
    if (total === 0) return 'unseen';
    const protocols = new Set(strangers.map(({ protocol }) => protocol));
    for (const length of LENGTHS) {
      const taken = new Set(usual.map((bytes) => prefixText(bytes, length)));
      const sums = new Map<string, number>();
      for (const { bytes, packets } of strangers) {
        const prefix = prefixText(bytes, length);
        if (!taken.has(prefix)) sums.set(prefix, (sums.get(prefix) ?? 0) + packets);
      }
      const largest = [...sums].sort((a, b) => b[1] - a[1]).slice(0, MOST_PREFIXES);
      if (largest.reduce((sum, [, packets]) => sum + packets, 0) < COVERED * total) continue;
      const [protocol] = protocols;
      return largest.map(([source]) => ({
        source,
        destination,
        ...(protocols.size === 1 && { protocol: protocol! }),
      }));
    }
    return 'spread';
  }
}

function prefixText(bytes: Uint8Array, length: number): string {
  const whole = length / 8;
  return `${[...bytes].map((byte, index) => (index < whole ? byte : 0)).join('.')}/${length}`;
}
