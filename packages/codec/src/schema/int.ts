/** Schemas of INT: shims, headers, tail, hop blocks. */
import type * as header from '../headers/index.js';
import { equals, FLAG, type HeaderSchema, Parser, schema } from './schema.js';

export const shimV05Schema: HeaderSchema<header.ShimV05> = /* @__PURE__ */ schema('shim', () =>
  new Parser().uint8('type').uint8('reserved').uint8('length').uint8('reserved2'),
);

export const shimV10Schema: HeaderSchema<header.ShimV10> = /* @__PURE__ */ schema('shim', () =>
  new Parser().uint8('type').uint8('reserved').uint8('length').bit6('dscp').bit2('reserved2'),
);

/** The shim of v2.x. The next protocol type gives the meaning of the last 16 bits. */
export const shimV2Schema: HeaderSchema<header.ShimV2> = /* @__PURE__ */ schema('shim', () =>
  new Parser()
    .bit4('type')
    .bit2('npt')
    .bit2('reserved')
    .uint8('length')
    .choice({
      tag: 'npt',
      choices: {
        0: new Parser().uint8('reserved2').bit6('dscp').bit2('reserved3'),
        1: new Parser().uint16('destinationPort'),
        2: new Parser().uint8('reserved2').uint8('protocol'),
        3: new Parser().uint16('value'),
      },
    }),
);

export const vxlanGpeShimV1Schema: HeaderSchema<header.VxlanGpeShimV1> = /* @__PURE__ */ schema('shim', () =>
  new Parser().uint8('type').uint8('reserved').uint8('length').uint8('nextProtocol'),
);

export const vxlanGpeShimV2Schema: HeaderSchema<header.VxlanGpeShimV2> = /* @__PURE__ */ schema('shim', () =>
  new Parser()
    .bit4('type')
    .bit4('reserved')
    .uint8('length')
    .bit1('inserted', FLAG)
    .bit7('reserved2')
    .uint8('nextProtocol'),
);

export const greShimSchema: HeaderSchema<header.GreShim> = /* @__PURE__ */ schema('shim', () =>
  new Parser().bit4('type').bit1('inserted', FLAG).bit3('reserved').uint8('length').uint16('nextProtocol'),
);

export const intTailSchema: HeaderSchema<header.IntTail> = /* @__PURE__ */ schema('tail', () =>
  new Parser().uint8('protocol').uint16('destinationPort').uint8('dscp'),
);

/** In binary-parser, too, 64-bit fields are BigInts. */
export const probeMarkerSchema: HeaderSchema<header.ProbeMarker> = /* @__PURE__ */ schema('shim', () =>
  new Parser().uint64('value'),
);

export const intV05Schema: HeaderSchema<header.IntV05 & { version: number }> = /* @__PURE__ */ schema(
  'int',
  () =>
    new Parser()
      .bit4('version', equals(0))
      .bit2('replication')
      .bit1('copy', FLAG)
      .bit1('hopExceeded', FLAG)
      .bit3('reserved')
      .bit5('instructionCount')
      .uint8('maxHopCount')
      .uint8('totalHopCount')
      .uint16('instructionBitmap')
      .uint16('reserved2'),
  { codes: { version: 'BAD_INT_VERSION' } },
);

export const intV10Schema: HeaderSchema<header.IntV10 & { version: number }> = /* @__PURE__ */ schema(
  'int',
  () =>
    new Parser()
      .bit4('version', equals(1))
      .bit2('replication')
      .bit1('copy', FLAG)
      .bit1('hopExceeded', FLAG)
      .bit1('mtuExceeded', FLAG)
      .bit10('reserved')
      .bit5('hopMl')
      .bit8('remainingHopCount')
      .uint16('instructionBitmap')
      .uint16('reserved2'),
  { codes: { version: 'BAD_INT_VERSION' } },
);

export const intMdSchema: HeaderSchema<header.IntMd & { version: number }> = /* @__PURE__ */ schema(
  'int',
  () =>
    new Parser()
      .bit4('version', equals(2))
      .bit1('discard', FLAG)
      .bit1('hopExceeded', FLAG)
      .bit1('mtuExceeded', FLAG)
      .bit12('reserved')
      .bit5('hopMl')
      .bit8('remainingHopCount')
      .uint16('instructionBitmap')
      .uint16('domainId')
      .uint16('domainInstructions')
      .uint16('domainFlags'),
  { codes: { version: 'BAD_INT_VERSION' } },
);

export const intMxSchema: HeaderSchema<header.IntMx & { version: number }> = /* @__PURE__ */ schema(
  'int',
  () =>
    new Parser()
      .bit4('version', equals(2))
      .bit1('discard', FLAG)
      .bit27('reserved')
      .uint16('instructionBitmap')
      .uint16('domainId')
      .uint16('domainInstructions')
      .uint16('domainFlags'),
  { codes: { version: 'BAD_INT_VERSION' } },
);

export const int2016Schema: HeaderSchema<header.Int2016> = /* @__PURE__ */ schema('int', () =>
  new Parser()
    .bit2('version')
    .bit2('replication')
    .bit1('copy', FLAG)
    .bit1('hopExceeded', FLAG)
    .bit5('reserved')
    .bit5('instructionCount')
    .uint8('maxHopCount')
    .uint8('totalHopCount')
    .uint16('instructionBitmap')
    .uint16('reserved2'),
);

export const intMonSchema: HeaderSchema<header.IntMon> = /* @__PURE__ */ schema('int', () =>
  new Parser()
    .bit2('version')
    .bit2('replication')
    .bit1('copy', FLAG)
    .bit1('hopExceeded', FLAG)
    .bit1('sentToController', FLAG)
    .bit4('reserved')
    .bit5('instructionCount')
    .uint8('maxHopCount')
    .uint8('totalHopCount')
    .uint16('instructionBitmap')
    .uint16('reserved2')
    .uint16('intLength')
    .uint16('destinationPort'),
);
