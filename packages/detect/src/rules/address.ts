import { AddressError, formatIpv4, formatIpv6, type ParsedAddress, parseAddress } from '@int/codec';
import { parseMac } from '@int/codec/internals';
import { nearestName, quoted, ValueError } from '@int/network/internals';
import type { PortRange, Prefix } from './model.js';

/** Addresses, prefixes, ports, protocols and MAC addresses as rules write them. */

/** Names of IP protocols in rules, and their numbers (IANA protocol numbers). */
export const PROTOCOLS: Readonly<Record<string, number>> = {
  icmp: 1,
  igmp: 2,
  ipip: 4,
  tcp: 6,
  egp: 8,
  igp: 9,
  udp: 17,
  dccp: 33,
  ipv6: 41,
  rsvp: 46,
  gre: 47,
  esp: 50,
  ah: 51,
  icmpv6: 58,
  icmp6: 58,
  'ipv6-icmp': 58,
  eigrp: 88,
  ospf: 89,
  pim: 103,
  vrrp: 112,
  l2tp: 115,
  sctp: 132,
  udplite: 136,
};

/** Protocols whose ports are part of a flow. Both ports of all others are 0. */
const WITH_PORTS: readonly number[] = [6, 17, 132, 136];

/** Whether flows of a protocol have ports. */
export const hasPorts = (protocol: number): boolean => WITH_PORTS.includes(protocol);

/** The name of a protocol, or its number as text. */
export function protocolName(protocol: number): string {
  return Object.keys(PROTOCOLS).find((name) => PROTOCOLS[name] === protocol) ?? String(protocol);
}

/**
 * An IP protocol: a name in small letters, or a number from 0 to 255, as number or text.
 *
 * @throws ValueError
 */
export function parseProtocol(value: string | number): number {
  if (typeof value === 'string') {
    if (Object.hasOwn(PROTOCOLS, value)) return PROTOCOLS[value]!;
    if (!/^\d{1,15}$/.test(value)) {
      const names = Object.keys(PROTOCOLS);
      const near = nearestName(value, names);
      throw new ValueError(
        'BAD_VALUE',
        `${quoted(value)} is no protocol: ${near === null ? '' : `did you mean ${near}? `}` +
          `write any, a number from 0 to 255, or one of ${names.join(', ')}`,
      );
    }
  }
  const number = Number(value);
  if (Number.isInteger(number) && number >= 0 && number <= 255) return number === 0 ? 0 : number;
  throw new ValueError(
    'BAD_VALUE',
    `${value} is no protocol: protocol numbers are 0 to 255; write any, tcp, udp or a number`,
  );
}

/** Mask of word `index` of an address whose first `length` bits count: unsigned. */
export function maskOf(length: number, index: number): number {
  const bits = Math.min(32, Math.max(0, length - 32 * index));
  return bits === 0 ? 0 : (0xffffffff << (32 - bits)) >>> 0;
}

/** Text of an address. */
export function addressText(version: 4 | 6, words: readonly number[]): string {
  return version === 4 ? formatIpv4(words[0]!) : formatIpv6(words[0]!, words[1]!, words[2]!, words[3]!);
}

/** Text of a prefix, `10.0.0.0/8`; of one of all bits, the address alone. */
export function prefixText({ version, words, length }: Prefix): string {
  const address = addressText(version, words);
  return length === 32 * words.length ? address : `${address}/${length}`;
}

function addressOf(text: string, whole: string): ParsedAddress {
  try {
    return parseAddress(text);
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    const octets = text.split('.');
    let advice = 'write an address as 10.1.2.3 or 2001:db8::1, a prefix as 10.0.0.0/8, or any';
    if (!text.includes(':') && octets.every((octet) => /^\d{1,3}$/.test(octet))) {
      const written = octets.map(Number);
      if (octets.length < 4) {
        const full = [...written, 0, 0, 0].slice(0, 4).join('.');
        advice = `an IPv4 address has four numbers; write ${full}/${8 * octets.length}, if that is meant`;
      } else if (octets.length > 4 || written.some((octet) => octet > 255)) {
        advice = 'an IPv4 address has four numbers from 0 to 255, as 10.1.2.3';
      } else advice = `write ${written.join('.')}, without leading zeros`;
    } else if (/%/.test(text)) advice = 'write it without the zone (% and what follows)';
    throw new ValueError('BAD_ADDRESS', `${quoted(whole)} is no address: ${advice}`);
  }
}

