import { type Prefix, prefixOf } from '@int/network';
import type { FlowMatch, PortRange } from './flow-match.js';

/** The flows of a match: a product of prefixes and ranges, one per field. `null` is everything. */
export interface FlowSpace {
  /** Of the addresses; `null`: both versions of IP. */
  readonly family: 4 | 6 | null;
  readonly source: Prefix | null;
  readonly destination: Prefix | null;
  readonly protocol: number | null;
  readonly sourcePort: PortRange;
  readonly destinationPort: PortRange;
}

const ALL_PORTS: PortRange = [0, 0xffff];

export const familiesOf = ({ family }: Pick<FlowSpace, 'family'>): readonly (4 | 6)[] =>
  family === null ? [4, 6] : [family];

export const familyOf = ({ bytes }: Prefix): 4 | 6 => (bytes.length === 4 ? 4 : 6);

/** The flows of a match that was read; an address that is none, or addresses of two versions, make it empty: `null`. */
export function spaceOf(match: FlowMatch): FlowSpace | null {
  const source = match.source === undefined ? null : prefixOf(match.source);
  const destination = match.destination === undefined ? null : prefixOf(match.destination);
  if ((match.source !== undefined && source === null) || (match.destination !== undefined && destination === null)) {
    return null;
  }
  const families = [source, destination].flatMap((prefix) => (prefix === null ? [] : [familyOf(prefix)]));
  if (families.length === 2 && families[0] !== families[1]) return null;
  return {
    family: families[0] ?? null,
    source,
    destination,
    protocol: match.protocol ?? null,
    sourcePort: match.sourcePort ?? ALL_PORTS,
    destinationPort: match.destinationPort ?? ALL_PORTS,
  };
}

/** Whether every address of a prefix is one of another. */
function isWithin(inner: Prefix, outer: Prefix): boolean {
  if (inner.bytes.length !== outer.bytes.length || inner.length < outer.length) return false;
  const whole = outer.length >>> 3;
  for (let index = 0; index < whole; index++) if (inner.bytes[index] !== outer.bytes[index]) return false;
  const rest = outer.length & 7;
  return rest === 0 || ((inner.bytes[whole]! ^ outer.bytes[whole]!) & (0xff << (8 - rest)) & 0xff) === 0;
}

/** The addresses of two prefixes: one of them, or `undefined` if they have none in common. `null` is all addresses. */
export function commonPrefix(a: Prefix | null, b: Prefix | null): Prefix | null | undefined {
  if (a === null) return b;
  if (b === null || isWithin(a, b)) return a;
  return isWithin(b, a) ? b : undefined;
}

const isShared = (a: PortRange, b: PortRange): boolean => a[0] <= b[1] && b[0] <= a[1];

/** Whether some packet belongs to both. Exact: each field is one interval, and packets have every combination. */
export function overlaps(a: FlowSpace, b: FlowSpace): boolean {
  return (
    (a.family === null || b.family === null || a.family === b.family) &&
    commonPrefix(a.source, b.source) !== undefined &&
    commonPrefix(a.destination, b.destination) !== undefined &&
    (a.protocol === null || b.protocol === null || a.protocol === b.protocol) &&
    isShared(a.sourcePort, b.sourcePort) &&
    isShared(a.destinationPort, b.destinationPort)
  );
}

/** A space as text: equal spaces have the same, however their match was written. */
export function spaceText({ source, destination, protocol, sourcePort, destinationPort, family }: FlowSpace): string {
  const text = (prefix: Prefix | null): string =>
    prefix === null ? '*' : `${prefix.bytes.join('.')}/${prefix.length}`;
  return [family, text(source), text(destination), protocol, sourcePort.join('-'), destinationPort.join('-')].join(' ');
}
