/**
 * Schemas of metadata: a hop's block and a report's own values.
 *
 * The fields of a block depend on a bitmap in front of it. binary-parser could describe this only by 16 nested choices.
 * So a parser is built for each bitmap, and kept. The tables here are written from the specifications, independently of
 * the plans that the decoders use.
 */
import type { ReportMetadata } from '../headers/index.js';
import type { Hop } from '../model.js';
import { type HeaderSchema, Parser, schema } from './schema.js';

/** The version whose numbering of the bits is used. There are no dialects. */
export type MetadataFormat = '0.5' | '1.0' | '2' | '2016' | 'report-1.0' | 'report-2.0';

type Name = Exclude<keyof Hop, 'domain'>;
/** Fields of one item with their widths: together one or two words. */
type Item = readonly (readonly [name: Name | 'dropQueueId' | 'dropReason' | 'padding', width: number])[];

const NODE: Item = [['nodeId', 32]];
const L1: Item = [
  ['l1IngressInterface', 16],
  ['l1EgressInterface', 16],
];
const LATENCY: Item = [['hopLatency', 32]];
const QUEUE: Item = [
  ['queueId', 8],
  ['queueOccupancy', 24],
];
const L2: Item = [
  ['l2IngressInterface', 32],
  ['l2EgressInterface', 32],
];
const UTILIZATION: Item = [['egressUtilization', 32]];
const DROP: Item = [
  ['dropQueueId', 8],
  ['dropReason', 8],
  ['padding', 16],
];
const UNNAMED: Item = [['padding', 32]];
const time = (name: 'ingressTimestamp' | 'egressTimestamp', width: number): Item => [[name, width]];
const reserved = (bit: number): Item => [[`reserved${bit}` as Name, 32]];
const RESERVED_9_14: readonly Item[] = /* @__PURE__ */ [9, 10, 11, 12, 13, 14].map(reserved);

const COMPLEMENT: Item = [['checksumComplement', 32]];

/** Items by bit: INT v0.5 section 5.3.4, v1.0 section 4.7, v2.1 section 5.8; reports v1.0 section 3.2, v2.0 3.3.1. */
const ITEMS: Readonly<Record<MetadataFormat, readonly Item[]>> = {
  '0.5': [
    NODE,
    L1,
    LATENCY,
    QUEUE,
    time('ingressTimestamp', 32),
    time('egressTimestamp', 32),
    [
      ['congestionQueueId', 8],
      ['queueCongestion', 24],
    ],
    UTILIZATION,
    reserved(8),
    ...RESERVED_9_14,
    reserved(15),
  ],
  '1.0': [
    NODE,
    L1,
    LATENCY,
    QUEUE,
    time('ingressTimestamp', 32),
    time('egressTimestamp', 32),
    L2,
    UTILIZATION,
    reserved(8),
    ...RESERVED_9_14,
    COMPLEMENT,
  ],
  '2': [
    NODE,
    L1,
    LATENCY,
    QUEUE,
    time('ingressTimestamp', 64),
    time('egressTimestamp', 64),
    L2,
    UTILIZATION,
    [
      ['bufferId', 8],
      ['bufferOccupancy', 24],
    ],
    ...RESERVED_9_14,
    COMPLEMENT,
  ],
  // Each value is a bottom-of-stack bit and 31 bits.
  '2016': [
    [['nodeId', 31]],
    [['l1IngressInterface', 31]],
    [['hopLatency', 31]],
    [['queueOccupancy', 31]],
    time('ingressTimestamp', 31),
    [['l1EgressInterface', 31]],
    [['queueCongestion', 31]],
    [['egressUtilization', 31]],
  ],
  'report-1.0': [L1, LATENCY, QUEUE, time('egressTimestamp', 32), DROP, UTILIZATION],
  'report-2.0': [
    UNNAMED,
    L1,
    LATENCY,
    QUEUE,
    time('ingressTimestamp', 64),
    time('egressTimestamp', 64),
    L2,
    UTILIZATION,
    [
      ['bufferId', 8],
      ['bufferOccupancy', 24],
    ],
    ...RESERVED_9_14,
    DROP,
  ],
};

function addField(parser: Parser, name: string, width: number): Parser {
  switch (width) {
    case 8:
      return parser.uint8(name);
    case 16:
      return parser.uint16(name);
    case 24:
      return parser.bit24(name);
    case 31:
      return parser.bit1(`${name}Bottom`).bit31(name);
    case 64:
      return parser.uint64(name);
    default:
      return parser.uint32(name);
  }
}

/** Whether all fields of the item are all ones. The bottom-of-stack bit of a 31-bit value does not count. */
function isMissing(item: Item, raw: Readonly<Record<string, number | bigint>>): boolean {
  return item.every(([name, width]) => BigInt(raw[name]!) === (1n << BigInt(width)) - 1n);
}

