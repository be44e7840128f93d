/** Reads whole packets and telemetry reports, layer by layer, with the schemas alone. */
import type { DecodeOptions } from '../options.js';
import { FEEDBACK_BYTES, FEEDBACK_DSCP } from '../probe/parts.js';
import {
  DEFAULT_GRE_PROTOCOL,
  DEFAULT_INT_DSCP,
  DEFAULT_INT_PORTS,
  DEFAULT_PROBE_PORTS,
  GENEVE_INT_CLASSES,
  GENEVE_PORT,
  GPE_INT_PROTOCOLS,
  INTMON_PORT,
  VXLAN_GPE_PORT,
} from '../scan/settings.js';
import { gpintProbeExtendedSchema, gpintProbeSchema } from './gpint.js';
import { probeMarkerSchema } from './int.js';
import { reportMetadataSchema } from './metadata.js';
import { geneveSchema, ipv6FragmentSchema, ipv6OptionsSchema } from './packet.js';
import { readInt, readIntMon, readShim } from './stack.js';
import { type SchemaLayer, Walk } from './walk.js';

/** As in decoding, with the same defaults. Reports are found on `reportPorts` only. */
export type SchemaOptions = Pick<
  DecodeOptions,
  'intPorts' | 'intDscp' | 'greProtocol' | 'probeMarker' | 'reportPorts' | 'probePorts' | 'profile' | 'domains'
>;

const TRANSPARENT_ETHERNET = 0x6558;

/** Options inside the walk. */
interface WalkOptions extends SchemaOptions {
  /** Whether this is an encapsulated packet or the original packet of NPT 2, which is not searched for INT. */
  readonly plain?: boolean;
}
const PLAIN: WalkOptions = { plain: true };

function readEtherType(walk: Walk, etherType: number, at: number, end: number, options: WalkOptions): void {
  let type = etherType;
  let offset = at;
  while (type === 0x8100 || type === 0x88a8 || type === 0x9100) {
    const { value, next } = walk.take('vlanTag', offset, end);
    type = value.etherType;
    offset = next;
  }
  while (type === 0x8847 || type === 0x8848) {
    const { value, next } = walk.take('mplsLabel', offset, end);
    offset = next;
    if (!value.bottomOfStack) continue;
    type = walk.bytes[offset]! >>> 4 === 6 ? 0x86dd : 0x0800;
  }
  if (type === 0x0800) readIpv4(walk, offset, end, options);
  else if (type === 0x86dd) readIpv6(walk, offset, end, options);
  else if (type === TRANSPARENT_ETHERNET) readEthernet(walk, offset, end, options);
  else walk.add('payload', offset, walk.bytes.subarray(offset, end));
}

function readEthernet(walk: Walk, at: number, end: number, options: WalkOptions): void {
  const { value, next } = walk.take('ethernet', at, end);
  readEtherType(walk, value.etherType, next, end, options);
}

function readIpv4(walk: Walk, at: number, end: number, options: WalkOptions): void {
  const { value, next } = walk.take('ipv4', at, end);
  readTransport(walk, value.protocol, value.dscp, next, at + value.totalLength, options);
}

function readIpv6(walk: Walk, at: number, end: number, options: WalkOptions): void {
  const { value, next } = walk.take('ipv6', at, end);
  let type = value.nextHeader;
  let offset = next;
  while (type === 0 || type === 43 || type === 44 || type === 60) {
    // The first two bytes are the same in options, routing and other headers.
    const description = type === 44 ? ipv6FragmentSchema : ipv6OptionsSchema;
    const { value: extension, byteLength } = description.parse(walk.bytes.subarray(0, end), offset);
    walk.add('ipv6Extension', offset, { type, nextHeader: extension.nextHeader });
    type = extension.nextHeader;
    offset += byteLength;
  }
  readTransport(walk, type, value.dscp, offset, next + value.payloadLength, options);
}

/** Whether the marker of the domain is at `at`. */
function isMarked(walk: Walk, at: number, end: number, options: WalkOptions): boolean {
  const marker = options.probeMarker ?? null;
  return marker !== null && at + 8 <= end && probeMarkerSchema.parse(walk.bytes, at).value.value === marker;
}

/** @param end one past the IP packet; the bytes may end before */
function readTransport(
  walk: Walk,
  protocol: number,
  dscp: number,
  at: number,
  end: number,
  options: WalkOptions,
): void {
  if (protocol === 17) {
    readUdp(walk, dscp, at, end, options);
    return;
  }
  if (protocol === 47 && options.plain !== true) {
    readGre(walk, at, end, options);
    return;
  }
  let offset = at;
  if (protocol === 6) {
    offset = walk.take('tcp', at, end).next;
    if (options.plain !== true) {
      offset = isMarkedByDscp(dscp, options)
        ? readShim(walk, offset, end, options.domains ?? {}).next
        : readMarked(walk, offset, end, options);
    }
  }
  walk.add('payload', offset, walk.bytes.subarray(offset, end));
}

