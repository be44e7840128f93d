import type { FlowMatch } from '../intents/flow-match.js';
import type { ObservedFlow } from '../twin/rehearsal.js';
import { addressBytes } from './link-map.js';

/** Sources of a destination that are remembered as usual; the oldest gives way. */
const MOST_KNOWN = 16_384;
/** A flow of so many packets in a window has an answer, or is no flood of single packets. */
const CONVERSATION = 3;
/** Of the packets of unknown sources so much shall be covered, by so few prefixes; else at least the second share. */
const COVERED: readonly number[] = [0.95, 0.8];
const MOST_PREFIXES = 64;
const LENGTHS: readonly number[] = [32, 24, 16, 8];
/** Prefixes that are shorter are wide. */
const WIDE = 24;

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
   * `spread`: there are none. `unseen`: too little of it was seen yet.
   *
   * @param isPatient whether one can wait for more: then what is still to come of sources not seen yet is estimated as well
   */
  prefixes(
    destination: string,
    flows: readonly ObservedFlow[],
    isPatient: boolean,
  ): readonly FlowMatch[] | 'spread' | 'unseen' {
    const usual: number[] = [];
    for (const key of this.#known.keys()) {
      if (!key.startsWith(`${destination} `)) continue;
      const bytes = addressBytes(key.slice(destination.length + 1));
      if (bytes?.length === 4) usual.push(numberOf(bytes));
    }
    const strangers = flows.flatMap((flow): Stranger[] => {
      const bytes = addressBytes(flow.source);
      const isStranger = flow.destination === destination && !this.#known.has(`${destination} ${flow.source}`);
      return isStranger && bytes?.length === 4 ? [{ address: numberOf(bytes), ...flow }] : [];
    });
    const total = strangers.reduce((sum, { packets }) => sum + packets, 0);
    if (total === 0) return 'unseen';
    const [protocol, ...others] = new Set(strangers.map((each) => each.protocol));
    const byLength = LENGTHS.map((length) => {
      const found = prefixesOf(strangers, usual, length).sort((a, b) => b.packets - a.packets || a.length - b.length);
      const largest = found.slice(0, MOST_PREFIXES);
      const covered = largest.reduce((sum, { packets }) => sum + packets, 0) / total;
      // By Good and Turing: the share of packets to come from prefixes not seen yet is that of prefixes seen once.
      const unseen = found.filter(({ packets }) => packets === 1).length / total;
      return { length, largest, covered, expected: covered * (1 - unseen) };
    });
    for (const share of COVERED) {
      const first = byLength.find((each) => (isPatient ? each.expected : each.covered) >= share);
      // Wide prefixes have many who are innocent: not while longer ones may do once more is seen.
      const mayDo = byLength.find(({ covered }) => covered >= share);
      if (first !== mayDo && (first === undefined || first.length < WIDE)) return 'unseen';
      if (first === undefined) continue;
      return first.largest.map((each) => ({
        source: prefixText(each.first, each.length),
        destination,
        ...(others.length === 0 && { protocol: protocol! }),
      }));
    }
    return 'spread';
  }
}

interface Stranger {
  readonly address: number;
  readonly packets: number;
  readonly protocol: number;
}

interface Prefix {
  readonly first: number;
  readonly length: number;
  readonly packets: number;
}

/**
 * Prefixes of a length with packets of strangers. One with a usual source is divided until its parts have none, so that a client
 * whose neighbours take part in a flood is not blocked with them.
 */
function prefixesOf(strangers: readonly Stranger[], usual: readonly number[], length: number): Prefix[] {
  const groups = new Map<number, Stranger[]>();
  for (const stranger of strangers) {
    const first = firstOf(stranger.address, length);
    const group = groups.get(first);
    if (group === undefined) groups.set(first, [stranger]);
    else group.push(stranger);
  }
  return [...groups].flatMap(([first, group]) =>
    partsOf(
      first,
      length,
      group,
      usual.filter((address) => firstOf(address, length) === first),
    ),
  );
}

/** The parts of a prefix without usual sources. Those without strangers are among them, where the prefix is not wide: more may come. */
function partsOf(first: number, length: number, strangers: readonly Stranger[], usual: readonly number[]): Prefix[] {
  if (usual.length === 0) {
    return [{ first, length, packets: strangers.reduce((sum, { packets }) => sum + packets, 0) }];
  }
  if (length === 32) return [];
  const half = length + 1;
  return [first, (first | (1 << (32 - half))) >>> 0].flatMap((each) => {
    const group = strangers.filter(({ address }) => firstOf(address, half) === each);
    if (group.length === 0 && half <= WIDE) return [];
    return partsOf(
      each,
      half,
      group,
      usual.filter((address) => firstOf(address, half) === each),
    );
  });
}

function numberOf(bytes: Uint8Array): number {
  return ((bytes[0]! << 24) | (bytes[1]! << 16) | (bytes[2]! << 8) | bytes[3]!) >>> 0;
}

/** The first address of the prefix of a length, of 1 to 32 bits, that an address is in. */
function firstOf(address: number, length: number): number {
  return (address & (-1 << (32 - length))) >>> 0;
}

function prefixText(first: number, length: number): string {
  return `${[24, 16, 8, 0].map((bits) => (first >>> bits) & 255).join('.')}/${length}`;
}
