import type { HopMatch, IdRange, Match, PortRange, Prefix, Rule } from './model.js';
import { endsOf, narrower } from './overlap.js';

type Ranges = readonly IdRange[] | null | undefined;

/** Whether all numbers of `b` are of `a`; nothing stands for all. Each range of `b` must lie in one of `a`. */
function coversRanges(a: Ranges, b: Ranges): boolean {
  if (a === null || a === undefined) return true;
  if (b === null || b === undefined) return false;
  return b.every((one) => a.some(({ from, to }) => from <= one.from && one.to <= to));
}

const coversValue = (a: number | null, b: number | null): boolean => a === null || a === b;

const coversPorts = (a: PortRange | null, b: PortRange | null): boolean =>
  a === null || (b !== null && a.from <= b.from && b.to <= a.to);

const coversPrefix = (a: Prefix | null, b: Prefix | null): boolean =>
  a === null || (b !== null && a.length <= b.length && narrower(a, b) === b);

function coversHops(a: HopMatch | null | undefined, b: HopMatch | null | undefined): boolean {
  if (a === null || a === undefined) return true;
  if (b === null || b === undefined) return false;
  return (
    coversRanges(a.switches, b.switches) &&
    coversRanges(a.queues, b.queues) &&
    coversRanges(a.egressInterfaces, b.egressInterfaces)
  );
}

/** Whether each pair of addresses of `b` is one of `a`. */
function coversEnds(a: Match, b: Match): boolean {
  const mine = endsOf(a);
  return endsOf(b).every(([sources, destinations]) =>
    mine.some(
      ([ourSources, ourDestinations]) =>
        sources.every((one) => ourSources.some((ours) => coversPrefix(ours, one))) &&
        destinations.every((one) => ourDestinations.some((ours) => coversPrefix(ours, one))),
    ),
  );
}

/** Whether `a` matches all that `b` matches. It may miss that it does, and never says so in vain. */
function covers(a: Match, b: Match): boolean {
  return (
    coversValue(a.protocol, b.protocol) &&
    coversPorts(a.sourcePort, b.sourcePort) &&
    coversPorts(a.destinationPort, b.destinationPort) &&
    coversValue(a.sourceMac, b.sourceMac) &&
    coversValue(a.destinationMac, b.destinationMac) &&
    coversRanges(a.dscp, b.dscp) &&
    coversHops(a.hops, b.hops) &&
    coversEnds(a, b)
  );
}

/** In larger sets, only so many rules of the highest priorities are looked for that may hide others. */
const MOST_COVERS = 256;

/** Rules that never decide, by their places in the list, each with one of higher priority that matches all that it does. */
export function findUnreachable(rules: readonly Pick<Rule, 'priority' | 'match'>[]): { hidden: number; by: number }[] {
  const ranked = rules.map(({ priority, match }, place) => ({ priority, match, place }));
  ranked.sort((a, b) => b.priority - a.priority || a.place - b.place);
  return ranked
    .flatMap(({ priority, match, place }, rank) => {
      for (let k = 0; k < Math.min(rank, MOST_COVERS); k++) {
        const other = ranked[k]!;
        if (other.priority === priority) break;
        if (covers(other.match, match)) return [{ hidden: place, by: other.place }];
      }
      return [];
    })
    .sort((a, b) => a.hidden - b.hidden);
}
