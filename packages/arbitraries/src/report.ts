/** Telemetry reports of every version with all possible contents. */
import {
  type EncodeOptions,
  encodeFrame,
  type Flow,
  type Hop,
  type IntHeaderInfo,
  type ReportInfo,
  type ReportType,
  type ReportVersion,
  type TelemetryRecord,
  type Tlv,
} from '@int/codec';
import * as fc from 'fast-check';
import { type Context, encodeOptionsFor } from './context.js';
import { flow } from './flow.js';
import { CARRIERS, type Carrier, carrierFlow, intContent, isFound, KAFKA } from './int.js';
import { readBlock } from './layout.js';
import { bitmap16, bits, bytesOf, word32, words } from './values.js';

/** The record of a packet in which nothing was found. */
export const EMPTY: TelemetryRecord = {
  index: 0,
  status: 'not-int',
  error: null,
  report: null,
  int: null,
  flow: null,
  path: [],
  hops: [],
};

/** The contents of a report: a packet with INT, such a packet in a TLV, or none. */
export type ReportContent =
  | { readonly carrier: Carrier; readonly tlv: boolean }
  | { readonly type: Exclude<ReportType, 'int-md' | 'int-mx'> };

/** A report without its group header. */
export interface ReportBody {
  readonly report: Omit<ReportInfo, 'version' | 'hwId' | 'sequence' | 'nodeId'>;
  /** v0.5: whether the header names the node. */
  readonly named: boolean;
  readonly int: IntHeaderInfo | null;
  readonly flow: Flow | null;
  readonly hops: Hop[];
}

/** Largest sizes of the parts of one individual report. */
export interface Room {
  readonly stackWords: number;
  readonly domainWords: number;
  readonly tlvWords: number;
}
/** The last report of a datagram. */
export const ROOM_ALONE: Room = { stackWords: 252, domainWords: 100, tlvWords: 255 };
/** A report before others: at most 254 words with the largest headers around the inner packet. */
export const ROOM_AMONG_OTHERS: Room = { stackWords: 100, domainWords: 8, tlvWords: 40 };

const TYPES: Readonly<Record<ReportVersion, readonly ReportType[]>> = {
  '0.5': ['int-xd', 'ethernet', 'drop', 'none'],
  '1.0': ['int-xd', 'ethernet', 'ipv4', 'ipv6', 'drop', 'none'],
  '2.0': ['int-xd', 'ethernet', 'ipv4', 'ipv6', 'tlv', 'drop', 'none'],
};

/** All contents that reports of a version can have under these options. */
export function reportContents(version: ReportVersion, context: Context): ReportContent[] {
  if (version === '1.0' && context.profile === 'int-afxdp-kafka') return [{ carrier: KAFKA, tlv: false }];
  const carriers = CARRIERS.filter(
    (carrier) => isFound(carrier, context) && (version !== '1.0' || !context.oneWord || carrier.version === '1.0'),
  );
  // A bare header of the old versions proves nothing: only the port marks it as a report.
  const types = TYPES[version].filter((type) => type !== 'none' || version === '2.0' || context.marked);
  return [
    ...carriers.map((carrier) => ({ carrier, tlv: false })),
    ...(version === '2.0' ? carriers.map((carrier) => ({ carrier, tlv: true })) : []),
    ...types.map((type) => ({ type: type as Exclude<ReportType, 'int-md' | 'int-mx'> })),
  ];
}

/** The report type of a content. */
export function typeOf(content: ReportContent): ReportType {
  return 'carrier' in content ? `int-${content.carrier.mode}` : content.type;
}

/** The flow of a packet without INT. `looked`: the decoder searches it for INT. `null` if the report needs no proof. */
function plainFlow(context: Context, version: 4 | 6 | undefined, looked: boolean): fc.Arbitrary<Flow | null> {
  const some = flow({
    ...(version === undefined ? {} : { version }),
    ...(looked ? { notDestinationPorts: context.notPlain } : {}),
  });
  return context.marked ? fc.option(some, { freq: 7 }) : some;
}

interface Own {
  readonly bits: number;
  readonly metadata: Hop;
  readonly dropReason: number | null;
  readonly dropQueueId: number | null;
}
const NOTHING: Own = { bits: 0, metadata: {}, dropReason: null, dropQueueId: null };

