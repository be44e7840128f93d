import type { Replica } from '../generated/p4/v1/p4runtime_pb.js';
import { fits, numberOfBytes, shortestBytes } from '../values/bytes.js';
import { invalid } from './refusal.js';
import type { P4RuntimeTarget } from './target.js';

type Ports = Pick<P4RuntimeTarget, 'hasPort'>;

/** The number of a port. @throws Refusal INVALID_ARGUMENT if there is no such port */
function existing(ports: Ports, port: number, what: string): number {
  if (!ports.hasPort(port)) invalid(`${what}: there is no port ${port}`);
  return port;
}

function portOf(ports: Ports, bytes: Uint8Array, what: string): number {
  if (!fits(bytes, 32)) {
    invalid(bytes.length === 0 ? `Port must not be the empty string: ${what}` : `${what}: a port has at most 32 bits`);
  }
  return existing(ports, Number(numberOfBytes(bytes)), what);
}

/** The port of a replica. @throws Refusal INVALID_ARGUMENT */
export function replicaPort(ports: Ports, { portKind }: Replica, what: string): number {
  if (portKind.case === 'port') return portOf(ports, portKind.value, what);
  if (portKind.case === 'egressPort') return existing(ports, portKind.value, what);
  return invalid(`Missing port in multicast group replica: ${what}`);
}

/** How members of groups name the port that they depend on. */
export type WatchKind =
  | { readonly case: 'watch'; readonly value: number }
  | { readonly case: 'watchPort'; readonly value: Uint8Array }
  | { readonly case: undefined; readonly value?: undefined };

/** The port that a member depends on; undefined: none. @throws Refusal INVALID_ARGUMENT */
export function watchedPort(ports: Ports, watch: WatchKind, what: string): number | undefined {
  if (watch.case === 'watchPort') {
    return watch.value.length === 0 ? undefined : portOf(ports, watch.value, what);
  }
  if (watch.case === 'watch' && watch.value !== 0) return existing(ports, watch.value, what);
  return undefined;
}

/** The same as answers have it: the shortest bytes. It was checked before. */
export function canonicalPort<Kind extends { readonly case: string | undefined; readonly value?: unknown }>(
  kind: Kind,
): Kind {
  const { value } = kind;
  return value instanceof Uint8Array && value.length > 0
    ? { ...kind, value: shortestBytes(numberOfBytes(value)) }
    : kind;
}
