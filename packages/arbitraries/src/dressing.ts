/** Network dressings: headers and padding that a network adds to a packet without changing its meaning. */
import * as fc from 'fast-check';
import type { GeneratedFrame } from './frame.js';
import { bits, joined } from './values.js';

/** Dressings by name, in the order {@link dress} applies them. */
export const DRESSINGS = [
  'tcp-options',
  'ipv4-options',
  'ipv6-extensions',
  'mpls',
  'vlan',
  'qinq',
  'padding',
  'linux-sll',
  'linux-sll2',
  'raw',
] as const;
export type DressingName = (typeof DRESSINGS)[number];

/** A dressing and its contents. */
export interface Dressing {
  readonly name: DressingName;
  /** Bytes for options, extension headers and padding. */
  readonly content: Uint8Array;
  /** Numbers of 16 bits, one per header: VLAN tags, MPLS labels, kinds of extension headers. At least one. */
  readonly values: readonly number[];
}

const ETHERNET = 14;
const TCP = 6;
const HOP_BY_HOP = 0;
/** Routing, destination options, mobility, first fragment (of one), authentication. */
const EXTENSIONS: readonly number[] = [43, 60, 135, 44, 51];

const u16 = (bytes: Uint8Array, at: number): number => (bytes[at]! << 8) | bytes[at + 1]!;

function put16(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 8;
  bytes[at + 1] = value;
}

/** One's complement sum of 16-bit words (RFC 1071). */
function sum(bytes: Uint8Array, start: number, end: number, initial = 0): number {
  let total = initial;
  for (let at = start; at < end; at += 2) total += (bytes[at]! << 8) | (at + 1 < end ? bytes[at + 1]! : 0);
  while (total > 0xffff) total = (total & 0xffff) + Math.floor(total / 0x10000);
  return total;
}

function insert(bytes: Uint8Array, at: number, piece: Uint8Array): Uint8Array {
  return joined(bytes.subarray(0, at), piece, bytes.subarray(at));
}

/** Content cut or filled to a multiple of `unit` bytes, from `unit` to `max`. */
function sized(content: Uint8Array, unit: number, max: number): Uint8Array {
  const length = Math.min(max, Math.max(unit, Math.ceil(content.length / unit) * unit));
  const out = new Uint8Array(length);
  out.set(content.subarray(0, length));
  return out;
}

const ipVersion = (frame: Uint8Array): 0 | 4 | 6 => {
  const type = u16(frame, 12);
  return type === 0x0800 && frame.length >= 34 ? 4 : type === 0x86dd && frame.length >= 54 ? 6 : 0;
};

/** Adds to the length in the IP header; false if it has no room. */
function longer(frame: Uint8Array, version: 4 | 6, by: number): boolean {
  const at = ETHERNET + (version === 4 ? 2 : 4);
  const length = u16(frame, at);
  if (length === 0 || length + by > 0xffff) return false;
  put16(frame, at, length + by);
  if (version === 4) {
    const end = ETHERNET + (frame[ETHERNET]! & 15) * 4;
    put16(frame, ETHERNET + 10, 0);
    put16(frame, ETHERNET + 10, ~sum(frame, ETHERNET, end) & 0xffff);
  }
  return true;
}

function tcpOptions(frame: Uint8Array, content: Uint8Array): Uint8Array {
  const version = ipVersion(frame);
  if (version === 0 || (version === 4 && frame[ETHERNET] !== 0x45)) return frame;
  const l4 = ETHERNET + (version === 4 ? 20 : 40);
  const fragment = version === 4 && (u16(frame, ETHERNET + 6) & 0x1fff) !== 0;
  if (frame[ETHERNET + (version === 4 ? 9 : 6)] !== TCP || frame[l4 + 12]! >>> 4 !== 5 || fragment) return frame;
  const options = sized(content, 4, 40);
  const out = insert(frame, l4 + 20, options);
  if (!longer(out, version, options.length)) return frame;
  out[l4 + 12] = ((5 + options.length / 4) << 4) | (out[l4 + 12]! & 15);
  put16(out, l4 + 16, 0);
  const addresses = sum(out, ETHERNET + (version === 4 ? 12 : 8), l4);
  put16(out, l4 + 16, ~sum(out, l4, out.length, addresses + TCP + out.length - l4) & 0xffff);
  return out;
}

function ipv4Options(frame: Uint8Array, content: Uint8Array): Uint8Array {
  if (ipVersion(frame) !== 4 || frame[ETHERNET] !== 0x45) return frame;
  const options = sized(content, 4, 40);
  const out = insert(frame, ETHERNET + 20, options);
  out[ETHERNET] = 0x40 | (5 + options.length / 4);
  return longer(out, 4, options.length) ? out : frame;
}

/** Up to seven headers, so that the decoder still follows twice as many. Hop-by-hop options only come first. */
function ipv6Extensions(frame: Uint8Array, content: Uint8Array, values: readonly number[]): Uint8Array {
  if (ipVersion(frame) !== 6) return frame;
  const kinds = values
    .slice(0, 7)
    .map((value, k) => (k === 0 && value & 1 ? HOP_BY_HOP : EXTENSIONS[(value >>> 1) % EXTENSIONS.length]!));
  const last = frame[ETHERNET + 6]!;
  const headers = kinds.map((kind, k) => {
    // A fragment header has 8 bytes. The others have a length field, the authentication header in words.
    const header = kind === 44 ? new Uint8Array(8) : sized(content, 8, 64);
    header[0] = kinds[k + 1] ?? last;
    header[1] = kind === 44 ? 0 : kind === 51 ? header.length / 4 - 2 : header.length / 8 - 1;
    // No segments left in a routing header: the destination address is the last one.
    if (kind === 43) header[3] = 0;
    return header;
  });
  let out = frame;
  for (const header of headers.reverse()) out = insert(out, ETHERNET + 40, header);
  if (!longer(out, 6, out.length - frame.length)) return frame;
  out[ETHERNET + 6] = kinds[0]!;
  return out;
}

