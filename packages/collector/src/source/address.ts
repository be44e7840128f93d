import { isIPv6 } from 'node:net';

/** Where a UDP socket listens or sends to. */
export interface UdpAddress {
  readonly host: string;
  /** 0 to 65535; 0 lets the system choose. */
  readonly port: number;
}

/** The default port of telemetry reports. */
export const DEFAULT_REPORT_PORT = 32766;

/**
 * Reads `udp://HOST:PORT`. An IPv6 host is in brackets; without a port it is {@link DEFAULT_REPORT_PORT}.
 * @throws TypeError if the text is not such an address
 */
export function parseUdpAddress(text: string): UdpAddress {
  const match = /^udp:\/\/(?:\[([^\]]+)\]|([^:/[\]]+))(?::(\d+))?\/?$/.exec(text);
  const host = match?.[1] ?? match?.[2];
  if (match === null || host === undefined || (match[1] !== undefined && !isIPv6(host.replace(/%.*$/, '')))) {
    throw new TypeError(`"${text}" is not an address of the form udp://HOST:PORT (an IPv6 host in brackets)`);
  }
  const port = match[3] === undefined ? DEFAULT_REPORT_PORT : Number(match[3]);
  if (port > 65535) throw new TypeError(`a port is a number from 0 to 65535, not ${match[3]}`);
  return { host, port };
}

/** The inverse of `parseUdpAddress`. */
export function formatUdpAddress(address: UdpAddress): string {
  return `udp://${address.host.includes(':') ? `[${address.host}]` : address.host}:${address.port}`;
}
