/** Ports on the command line: `1=xdp:eth0`, `2=packet:eth1`, `3=udp:127.0.0.1:5001-127.0.0.1:6001`, `4=pcap:in.pcap:out.pcap`. */
import type { UdpPortAddress } from '@int/p4switch';
import { InvalidArgumentError } from 'commander';

/** What a port of a switch is. */
export type PortSpec =
  | { readonly kind: 'xdp'; readonly interface: string; readonly queue?: number }
  | { readonly kind: 'packet'; readonly interface: string }
  | { readonly kind: 'udp'; readonly local: UdpPortAddress; readonly remote: UdpPortAddress }
  | { readonly kind: 'reports'; readonly remote: UdpPortAddress }
  | { readonly kind: 'pcap'; readonly input: string | null; readonly output: string | null };

export const SPEC_HELP = 'xdp:IFACE[:QUEUE], packet:IFACE, udp:HOST:PORT-HOST:PORT, pcap:IN[:OUT] or reports:HOST:PORT';
/** Numbers of ports. 511 means drop. */
export const MOST_PORT = 510;

const address = (host: string, port: string): UdpPortAddress | null =>
  Number(port) <= 65_535 ? { host: host.replace(/^\[(.*)\]$/, '$1'), port: Number(port) } : null;

const HOST = String.raw`(\[[0-9a-fA-F:.]+\]|[^:\s[\]-][^:\s[\]]*)`;

/** The two ends of a tunnel. */
export interface Tunnel {
  readonly local: UdpPortAddress;
  readonly remote: UdpPortAddress;
}

/** `HOST:PORT-HOST:PORT`: the own end, and the other. @returns null if the text is none */
export function parseTunnel(text: string): Tunnel | null {
  const match = new RegExp(`^${HOST}:(\\d{1,5})-${HOST}:(\\d{1,5})$`).exec(text);
  if (match === null) return null;
  const local = address(match[1]!, match[2]!);
  const remote = address(match[3]!, match[4]!);
  return local === null || remote === null || remote.port === 0 ? null : { local, remote };
}

/** @returns null if the text is no description of a port */
export function parsePortSpec(text: string): PortSpec | null {
  const [, kind, rest = ''] = /^([a-z]+):(.*)$/s.exec(text) ?? [];
  switch (kind) {
    case 'xdp': {
      const [, name, queue] = /^([^:/\s]+)(?::(\d{1,5}))?$/.exec(rest) ?? [];
      if (name === undefined) return null;
      return { kind, interface: name, ...(queue !== undefined && { queue: Number(queue) }) };
    }
    case 'packet':
      return /^[^:/\s]+$/.test(rest) ? { kind, interface: rest } : null;
    case 'udp': {
      const tunnel = parseTunnel(rest);
      return tunnel && { kind, ...tunnel };
    }
    case 'reports': {
      const [, host, port] = new RegExp(`^${HOST}:(\\d{1,5})$`).exec(rest) ?? [];
      const remote = host === undefined ? null : address(host, port!);
      return remote === null || remote.port === 0 ? null : { kind, remote };
    }
    case 'pcap': {
      const [, input = '', output = ''] = /^([^:]*)(?::(.*))?$/s.exec(rest) ?? [];
      if (input === '' && output === '') return null;
      return { kind, input: input === '' ? null : input, output: output === '' ? null : output };
    }
    default:
      return null;
  }
}

/** An option parser for `N=SPEC`, which may be repeated. */
export function portOption(
  text: string,
  previous: ReadonlyMap<number, PortSpec> = new Map(),
): ReadonlyMap<number, PortSpec> {
  const [, number, rest = ''] = /^(\d{1,3})=(.+)$/s.exec(text) ?? [];
  const port = Number(number ?? Number.NaN);
  if (!(port <= MOST_PORT)) throw new InvalidArgumentError(`Give N=SPEC with N from 0 to ${MOST_PORT}.`);
  if (previous.has(port)) throw new InvalidArgumentError(`Port ${port} is there already.`);
  const spec = parsePortSpec(rest);
  if (spec === null) throw new InvalidArgumentError(`SPEC is ${SPEC_HELP}.`);
  return new Map([...previous, [port, spec]]);
}