function own(layout: 'report-1.0' | 'report-2.0', selected: number, list: readonly number[], domain: number[]): Own {
  const { hop, drop } = readBlock(layout, selected, list, 0, domain);
  const told = drop !== undefined && drop !== 0xffffffff;
  return {
    bits: selected,
    metadata: hop,
    dropQueueId: told ? drop >>> 24 : null,
    dropReason: told ? (drop >>> 16) & 255 : null,
  };
}

const ownWords = /* @__PURE__ */ fc.array(word32, { maxLength: 19, size: 'max' });
const fourFlags = /* @__PURE__ */ fc.nat(15);

/** The node's own values in a report v2.0. `all`: also bit 0, which is reserved and which only INT-XD records show. */
function own20(context: Context, room: Room, all: boolean): fc.Arbitrary<Own> {
  // Reports of that dialect have none.
  if (context.profile === 'elhnoah-md-report') return fc.constant(NOTHING);
  const some = fc
    .tuple(
      bitmap16,
      ownWords,
      fc.oneof({ arbitrary: fc.constant<number[]>([]), weight: 3 }, words(room.domainWords, 4)),
    )
    .map(([bitmap, list, domain]) => own('report-2.0', all ? bitmap : bitmap & 0x7fff, list, domain));
  return fc.oneof(fc.constant(NOTHING), some);
}

const D = 8;
const Q = 4;
const F = 2;
const I = 1;

/** The flags of a report. Only v2.0 has I. */
function flagged(flags: number): Pick<ReportInfo, 'dropped' | 'queueCongested' | 'trackedFlow' | 'intermediate'> {
  return {
    dropped: (flags & D) !== 0,
    queueCongested: (flags & Q) !== 0,
    trackedFlow: (flags & F) !== 0,
    intermediate: (flags & I) !== 0,
  };
}

function body20(
  type: ReportType,
  flags: number,
  { metadata, dropReason, dropQueueId }: Own,
  { int, flow, hops = [], tlvs }: { int: IntHeaderInfo | null; flow: Flow | null; hops?: Hop[]; tlvs?: Tlv[] },
): ReportBody {
  const ingressTimestamp = metadata.ingressTimestamp ?? null;
  const report = { type, ...flagged(flags), ingressTimestamp, dropReason, dropQueueId, metadata };
  return { report: { ...report, ...(tlvs === undefined ? {} : { tlvs }) }, named: true, int, flow, hops };
}

/** TLVs that hold no packet: domain-specific extension data and reserved types. */
function otherTlv(room: Room): fc.Arbitrary<Tlv> {
  return fc
    .record({
      type: fc.constantFrom(0, 4, 5, 15),
      template: bits(16),
      data: fc.oneof({ arbitrary: words(6), weight: 8 }, { arbitrary: words(room.tlvWords, 0), weight: 1 }),
    })
    .map(({ type, template, data }) => ({ type, template, data: bytesOf(data) }));
}

/** The TLV of a packet, padded to whole words. */
function packetTlv(record: TelemetryRecord, bare: boolean, template: number, options: EncodeOptions): Tlv {
  const frame = encodeFrame(record, options);
  const packet = bare && record.flow !== null ? frame.subarray(14) : frame;
  const data = new Uint8Array(Math.ceil(packet.length / 4) * 4);
  data.set(packet);
  return { type: packet === frame ? 1 : packet[0]! >>> 4 === 6 ? 3 : 2, template, data };
}

interface Packet {
  readonly int: IntHeaderInfo | null;
  readonly flow: Flow | null;
  readonly hops: Hop[];
}

