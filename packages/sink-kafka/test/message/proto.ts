import { fileURLToPath } from 'node:url';
import { parseIpv4, parseIpv6 } from '@int/codec/internals';
import type { EventRecord, FlowRecord, ReportRecord } from '@int/collector';
import protobuf from 'protobufjs';

const root = protobuf.loadSync(fileURLToPath(new URL('../../proto/int.proto', import.meta.url)));

/** The published messages, as another implementation of Protobuf reads them. */
export const PROTO = {
  Report: root.lookupType('int.v1.Report'),
  Event: root.lookupType('int.v1.Event'),
  FlowSummary: root.lookupType('int.v1.FlowSummary'),
  Watermark: root.lookupType('int.v1.Watermark'),
} as const;

type Json = Record<string, unknown>;

/** A message as a plain object: 64-bit numbers and enums as strings, bytes in hexadecimal; fields without value left out. */
export function plain(type: protobuf.Type, value: Uint8Array): Json {
  const json = type.toObject(type.decode(value), { longs: String, enums: String, bytes: Array });
  return JSON.parse(JSON.stringify(json)) as Json;
}

/** Less those that are what a missing field is taken for. */
function present(fields: Json): Json {
  const isPlain = (value: unknown): boolean =>
    value === null || value === undefined || value === 0 || value === false || value === '' || value === '0';
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isPlain(value)));
}

/** Less those that are null. */
function given(fields: object): Json {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
}

function address(text: string): number[] {
  const words = text.includes(':') ? parseIpv6(text) : [parseIpv4(text)];
  return words.flatMap((word) => [word >>> 24, (word >>> 16) & 0xff, (word >>> 8) & 0xff, word & 0xff]);
}

function flow(json: NonNullable<ReportRecord['flow']>): Json {
  const { source, destination, ...rest } = json;
  return { source: address(source), destination: address(destination), ...present({ ...rest }) };
}

function id(text: string): Json {
  const [instance, number] = text.split('-') as [string, string];
  return { instance: String(BigInt(`0x${instance}`)), ...present({ number }) };
}

const name = (prefix: string, text: string): string => `${prefix}_${text.toUpperCase().replaceAll(/[.-]/g, '_')}`;

/** What the message of a report must be. */
export function reportMessage(record: ReportRecord): Json {
  const { report, int, hops } = record;
  const message: Json = { ...id(record.id), ...present({ timeNs: record.timeNs }) };
  if (report !== null) {
    const { version, nodeId, ingressTimestamp, dropReason, dropQueueId, metadataBitmap, metadata, ...rest } = report;
    message.report = {
      version: name('REPORT_VERSION', version),
      ...present(rest),
      ...given({ nodeId, dropReason, dropQueueId }),
      ...(version === '2.0' ? {} : { ingressTimestamp: Number(ingressTimestamp) }),
      ...present({ metadataBitmap: Number(metadataBitmap) }),
    };
    if (metadata !== null) message.metadata = metadata;
  }
  if (int !== null) {
    const { mode, version, encapsulation, instructionBitmap, ...rest } = int;
    message.int = {
      mode: name('MODE', mode),
      ...(version === null ? {} : { version: name('INT_VERSION', version) }),
      ...(encapsulation === 'none' ? {} : { encapsulation: name('ENCAPSULATION', encapsulation) }),
      ...present({ instructionBitmap: Number(instructionBitmap), ...rest }),
    };
  }
  if (record.flow !== null) message.flow = flow(record.flow);
  if (hops.length > 0) message.hops = hops;
  return message;
}

/** What the message of an event must be. */
export function eventMessage(record: EventRecord): Json {
  const {
    type: _,
    id: text,
    timeNs,
    flow: monitored,
    path,
    evidence,
    state,
    firstSight,
    pathNames,
    ...rest
  } = record as EventRecord & { pathNames?: (string | number | null)[] };
  return {
    ...id(text),
    ...present({ timeNs }),
    ...(state === 'once' ? {} : { state }),
    ...(firstSight ? { firstSight } : {}),
    ...given(rest),
    ...(pathNames === undefined ? {} : { pathNames: pathNames.map((name) => String(name ?? '')) }),
    ...(evidence === null
      ? {}
      : { evidence: evidence.map(({ value, ...where }) => ({ ...given(where), ...present({ value }) })) }),
    ...(monitored === null ? {} : { flow: flow(monitored) }),
    ...(path.length === 0 ? {} : { path: path.map((node) => node ?? 0xffffffff) }),
  };
}

/** What the message of a flow must be. */
export function flowMessage(record: FlowRecord): Json {
  const { type: _, id: text, flow: monitored, hops, endToEnd, hopsBeyond, reason, ...rest } = record;
  const metric = (json: object): Json => {
    const { last, ...others } = json as { last: number | null };
    return { ...given({ last }), ...present(others) };
  };
  return {
    ...id(text),
    reason,
    flow: flow(monitored),
    ...present(rest),
    ...given({ hopsBeyond }),
    ...(endToEnd === null ? {} : { endToEnd: metric(endToEnd) }),
    ...(hops.length === 0
      ? {}
      : {
          hops: hops.map(({ nodeId, ...metrics }) => ({
            ...given({ nodeId }),
            ...(Object.keys(metrics).length === 0
              ? {}
              : { metrics: Object.entries(metrics).map(([key, json]) => ({ name: key, ...metric(json as object) })) }),
          })),
        }),
  };
}
