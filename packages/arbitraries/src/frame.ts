/** Encoded frames with the expected results of decoding. */
import { type DecodeOptions, type EncodeOptions, encodeFrame, encodeReport, type TelemetryRecord } from '@int/codec';
import { PROFILES } from '@int/codec/internals';
import * as fc from 'fast-check';
import { contextOf, encodeOptionsFor } from './context.js';
import { flow } from './flow.js';
import { lazy } from './lazy.js';
import { type RecordConstraints, reportRecords, telemetryRecord } from './record.js';
import { EMPTY } from './report.js';
import { bits } from './values.js';

/** Bytes, their decode options, and the expected records. */
export interface GeneratedFrame {
  readonly bytes: Uint8Array;
  /** The result of decoding `bytes` with `options`. */
  readonly records: readonly TelemetryRecord[];
  readonly options: DecodeOptions;
}

const DOMAINS: DecodeOptions['domains'] = {
  1: {
    0: { bytes: 4, mode: 'export' },
    1: { bytes: 8, mode: 'source-only' },
    2: { bytes: 8, mode: 'export' },
    3: { bytes: 12, mode: 'source-inserted' },
    15: { bytes: 4, mode: 'source-only' },
  },
  65535: {
    0: { bytes: 120, mode: 'source-only' },
    1: { bytes: 0, mode: 'export' },
    4: { bytes: 1000, mode: 'source-only' },
  },
  0: { 5: { bytes: 4, mode: 'source-inserted' } },
};

/** Default decode options of frames: all profiles, markings, ports and domains. */
const DEPLOYMENTS: readonly DecodeOptions[] = [
  {},
  {},
  { reportPorts: [32766], verifyChecksums: true },
  { reportPorts: [32766] },
  { domains: DOMAINS, reportPorts: [32766] },
  {
    intPorts: [6000, 5000, 4096],
    intDscp: { value: 0x21, mask: 0x31 },
    greProtocol: 0x6559,
    reportPorts: [9555, 32766],
    probePorts: [7777, 8888],
  },
  ...PROFILES.filter((profile) => profile !== 'spec').flatMap((profile): DecodeOptions[] => [
    { profile, reportPorts: [32766] },
    { profile, verifyChecksums: true },
  ]),
];

/** Payloads of monitored packets. The first byte prevents that a plain payload is a report. */
const payloads = /* @__PURE__ */ fc.oneof(
  { arbitrary: fc.constant(undefined), weight: 2 },
  {
    arbitrary: fc.uint8Array({ minLength: 1, maxLength: 24 }).map((bytes) => {
      bytes[0]! |= 0x80;
      return bytes;
    }),
    weight: 1,
  },
);

/** Parts of frames that are not in records: addresses of reports and tunnels, payload. */
const surroundings: fc.Arbitrary<EncodeOptions> = /* @__PURE__ */ fc
  .tuple(payloads, fc.nat(3), fc.constantFrom(64, 1, 255))
  .map(([payload, six, timeToLive]) => ({
    timeToLive,
    ...(payload === undefined ? {} : { payload }),
    ...(six & 1 ? { reporter: '2001:db8::1', collector: '2001:db8::2' } : {}),
    ...(six & 2 ? { tunnelSource: '2001:db8:1::1', tunnelDestination: '2001:db8:1::2' } : {}),
  }));

function encoded(
  constraints: RecordConstraints,
  options: DecodeOptions,
  encode: (records: readonly TelemetryRecord[], options: EncodeOptions) => Uint8Array,
): fc.Arbitrary<GeneratedFrame> {
  const all = { ...constraints, options };
  const single = telemetryRecord(all).map((record) => [record]);
  const { kinds, reportVersions } = constraints;
  const several = (kinds?.includes('report') ?? true) && (reportVersions?.includes('2.0') ?? true);
  const records = several
    ? fc.oneof({ arbitrary: single, weight: 6 }, { arbitrary: reportRecords(all), weight: 1 })
    : single;
  const base = encodeOptionsFor(options);
  return fc
    .tuple(records, surroundings)
    .map(([list, around]) => ({ bytes: encode(list, { ...base, ...around }), records: list, options }));
}