/** Reports of TLVs: any, then one with a packet (the decoder reads only the first such), then any again. */
function tlvBody(content: ReportContent, context: Context, room: Room): fc.Arbitrary<ReportBody> {
  const before = fc.array(otherTlv(room), { maxLength: 2 });
  const anyTlv = fc.oneof(
    otherTlv(room),
    otherTlv(room).map((tlv) => ({ ...tlv, type: 1 })),
  );
  const afterwards = fc.array(anyTlv, { maxLength: 2 });
  const options = encodeOptionsFor(context.options);
  let packet: fc.Arbitrary<Packet | null>;
  if ('carrier' in content) {
    const { carrier } = content;
    packet = fc
      .tuple(intContent(carrier, context, Math.min(100, room.stackWords)), carrierFlow(carrier, context, true))
      .map(([inside, one]) => ({ ...inside, flow: one }));
  } else {
    const plain = plainFlow(context, undefined, true).map((one) => ({ int: null, flow: one, hops: [] }));
    packet = fc.option(plain, { freq: 3 });
  }
  return fc
    .record({
      flags: fourFlags,
      own: own20(context, room, false),
      before,
      packet,
      bare: fc.boolean(),
      template: bits(16),
      afterwards,
    })
    .map(({ flags, own, before, packet, bare, template, afterwards }) => {
      const tlvs = [...before];
      if (packet !== null) {
        const record: TelemetryRecord = { ...EMPTY, status: packet.int === null ? 'not-int' : 'ok', ...packet };
        tlvs.push(packetTlv(record, bare, template, options));
      }
      tlvs.push(...(packet === null ? afterwards.filter((tlv) => tlv.type !== 1) : afterwards));
      const { int = null, flow = null, hops = [] } = packet ?? {};
      // The decoder searches the inner packet for INT only if F is set.
      return body20(typeOf(content), int === null ? flags : flags | F, own, { int, flow, hops, tlvs });
    });
}

function xdHeader(
  version: IntHeaderInfo['version'],
  instructionBitmap = 0,
  domainId = 0,
  domainInstructions = 0,
  domainFlags = 0,
): IntHeaderInfo {
  return {
    mode: 'xd',
    version,
    encapsulation: 'none',
    hopMl: null,
    remainingHopCount: null,
    instructionBitmap,
    discard: false,
    hopExceeded: false,
    mtuExceeded: false,
    domainId,
    domainInstructions,
    domainFlags,
  };
}

/** Individual reports of v2.0. */
export function individual20(content: ReportContent, context: Context, room: Room): fc.Arbitrary<ReportBody> {
  if ('carrier' in content) {
    if (content.tlv) return tlvBody(content, context, room);
    const { carrier } = content;
    const flows = carrierFlow(carrier, context, true);
    return fc
      .tuple(intContent(carrier, context, room.stackWords), flows, fourFlags, own20(context, room, false))
      .map(([{ int, hops }, one, flags, node]) =>
        body20(`int-${carrier.mode}`, flags | F, node, { int, flow: one, hops }),
      );
  }
  const { type } = content;
  switch (type) {
    case 'tlv':
      return tlvBody(content, context, room);
    case 'none':
      return fourFlags.map((flags) => body20(type, flags & ~D, NOTHING, { int: null, flow: null }));
    case 'ethernet':
    case 'ipv4':
    case 'ipv6': {
      const version = type === 'ethernet' ? undefined : type === 'ipv4' ? 4 : 6;
      return fc
        .boolean()
        .chain((looked) =>
          fc
            .tuple(fourFlags, plainFlow(context, version, looked))
            .map(([flags, one]) =>
              body20(type, (flags & ~D & ~F) | (looked ? F : 0), NOTHING, { int: null, flow: one }),
            ),
        );
    }
    case 'drop':
      return fc
        .tuple(fourFlags, fc.option(plainFlow(context, undefined, true), { freq: 3 }), own20(context, room, false))
        .map(([flags, one, node]) => body20(type, flags | D, node, { int: null, flow: one }));
    default:
      return fc
        .record({
          flags: fourFlags,
          flow: fc.option(plainFlow(context, undefined, true), { freq: 3 }),
          node: own20(context, room, true),
          domain: fc.tuple(bits(16), bitmap16, bits(16)),
        })
        .map(({ flags, flow, node, domain: [domainId, instructions, domainFlags] }) => {
          // Domain-specific words need a domain bit that requests them.
          const domainInstructions = node.metadata.domain !== undefined && instructions === 0 ? 0x8000 : instructions;
          const int = xdHeader('2', node.bits, domainId, domainInstructions, domainFlags);
          return body20('int-xd', flags & ~D, node, { int, flow });
        });
  }
}

/**
 * Bodies of the two older versions: `node` holds the header's values of the node, `seen` the 32-bit ingress timestamp.
 */
function bodyOld(
  version: '0.5' | '1.0',
  type: ReportType,
  flags: number,
  seen: number,
  node: Own,
  named: boolean,
  packet: Packet,
): ReportBody {
  const { dropReason, dropQueueId, metadata } = node;
  const { int, flow, hops } = packet;
  return {
    report: { type, ...flagged(flags & ~I), ingressTimestamp: BigInt(seen), dropReason, dropQueueId, metadata },
    named,
    int: type === 'int-xd' ? xdHeader(version) : int,
    flow,
    hops,
  };
}

