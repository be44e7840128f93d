/** Schemas of telemetry report headers. */
import type * as header from '../headers/index.js';
import { equals, FLAG, type HeaderSchema, Parser, schema } from './schema.js';

export const reportV20GroupSchema: HeaderSchema<header.ReportV20Group & { version: number }> = /* @__PURE__ */ schema(
  'report',
  () => new Parser().bit4('version', equals(2)).bit6('hwId').bit22('sequence').uint32('nodeId'),
  { codes: { version: 'BAD_REPORT_VERSION' } },
);

export const reportV20IndividualSchema: HeaderSchema<header.ReportV20Individual> = /* @__PURE__ */ schema(
  'report',
  () =>
    new Parser()
      .bit4('reportType')
      .bit4('innerType')
      .uint8('reportLength')
      .uint8('metadataLength')
      .bit1('dropped', FLAG)
      .bit1('queueCongested', FLAG)
      .bit1('trackedFlow', FLAG)
      .bit1('intermediate', FLAG)
      .bit4('reserved'),
);

export const reportV20MainSchema: HeaderSchema<header.ReportV20Main> = /* @__PURE__ */ schema('report', () =>
  new Parser().uint16('metadataBits').uint16('domainId').uint16('domainMetadataBits').uint16('domainMetadataStatus'),
);

/** A TLV; `length` in words. */
export const reportTlvSchema: HeaderSchema<header.ReportTlv & { length: number }> = /* @__PURE__ */ schema('tlv', () =>
  new Parser()
    .bit4('type')
    .bit4('reserved')
    .uint8('length')
    .uint16('template')
    .buffer('data', { length: (item: { length: number }): number => item.length * 4 }),
);

export const reportV10Schema: HeaderSchema<header.ReportV10> = /* @__PURE__ */ schema('report', () =>
  new Parser()
    .bit4('version')
    .bit4('length')
    .bit3('nextProtocol')
    .bit6('metadataBits')
    .bit6('reserved')
    .bit1('dropped', FLAG)
    .bit1('queueCongested', FLAG)
    .bit1('trackedFlow', FLAG)
    .bit6('hwId')
    .uint32('switchId')
    .uint32('sequence')
    .uint32('ingressTimestamp'),
);

export const reportV05Schema: HeaderSchema<header.ReportV05> = /* @__PURE__ */ schema('report', () =>
  new Parser()
    .bit4('version')
    .bit4('nextProtocol')
    .bit1('dropped', FLAG)
    .bit1('queueCongested', FLAG)
    .bit1('trackedFlow', FLAG)
    .bit15('reserved')
    .bit6('hwId')
    .uint32('sequence')
    .uint32('ingressTimestamp'),
);

export const reportV05DropSchema: HeaderSchema<header.ReportV05Drop> = /* @__PURE__ */ schema('report', () =>
  new Parser()
    .uint32('switchId')
    .uint16('ingressPort')
    .uint16('egressPort')
    .uint8('queueId')
    .uint8('dropReason')
    .uint16('padding'),
);

export const reportV05LocalSchema: HeaderSchema<header.ReportV05Local> = /* @__PURE__ */ schema('report', () =>
  new Parser()
    .uint32('switchId')
    .uint16('ingressPort')
    .uint16('egressPort')
    .bit8('queueId')
    .bit24('queueOccupancy')
    .uint32('egressTimestamp'),
);