function isMarkedByDscp(dscp: number, options: WalkOptions): boolean {
  const mark = options.intDscp === undefined ? DEFAULT_INT_DSCP : options.intDscp;
  return mark !== null && (dscp & mark.mask) === (mark.value & mark.mask);
}

function readUdp(walk: Walk, dscp: number, at: number, end: number, options: WalkOptions): void {
  const { value, next } = walk.take('udp', at, end);
  const port = value.destinationPort;
  const domains = options.domains ?? {};
  let offset = next;
  if (options.plain !== true) {
    const probe = (options.probePorts ?? DEFAULT_PROBE_PORTS).indexOf(port);
    if (probe === 0 || probe === 1) {
      if (Math.min(at + value.length, end) - next === FEEDBACK_BYTES && dscp === FEEDBACK_DSCP) {
        walk.take('gpintMeta', next, end);
        return;
      }
      walk.takeBy('gpintProbe', probe === 1 ? gpintProbeExtendedSchema : gpintProbeSchema, next, end);
      return;
    }
    if (options.reportPorts?.includes(port)) {
      readReport(walk, next, at + value.length, options);
      return;
    }
    if ((options.intPorts ?? DEFAULT_INT_PORTS).includes(port)) {
      const shim = readShim(walk, next, end, domains);
      if (shim.protocol !== null) {
        readTransport(walk, shim.protocol, 0, shim.next, end, PLAIN);
        return;
      }
      offset = shim.next;
    } else if (options.profile === 'intmon' && port === INTMON_PORT) {
      offset = readIntMon(walk, next, end);
    } else if (isMarkedByDscp(dscp, options)) {
      offset = readShim(walk, next, end, domains).next;
    } else if (port === VXLAN_GPE_PORT) {
      readVxlanGpe(walk, next, end, options);
      return;
    } else if (port === GENEVE_PORT) {
      readGeneve(walk, next, end, options);
      return;
    } else {
      offset = readMarked(walk, next, end, options);
    }
  }
  walk.add('payload', offset, walk.bytes.subarray(offset, end));
}

function readMarked(walk: Walk, at: number, end: number, options: WalkOptions): number {
  if (!isMarked(walk, at, end, options)) return at;
  const { next } = walk.take('probeMarker', at, end);
  return readShim(walk, next, end, options.domains ?? {}).next;
}

function readVxlanGpe(walk: Walk, at: number, end: number, options: WalkOptions): void {
  const header = walk.take('vxlanGpe', at, end);
  let protocol = header.value.nextProtocol;
  let offset = header.next;
  while (GPE_INT_PROTOCOLS.includes(protocol)) {
    const v2 = walk.bytes[offset]! >>> 4 !== 0;
    const { value, next } = v2 ? walk.take('vxlanGpeShimV2', offset, end) : walk.take('vxlanGpeShimV1', offset, end);
    // The shim's own word counts in v0.5 and v1.0, and does not in v2.x.
    const behind = offset + 4 * value.length + (v2 ? 4 : 0);
    if (behind > end) walk.fail('SHIM_BEYOND_PACKET', 'shim', offset, 'the length runs past the packet');
    // The format of a destination-type header was never defined.
    if (value.type !== 2) readInt(walk, value.type, next, behind, options.domains ?? {});
    protocol = value.nextProtocol;
    offset = behind;
  }
  const etherType = [0, 0x0800, 0x86dd, TRANSPARENT_ETHERNET][protocol] ?? 0;
  readInner(walk, etherType, offset, end);
}

function readGeneve(walk: Walk, at: number, end: number, options: WalkOptions): void {
  const { value } = geneveSchema.parse(walk.bytes.subarray(0, end), at);
  const { options: list, ...header } = value;
  walk.add('geneve', at, header);
  let offset = at + 8;
  for (const { optionClass, type, length } of list) {
    const behind = offset + 4 + 4 * length;
    if (GENEVE_INT_CLASSES.includes(optionClass) && (type & 0x7f) !== 2) {
      readInt(walk, type & 0x7f, offset + 4, behind, options.domains ?? {});
    }
    offset = behind;
  }
  readInner(walk, value.protocolType, offset, end);
}

function readGre(walk: Walk, at: number, end: number, options: WalkOptions): void {
  const { value, next } = walk.take('gre', at, end);
  if (value.protocolType !== (options.greProtocol ?? DEFAULT_GRE_PROTOCOL)) {
    walk.add('payload', next, walk.bytes.subarray(next, end));
    return;
  }
  const { value: shim, next: header } = walk.take('greShim', next, end);
  const behind = header + 4 * shim.length;
  if (behind > end) walk.fail('SHIM_BEYOND_PACKET', 'shim', next, 'the length runs past the packet');
  readInt(walk, shim.type, header, behind, options.domains ?? {});
  readInner(walk, shim.nextProtocol, behind, end);
}