/** The packet after the header of an older version. The decoder searches it for INT whatever the flags are. */
function packetOld(content: ReportContent, context: Context, room: Room): fc.Arbitrary<Packet> {
  if ('carrier' in content) {
    const { carrier } = content;
    return fc
      .tuple(intContent(carrier, context, room.stackWords), carrierFlow(carrier, context, true))
      .map(([{ int, hops }, one]) => ({ int, hops, flow: one }));
  }
  const { type } = content;
  if (type === 'none') return fc.constant({ int: null, flow: null, hops: [] });
  const version = type === 'ipv4' ? 4 : type === 'ipv6' ? 6 : undefined;
  return plainFlow(context, version, true).map((one) => ({ int: null, flow: one, hops: [] }));
}

/** Reports v1.0. */
export function body10(content: ReportContent, context: Context, room: Room): fc.Arbitrary<ReportBody> {
  const type = typeOf(content);
  return fc
    .record({
      flags: fourFlags,
      seen: word32,
      // The header's six bits. A report with a bare packet has none.
      bitmap: fc.oneof(fc.constant(0), bits(6)),
      list: ownWords,
      packet: packetOld(content, context, room),
    })
    .map(({ flags, seen, bitmap, list, packet }) => {
      const bare = type !== 'drop' && type !== 'int-xd' && !('carrier' in content);
      // An INT-XD report has at least one value of the node: by default hop latency.
      const six = bare ? 0 : type === 'int-xd' && bitmap === 0 ? 0x10 : bitmap;
      const node = own('report-1.0', six << 10, list, []);
      const one = type === 'drop' ? flags | D : 'carrier' in content ? flags : flags & ~D;
      return bodyOld('1.0', type, one, seen, node, true, packet);
    });
}

/** The drop or switch-local header of a report v0.5. */
function header05(kind: 'none' | 'drop' | 'local', list: readonly number[]): Own {
  if (kind === 'none') return NOTHING;
  // Ports and drop word; ports, queue and egress timestamp: in the bits of v1.0.
  return own('report-1.0', kind === 'drop' ? 0x8800 : 0xb000, list, []);
}

/** Reports v0.5. */
export function body05(content: ReportContent, context: Context, room: Room): fc.Arbitrary<ReportBody> {
  const type = typeOf(content);
  return fc
    .record({
      flags: fourFlags,
      seen: word32,
      kind: fc.constantFrom('none', 'drop', 'local'),
      list: ownWords,
      packet: packetOld(content, context, room),
    })
    .map(({ flags, seen, kind: drawn, list, packet }) => {
      let kind: 'none' | 'drop' | 'local' = drawn;
      let one = 'carrier' in content ? flags : type === 'drop' ? flags | D : flags & ~D;
      if (type === 'ethernet' || type === 'none') kind = 'none';
      if (type === 'int-xd' && kind === 'none') kind = 'local';
      if (!context.marked && kind !== 'none') {
        // An unmarked report has a drop header if and only if its D bit is set.
        if (type === 'int-xd') kind = 'local';
        else if (type === 'drop') kind = 'drop';
        else one = kind === 'drop' ? one | D : one & ~D;
      }
      return bodyOld('0.5', type, one, seen, header05(kind, list), kind !== 'none', packet);
    });
}

/** Puts group header values on a body. */
export function recordOf(
  version: ReportVersion,
  body: ReportBody,
  group: { readonly hwId: number; readonly sequence: number; readonly nodeId: number },
  index = 0,
): TelemetryRecord {
  const { report, named, int, flow, hops } = body;
  const nodeId = named ? group.nodeId : null;
  const path: (number | null)[] = [];
  for (const { nodeId: id } of hops) if (id !== undefined) path.push(id);
  if (nodeId !== null && path.at(-1) !== nodeId) path.push(nodeId);
  return {
    index,
    status: 'ok',
    error: null,
    report: { ...report, version, hwId: group.hwId, sequence: group.sequence, nodeId },
    int,
    flow,
    path,
    hops,
  };
}

/** Values of the group header: the sequence number has 22 bits in v2.0, 32 before. */
export function groupOf(version: ReportVersion): fc.Arbitrary<{ hwId: number; sequence: number; nodeId: number }> {
  return fc.record({ hwId: bits(6), sequence: bits(version === '2.0' ? 22 : 32), nodeId: word32 });
}