/**
 * An address or a prefix, IPv4 or IPv6: `10.1.2.3`, `10.0.0.0/8`, `2001:db8::/32`.
 *
 * @throws ValueError (BAD_ADDRESS), also if bits beyond the prefix are set
 */
export function parsePrefix(text: string): Prefix {
  const trimmed = text.trim();
  const slash = trimmed.indexOf('/');
  const { version, words } = addressOf(slash < 0 ? trimmed : trimmed.slice(0, slash), text);
  const bits = 32 * words.length;
  if (slash < 0) return { version, words, length: bits };
  const suffix = trimmed.slice(slash + 1);
  const length = /^(?:0|[1-9]\d{0,2})$/.test(suffix) ? Number(suffix) : -1;
  if (length < 0 || length > bits) {
    const mask = maskLength(suffix);
    throw new ValueError(
      'BAD_ADDRESS',
      `${quoted(text)} is no prefix: ` +
        (mask === null
          ? `write a length from 0 to ${bits} after the slash, as ${addressText(version, words)}/${bits}`
          : `write the mask as a length, /${mask}`),
    );
  }
  const network = words.map((word, index) => (word & maskOf(length, index)) >>> 0);
  if (network.some((word, index) => word !== words[index])) {
    throw new ValueError(
      'BAD_ADDRESS',
      `${quoted(text)} has bits beyond its prefix: write ${addressText(version, network)}/${length} for the network, ` +
        `or ${addressText(version, words)} for the one address`,
    );
  }
  return { version, words, length };
}

/** Length of a netmask such as 255.255.0.0, or `null`. */
function maskLength(text: string): number | null {
  if (!/^\d{1,3}(?:\.\d{1,3}){3}$/.test(text)) return null;
  const word = text.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0);
  const length = Array.from({ length: 33 }, (_, each) => each).find((each) => maskOf(each, 0) === word);
  return length ?? null;
}

const isPort = (port: number): boolean => Number.isInteger(port) && port >= 0 && port <= 0xffff;
const portNumber = (text: string): number => (/^\d{1,6}$/.test(text) ? Number(text) : -1);

/**
 * A port, or a range of ports with both ends: `80`, `80-443`.
 *
 * @throws ValueError (BAD_PORT)
 */
export function parsePorts(value: string | number): PortRange {
  const isText = typeof value === 'string';
  const [first = '', last = first, ...more] = isText ? value.split('-').map((part) => part.trim()) : [];
  const from = isText ? portNumber(first) : value + 0;
  const to = isText ? portNumber(last) : from;
  if (!isPort(from) || !isPort(to) || more.length > 0) {
    const hint = isText && /[,:]|\.\./.test(value) ? '; ports that are no range need a rule each' : '';
    const message = `${isText ? quoted(value) : value} is no port: write a number from 0 to 65535, a range as 80-443, or any${hint}`;
    throw new ValueError('BAD_PORT', message);
  }
  if (from > to)
    throw new ValueError('BAD_PORT', `${quoted(String(value))} ends before it starts: write ${to}-${from}`);
  return { from, to };
}

/**
 * A MAC address of 48 bits: `02:00:00:00:00:01`, or with dashes.
 *
 * @throws ValueError (BAD_MAC)
 */
export function parseMacNumber(text: string): number {
  try {
    return parseMac(text.trim()).reduce((sum, byte) => sum * 256 + byte, 0);
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    const digits = text.replaceAll(/[^\da-f]/gi, '').toLowerCase();
    const advice =
      digits.length === 12 && /^[\da-f:.\s-]+$/i.test(text)
        ? macText(Number.parseInt(digits, 16))
        : '02:00:00:00:00:01 or any';
    throw new ValueError('BAD_MAC', `${quoted(text)} is no MAC address: write ${advice}`);
  }
}

/** Text of a MAC address. */
export function macText(mac: number): string {
  const digits = mac.toString(16).padStart(12, '0');
  return digits.replaceAll(/..(?!$)/g, '$&:');
}