/** Reads an encapsulated packet. It is not searched for INT, because marks belong to the outer packet. */
function readInner(walk: Walk, etherType: number, at: number, end: number): void {
  readEtherType(walk, etherType, at, end, PLAIN);
}

/** Options for the packet inside a report, which is searched for INT, but not for reports and probes. */
function insideReport(options: WalkOptions): WalkOptions {
  return { ...options, reportPorts: null, probePorts: [] };
}

/** A report of any version. */
function readReport(walk: Walk, at: number, end: number, options: WalkOptions): void {
  const limit = Math.min(end, walk.bytes.length);
  const first = walk.bytes[at];
  if (first === undefined || at >= limit) walk.fail('TRUNCATED', 'report', at, 'no report');
  if (first >>> 4 === 2) {
    let { next } = walk.take('reportV20Group', at, limit);
    while (next < limit) next = readIndividual(walk, next, limit, options);
  } else if ((first & 15) >= 4) readReport10(walk, at, limit, options);
  else readReport05(walk, at, limit, options);
}

function readIndividual(walk: Walk, at: number, end: number, options: WalkOptions): number {
  const { value, next } = walk.take('reportV20Individual', at, end);
  const behind = value.reportLength === 255 ? end : next + 4 * value.reportLength;
  if (behind > end) walk.fail('TRUNCATED', 'report', at, 'the report is cut');
  let offset = next;
  if (value.reportType === 1) {
    const main = walk.take('reportV20Main', offset, behind);
    offset = main.next;
    const bits = main.value.metadataBits;
    const baseline = reportMetadataSchema('2.0', bits).parse(new Uint8Array(4 * 32)).byteLength;
    const domain = 4 * value.metadataLength - baseline;
    if (domain < 0) walk.fail('BAD_MD_LENGTH', 'report', at, 'MD Length is too small for its bits');
    offset = walk.takeBy('reportMetadata', reportMetadataSchema('2.0', bits, domain), offset, behind).next;
  }
  // F says that there may be INT inside; the older versions do not tie INT to it.
  const inner = value.trackedFlow ? insideReport(options) : PLAIN;
  switch (value.innerType) {
    case 1:
      while (offset < behind) offset = walk.take('reportTlv', offset, behind).next;
      break;
    case 3:
      readEthernet(walk, offset, behind, inner);
      break;
    case 4:
    case 5:
      readEtherType(walk, value.innerType === 4 ? 0x0800 : 0x86dd, offset, behind, inner);
      break;
    default:
      if (offset < behind) walk.add('payload', offset, walk.bytes.subarray(offset, behind));
  }
  return behind;
}

function readReport10(walk: Walk, at: number, end: number, options: WalkOptions): void {
  const { value, next } = walk.take('reportV10', at, end);
  const { metadataBits } = value;
  const metadata = walk.takeBy('reportMetadata', reportMetadataSchema('1.0', metadataBits), next, end);
  if (metadata.next !== at + 4 * value.length) walk.fail('BAD_REPORT_LENGTH', 'report', at, 'Length and bits differ');
  const inner = insideReport(options);
  if (value.nextProtocol === 0) readEthernet(walk, metadata.next, end, inner);
  else readEtherType(walk, value.nextProtocol === 1 ? 0x0800 : 0x86dd, metadata.next, end, inner);
}

function readReport05(walk: Walk, at: number, end: number, options: WalkOptions): void {
  const { value, next } = walk.take('reportV05', at, end);
  let offset = next;
  if (value.nextProtocol === 1) offset = walk.take('reportV05Drop', offset, end).next;
  else if (value.nextProtocol === 2) offset = walk.take('reportV05Local', offset, end).next;
  readEthernet(walk, offset, end, insideReport(options));
}

/**
 * Reads a frame or a report and lists what it found, one entry for each header, in the order of the bytes.
 *
 * This is the readable reference. It follows the words of the specifications and shares no reading code with the
 * decoders, so that each can be checked against the other. It is slow, and stops at the first problem. It knows no
 * dialect except IntMon. It looks for INT on TCP behind the options only, and not in packets inside TLVs.
 *
 * @param bytes an Ethernet frame, or a report (the payload of a UDP datagram)
 * @param start what the bytes are; default `ethernet`
 * @throws CodecError for bytes that are cut or malformed
 */
export function decodeWithSchema(
  bytes: Uint8Array,
  options: SchemaOptions = {},
  start: 'ethernet' | 'report' = 'ethernet',
): SchemaLayer[] {
  const walk = new Walk(bytes);
  if (start === 'report') readReport(walk, 0, bytes.length, options);
  else readEthernet(walk, 0, bytes.length, options);
  return walk.layers;
}