interface Values {
  hop: Hop;
  dropQueueId: number | null;
  dropReason: number | null;
}

function collect(selected: readonly Item[], raw: Readonly<Record<string, number | bigint>>): Values {
  const hop: Record<string, number | bigint | null> = {};
  let dropQueueId: number | null = null;
  let dropReason: number | null = null;
  for (const item of selected) {
    const missing = isMissing(item, raw);
    for (const [name] of item) {
      const value = missing ? null : raw[name]!;
      if (name === 'padding') continue;
      if (name === 'dropQueueId') dropQueueId = value as number | null;
      else if (name === 'dropReason') dropReason = value as number | null;
      else if (name === 'ingressTimestamp' || name === 'egressTimestamp') {
        hop[name] = value === null ? null : BigInt(value);
      } else hop[name] = value;
    }
  }
  return { hop: hop as Hop, dropQueueId, dropReason };
}

function build(format: MetadataFormat, bitmap: number, domainBytes: number): HeaderSchema<Values> {
  const selected: { bit: number; item: Item }[] = [];
  const bits = format === 'report-1.0' ? 6 : 16;
  for (let bit = 0; bit < bits; bit++) {
    const set = format === 'report-1.0' ? bitmap & (0x20 >>> bit) : bitmap & (0x8000 >>> bit);
    if (set === 0) continue;
    const item = ITEMS[format][bit];
    // The 2016 layout does not define bits 8 to 15.
    if (item === undefined) throw new RangeError(`format ${format} does not define bit ${bit}`);
    selected.push({ bit, item });
  }
  return schema<Values>(
    'stack',
    () => {
      let parser = new Parser();
      let domainDone = false;
      const domain = (): void => {
        if (domainBytes > 0 && !domainDone) parser = parser.buffer('domain', { length: domainBytes });
        domainDone = true;
      };
      for (const { bit, item } of selected) {
        // Domain-specific metadata precedes the Checksum Complement.
        if (format === '2' && bit === 15) domain();
        // Each word is read by itself: binary-parser would split a longer run of bits at other places.
        for (const [name, width] of item) parser = addField(parser, name === 'padding' ? `padding${bit}` : name, width);
      }
      domain();
      return parser;
    },
    {
      finish: (parsed) => {
        const raw = parsed as unknown as Record<string, number | bigint> & { domain?: Uint8Array };
        const named: Record<string, number | bigint> = { ...(raw as Record<string, number | bigint>) };
        const values = collect(
          selected.map(({ bit, item }) => {
            if (raw[`padding${bit}`] !== undefined) named.padding = raw[`padding${bit}`]!;
            return item;
          }),
          named,
        );
        if (raw.domain !== undefined) values.hop.domain = raw.domain;
        return values;
      },
    },
  );
}

const cache = /* @__PURE__ */ new Map<string, HeaderSchema<Values>>();

function schemaFor(format: MetadataFormat, bitmap: number, domainBytes: number): HeaderSchema<Values> {
  const key = `${format}/${bitmap}/${domainBytes}`;
  let found = cache.get(key);
  if (found === undefined) {
    found = build(format, bitmap, domainBytes);
    cache.set(key, found);
  }
  return found;
}

/**
 * The schema of one hop's block.
 *
 * @param format INT version
 * @param bitmap 16-bit instruction bitmap, bit 0 = 0x8000
 * @param domainBytes domain-specific bytes in the block (v2.x), default 0
 * @throws RangeError for a bit that the format does not define
 */
export function hopSchema(
  format: Exclude<MetadataFormat, 'report-1.0' | 'report-2.0'>,
  bitmap: number,
  domainBytes = 0,
): HeaderSchema<Hop> {
  const values = schemaFor(format, bitmap, domainBytes);
  return {
    layer: 'stack',
    parse(bytes, offset) {
      const { value, byteLength } = values.parse(bytes, offset);
      return { value: value.hop, byteLength };
    },
  };
}

/**
 * The schema of a report's variable metadata.
 *
 * @param bits RepMdBits: 6 bits (v1.0, bit 0 = 0x20) or 16 bits (v2.0, bit 0 = 0x8000)
 * @param domainBytes domain-specific bytes at the end (v2.0), default 0
 */
export function reportMetadataSchema(
  version: '1.0' | '2.0',
  bits: number,
  domainBytes = 0,
): HeaderSchema<ReportMetadata> {
  const values = schemaFor(`report-${version}`, bits, domainBytes);
  return {
    layer: 'report',
    parse(bytes, offset) {
      const { value, byteLength } = values.parse(bytes, offset);
      const { hop, dropQueueId, dropReason } = value;
      return { value: { metadata: hop, dropQueueId, dropReason }, byteLength };
    },
  };
}