/**
 * Whole Ethernet frames with their decoded records.
 *
 * @param constraints `options` fixes the decode options; without it frames use many: all profiles, other ports and
 *   markings, known domains, verified checksums
 * @throws RangeError as {@link telemetryRecord}
 */
export function frame(constraints: RecordConstraints = {}): fc.Arbitrary<GeneratedFrame> {
  const { options } = constraints;
  const some = options === undefined ? possible(constraints, DEPLOYMENTS) : [options];
  return fc.oneof(...some.map((one) => lazy(() => encoded(constraints, one, encodeFrame))));
}

/** The deployments for which the constraints allow at least one record. */
function possible(constraints: RecordConstraints, deployments: readonly DecodeOptions[]): readonly DecodeOptions[] {
  const some = deployments.filter((options) => {
    try {
      telemetryRecord({ ...constraints, options });
      return true;
    } catch {
      return false;
    }
  });
  if (some.length === 0) throw new RangeError('the constraints leave no frame to generate');
  return some;
}

function encodePayload(records: readonly TelemetryRecord[], options: EncodeOptions): Uint8Array {
  const { version, hwId, sequence, nodeId } = records[0]!.report!;
  return encodeReport({ version, hwId, sequence, nodeId, records: [...records] }, options);
}

/**
 * UDP payloads that are telemetry reports, with their decoded records (link type `report`).
 *
 * @throws RangeError as {@link telemetryRecord}
 */
export function reportPayload(constraints: RecordConstraints = {}): fc.Arbitrary<GeneratedFrame> {
  const { options } = constraints;
  const reports: RecordConstraints = { ...constraints, kinds: ['report'] };
  const given: readonly DecodeOptions[] = options === undefined ? DEPLOYMENTS : [options];
  const some = given.map((one): DecodeOptions => ({ ...one, linkType: 'report' }));
  return fc.oneof(...possible(reports, some).map((one) => lazy(() => encoded(reports, one, encodePayload))));
}

/** EtherTypes of frames without IP: ARP, LLDP, PTP, LACP, an 802.3 length. */
const NOT_IP: readonly number[] = [0x0806, 0x88cc, 0x88f7, 0x8809, 0x0040];

/**
 * Frames that are neither a report nor a packet with INT: packets of any flow, fragments, frames without IP. Each has
 * one record `not-int`, with the flow if there is one.
 *
 * @param options their decode options, whose ports and DSCP they avoid
 * @throws RangeError for `options` that mark packets of DSCP 0
 */
export function plainPacket(options: DecodeOptions = {}): fc.Arbitrary<GeneratedFrame> {
  const { notPlain } = contextOf(options);
  const packet = fc
    .tuple(flow({ notDestinationPorts: notPlain }), surroundings)
    .map(([one, around]): GeneratedFrame => {
      const records = [{ ...EMPTY, flow: one }];
      return { bytes: encodeFrame(records, { ...encodeOptionsFor(options), ...around }), records, options };
    });
  const fragment = fc.tuple(flow({ version: 4 }), bits(13)).map(([one, offset]): GeneratedFrame => {
    const bytes = encodeFrame({ ...EMPTY, flow: one });
    // Fragment offset. The header checksum decreases by the same amount.
    const view = new DataView(bytes.buffer);
    const before = view.getUint16(20);
    const after = Math.max(1, offset);
    view.setUint16(20, after);
    const sum = (~view.getUint16(24) & 0xffff) + (~before & 0xffff) + after;
    const once = (sum & 0xffff) + (sum >>> 16);
    view.setUint16(24, ~((once & 0xffff) + (once >>> 16)) & 0xffff);
    return { bytes, records: [EMPTY], options };
  });
  const other = fc
    .tuple(fc.constantFrom(...NOT_IP), fc.uint8Array({ maxLength: 60 }))
    .map(([etherType, payload]): GeneratedFrame => {
      const bytes = new Uint8Array(14 + payload.length).fill(2, 0, 12);
      new DataView(bytes.buffer).setUint16(12, etherType);
      bytes.set(payload, 14);
      return { bytes, records: [EMPTY], options };
    });
  return fc.oneof(
    { arbitrary: packet, weight: 4 },
    { arbitrary: fragment, weight: 1 },
    { arbitrary: other, weight: 1 },
  );
}
