import type { Match, PortRange, Prefix } from '@int/detect';
import type { MixPacket, MixRule } from './mixes.js';

/** What a lookup is asked about: `flow` false, the flow is unknown; `macs` false, the Ethernet header is. */
export interface Probe extends MixPacket {
  readonly flow: boolean;
  readonly macs: boolean;
}

/** Whether the first `length` bits of two addresses are equal. */
function agree(a: readonly number[], b: readonly number[], length: number): boolean {
  return a.every((word, i) => {
    const unit = 2 ** (32 - Math.max(0, Math.min(32, length - 32 * i)));
    return Math.floor(word / unit) === Math.floor(b[i]! / unit);
  });
}

function inPrefix(prefix: Prefix | null, version: 4 | 6, address: readonly number[]): boolean {
  if (prefix === null) return true;
  return prefix.version === version && agree(prefix.words, address, prefix.length);
}

function inRange(range: PortRange | null, port: number): boolean {
  return range === null || (range.from <= port && port <= range.to);
}

/** Whether a rule matches, field by field. */
function matches(match: Match, probe: Probe): boolean {
  if (!probe.flow) return Object.values(match).every((field) => field === null);
  return (
    (match.protocol === null || match.protocol === probe.protocol) &&
    inRange(match.sourcePort, probe.sourcePort) &&
    inRange(match.destinationPort, probe.destinationPort) &&
    inPrefix(match.source, probe.version, probe.source) &&
    inPrefix(match.destination, probe.version, probe.destination) &&
    (match.sourceMac === null || (probe.macs && match.sourceMac === probe.sourceMac)) &&
    (match.destinationMac === null || (probe.macs && match.destinationMac === probe.destinationMac))
  );
}

/** The slot of the rule of highest priority that matches, or -1: all rules are looked at. */
export function firstMatch(rules: ReadonlyMap<number, MixRule>, probe: Probe): number {
  let found = -1;
  let best = Number.NEGATIVE_INFINITY;
  for (const [slot, rule] of rules) {
    if (rule.priority > best && matches(rule.match, probe)) {
      found = slot;
      best = rule.priority;
    }
  }
  return found;
}

function prefixesMeet(a: Prefix | null, b: Prefix | null): boolean {
  if (a === null || b === null) return true;
  return a.version === b.version && agree(a.words, b.words, Math.min(a.length, b.length));
}

function versions(match: Match): (4 | 6)[] {
  return ([4, 6] as const).filter(
    (version) => (match.source?.version ?? version) === version && (match.destination?.version ?? version) === version,
  );
}

/** Whether a packet exists that both rules match. */
export function meet(a: Match, b: Match): boolean {
  const same = (x: number | null, y: number | null): boolean => x === null || y === null || x === y;
  const cross = (x: PortRange | null, y: PortRange | null): boolean =>
    x === null || y === null || (x.from <= y.to && y.from <= x.to);
  return (
    versions(a).some((version) => versions(b).includes(version)) &&
    same(a.protocol, b.protocol) &&
    prefixesMeet(a.source, b.source) &&
    prefixesMeet(a.destination, b.destination) &&
    cross(a.sourcePort, b.sourcePort) &&
    cross(a.destinationPort, b.destinationPort) &&
    same(a.sourceMac, b.sourceMac) &&
    same(a.destinationMac, b.destinationMac)
  );
}