function mpls(frame: Uint8Array, values: readonly number[]): Uint8Array {
  if (ipVersion(frame) === 0) return frame;
  const labels = new Uint8Array(4 * Math.min(4, values.length));
  for (let at = 0; at < labels.length; at += 4) {
    put16(labels, at, values[at / 4]!);
    labels[at + 2] = at + 4 === labels.length ? 1 : 0;
    labels[at + 3] = 64;
  }
  const out = insert(frame, ETHERNET, labels);
  put16(out, 12, 0x8847);
  return out;
}

function tags(frame: Uint8Array, type: number, values: readonly number[]): Uint8Array {
  const piece = new Uint8Array(4 * values.length);
  values.forEach((value, k) => {
    put16(piece, 4 * k, k === 0 ? type : 0x8100);
    put16(piece, 4 * k + 2, value);
  });
  return insert(frame, 12, piece);
}

/** Bytes after the packet, as in short Ethernet frames. */
function padding(generated: GeneratedFrame, content: Uint8Array): Uint8Array {
  const { bytes, options } = generated;
  const version = ipVersion(bytes);
  // Without a known length, or in a dialect that ignores it, padding would be part of the packet.
  const known = version !== 0 && u16(bytes, ETHERNET + (version === 4 ? 2 : 4)) !== 0;
  return known && options.profile !== 'elhnoah-md-report' ? insert(bytes, bytes.length, content) : bytes;
}

/** Linux cooked headers: version 1 ends with the EtherType, version 2 begins with it. */
function cooked(frame: Uint8Array, version: 1 | 2): Uint8Array {
  const header = new Uint8Array(version === 1 ? 16 : 20);
  header.set(frame.subarray(12, 14), version === 1 ? 14 : 0);
  put16(header, version === 1 ? 2 : 8, 1);
  header[version === 1 ? 5 : 11] = 6;
  header.set(frame.subarray(6, 12), version === 1 ? 6 : 12);
  return insert(frame.subarray(14), 0, header);
}

/**
 * Puts a dressing on a frame.
 *
 * @param generated an Ethernet frame of a generator: its IP header, if any, is at byte 14
 * @returns a new frame with the same records, or `generated` itself if the dressing does not apply: TCP options on UDP,
 *   or a dressing of IP on a frame without IP
 */
export function dress(generated: GeneratedFrame, { name, content, values }: Dressing): GeneratedFrame {
  const { bytes, options } = generated;
  if ((options.linkType ?? 'ethernet') !== 'ethernet' || bytes.length < ETHERNET) return generated;
  const ethernet = (out: Uint8Array): GeneratedFrame => (out === bytes ? generated : { ...generated, bytes: out });
  switch (name) {
    case 'tcp-options':
      return ethernet(tcpOptions(bytes, content));
    case 'ipv4-options':
      return ethernet(ipv4Options(bytes, content));
    case 'ipv6-extensions':
      return ethernet(ipv6Extensions(bytes, content, values));
    case 'mpls':
      return ethernet(mpls(bytes, values));
    case 'vlan':
      return ethernet(tags(bytes, 0x8100, values.slice(0, 1)));
    case 'qinq':
      return ethernet(tags(bytes, values.length % 2 === 0 ? 0x9100 : 0x88a8, [...values, 1].slice(0, 2)));
    case 'padding':
      return ethernet(padding(generated, content));
    case 'linux-sll':
      return { ...generated, bytes: cooked(bytes, 1), options: { ...options, linkType: name } };
    case 'linux-sll2':
      return { ...generated, bytes: cooked(bytes, 2), options: { ...options, linkType: name } };
    default:
      if (ipVersion(bytes) === 0) return generated;
      return { ...generated, bytes: bytes.slice(ETHERNET), options: { ...options, linkType: name } };
  }
}

/** Dressings of the given names. Default: all. */
export function dressing(names: readonly DressingName[] = DRESSINGS): fc.Arbitrary<Dressing> {
  return fc.record({
    name: fc.constantFrom(...names),
    content: fc.uint8Array({ maxLength: 40 }),
    values: fc.array(bits(16), { minLength: 1, maxLength: 8 }),
  });
}

const LINKS: readonly DressingName[] = ['linux-sll', 'linux-sll2', 'raw'];
const NETWORK: readonly DressingName[] = ['tcp-options', 'ipv4-options', 'ipv6-extensions'];
const TAGS: readonly DressingName[] = ['vlan', 'qinq'];

/** Frames of `frames` with any dressing: some with none, some with several at a time. The records stay the same. */
export function dressed(frames: fc.Arbitrary<GeneratedFrame>): fc.Arbitrary<GeneratedFrame> {
  const maybe = (names: readonly DressingName[]): fc.Arbitrary<Dressing | null> =>
    fc.option(dressing(names), { freq: 2 });
  return fc
    .tuple(frames, maybe(NETWORK), maybe(NETWORK), maybe(['padding']), maybe(['mpls']), maybe(TAGS), maybe(LINKS))
    .map(([generated, ...list]) => {
      let out = generated;
      const tagged = list.some((one) => one?.name === 'mpls' || one?.name === 'vlan' || one?.name === 'qinq');
      for (const one of list) {
        // Raw IP packets have no tags or labels before them.
        if (one === null || (one.name === 'raw' && tagged)) continue;
        out = dress(out, one);
      }
      return out;
    });
}
