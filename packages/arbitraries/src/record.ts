/** Telemetry records: the decoded form of one report, one packet with INT, one probe or one plain packet. */
import type {
  DecodeOptions,
  Encapsulation,
  GpintInfo,
  IntHeaderInfo,
  IntVersion,
  ReportType,
  ReportVersion,
  TelemetryRecord,
} from '@int/codec';
import * as fc from 'fast-check';
import { type Context, contextOf } from './context.js';
import { flow } from './flow.js';
import { gpint, probeFlow } from './gpint.js';
import { CARRIERS, type Carrier, carrierFlow, INTMON, intContent, isFound } from './int.js';
import { lazy } from './lazy.js';
import {
  body05,
  body10,
  EMPTY,
  groupOf,
  individual20,
  type ReportContent,
  ROOM_ALONE,
  ROOM_AMONG_OTHERS,
  type Room,
  recordOf,
  reportContents,
  typeOf,
} from './report.js';

/** Origins of records: a report, a packet with INT, a GPINT probe, any other packet. */
export const RECORD_KINDS = ['report', 'int', 'gpint', 'plain'] as const;
export type RecordKind = (typeof RECORD_KINDS)[number];

/** Constraints of records. Omitted ones do not apply. */
export interface RecordConstraints {
  readonly kinds?: readonly RecordKind[];
  readonly reportVersions?: readonly ReportVersion[];
  readonly reportTypes?: readonly ReportType[];
  /**
   * Versions of the INT header: of the packet, or of the packet inside a report. Records without INT are not affected.
   */
  readonly intVersions?: readonly IntVersion[];
  readonly modes?: readonly (IntHeaderInfo | GpintInfo)['mode'][];
  readonly encapsulations?: readonly Encapsulation[];
  /** Most words of an INT stack. Default 252, or what the carrier's length field allows. */
  readonly maxStackWords?: number;
  /**
   * The decode options of the records. They determine which records can be recognised: reports without a packet of a
   * known flow need `reportPorts`; IntMon, int-afxdp-kafka and the dialects of INT v1.0 need their `profile`; `domains`
   * fixes the length of blocks. Default: none.
   */
  readonly options?: DecodeOptions;
}

type Wish = { readonly carrier: Carrier } | ReportContent;

function wanted(constraints: RecordConstraints, content: Wish): boolean {
  const { intVersions, modes, encapsulations } = constraints;
  if (!('carrier' in content)) {
    const xd = content.type === 'int-xd';
    return (
      (modes === undefined || (xd && modes.includes('xd'))) &&
      (encapsulations === undefined || encapsulations.includes('none'))
    );
  }
  const { version, mode, encapsulation } = content.carrier;
  return (
    (intVersions?.includes(version) ?? true) &&
    (modes?.includes(mode) ?? true) &&
    (encapsulations?.includes(encapsulation) ?? true)
  );
}

function packets(constraints: RecordConstraints, context: Context, maxWords: number): fc.Arbitrary<TelemetryRecord>[] {
  const carriers = context.profile === 'intmon' ? [...CARRIERS, INTMON, INTMON, INTMON] : CARRIERS;
  return carriers
    .filter((carrier) => isFound(carrier, context) && wanted(constraints, { carrier }))
    .map((carrier) =>
      lazy(() =>
        fc
          .tuple(intContent(carrier, context, maxWords), carrierFlow(carrier, context, false))
          .map(([{ int, hops }, one]): TelemetryRecord => {
            const path = hops.flatMap(({ nodeId }) => (nodeId === undefined ? [] : [nodeId]));
            return { ...EMPTY, status: 'ok', int, flow: one, path, hops };
          }),
      ),
    );
}

function reports(constraints: RecordConstraints, context: Context, room: Room): fc.Arbitrary<TelemetryRecord>[] {
  const { reportVersions = ['0.5', '1.0', '2.0'], reportTypes } = constraints;
  return reportVersions.flatMap((version) =>
    reportContents(version, context)
      .filter((content) => (reportTypes?.includes(typeOf(content)) ?? true) && wanted(constraints, content))
      .map((content) =>
        lazy(() => {
          const body = (version === '2.0' ? individual20 : version === '1.0' ? body10 : body05)(content, context, room);
          return fc.tuple(body, groupOf(version)).map(([one, group]) => recordOf(version, one, group));
        }),
      ),
  );
}

function probes(
  { modes, intVersions, encapsulations }: RecordConstraints,
  context: Context,
): fc.Arbitrary<TelemetryRecord>[] {
  if (!(modes?.includes('gpint') ?? true) || intVersions !== undefined || encapsulations !== undefined) return [];
  return [false, true]
    .filter((extended) => context.probePorts[extended ? 1 : 0] !== undefined)
    .map((extended) =>
      fc.tuple(gpint(extended), probeFlow(extended, context)).map(([int, one]): TelemetryRecord => {
        const path = int.switches.map(({ switchId }) => switchId);
        return { ...EMPTY, status: 'ok', int, flow: one, path };
      }),
    );
}

/** The generators of all combinations allowed by the constraints, with weights. */
function choices(constraints: RecordConstraints): { arbitrary: fc.Arbitrary<TelemetryRecord>; weight: number }[] {
  const { kinds = RECORD_KINDS, maxStackWords = 252, options = {} } = constraints;
  if (!(Number.isInteger(maxStackWords) && maxStackWords >= 0))
    throw new RangeError('maxStackWords: an integer from 0');
  const context = contextOf(options);
  const weighted = (weight: number, list: fc.Arbitrary<TelemetryRecord>[]) =>
    list.map((arbitrary) => ({ arbitrary, weight }));
  const link = options.linkType === 'report';
  const room = { ...ROOM_ALONE, stackWords: maxStackWords };
  return [
    ...(kinds.includes('report') ? weighted(1, reports(constraints, context, room)) : []),
    ...(kinds.includes('int') && !link ? weighted(1, packets(constraints, context, maxStackWords)) : []),
    ...(kinds.includes('gpint') && !link ? weighted(3, probes(constraints, context)) : []),
    ...(kinds.includes('plain') && !link
      ? weighted(4, [
          fc
            .option(flow({ notDestinationPorts: context.notPlain }), { freq: 7 })
            .map((one) => ({ ...EMPTY, flow: one })),
        ])
      : []),
  ];
}

/**
 * Telemetry records of all versions, encapsulations and report types, about equally often. Encoding a record with
 * `encodeFrame` and the encode options of `encodeOptionsFor`, then decoding it with `options`, gives the record.
 *
 * Records that a decoder cannot recognise are not generated: see the README.
 *
 * @throws RangeError if the constraints exclude everything, or for `options` that mark packets of DSCP 0
 */
export function telemetryRecord(constraints: RecordConstraints = {}): fc.Arbitrary<TelemetryRecord> {
  const list = choices(constraints);
  if (list.length === 0) throw new RangeError('the constraints leave no record to generate');
  return fc.oneof(...list);
}

/**
 * The individual reports of one v2.0 datagram, in order: 1 to 8, sometimes up to 250. They share node id, hardware id and
 * sequence number; only the last may be longer than 254 words.
 *
 * @throws RangeError as {@link telemetryRecord}
 */
export function reportRecords(constraints: RecordConstraints = {}): fc.Arbitrary<TelemetryRecord[]> {
  const { maxStackWords = 252, options = {} } = constraints;
  const context = contextOf(options);
  const among = { ...ROOM_AMONG_OTHERS, stackWords: Math.min(maxStackWords, ROOM_AMONG_OTHERS.stackWords) };
  const bodies = (room: Room): ReturnType<typeof individual20> => {
    const contents = reportContents('2.0', context).filter(
      (content) => (constraints.reportTypes?.includes(typeOf(content)) ?? true) && wanted(constraints, content),
    );
    if (contents.length === 0) throw new RangeError('the constraints leave no report v2.0 to generate');
    return fc.oneof(...contents.map((content) => lazy(() => individual20(content, context, room))));
  };
  const small = bodies(among);
  const bare = individual20({ type: 'none' }, context, among);
  // A report of that dialect extends to the end of the frame, so there is only one.
  const single = context.profile === 'elhnoah-md-report';
  const before = single
    ? fc.constant([])
    : fc.oneof(
        { arbitrary: fc.array(small, { maxLength: 7 }), weight: 12 },
        {
          arbitrary: fc.array(wanted(constraints, { type: 'none' }) ? bare : small, { maxLength: 249, size: 'max' }),
          weight: 1,
        },
      );
  return fc
    .tuple(before, bodies({ ...ROOM_ALONE, stackWords: maxStackWords }), groupOf('2.0'))
    .map(([list, last, group]) => [...list, last].map((body, index) => recordOf('2.0', body, group, index)));
}

/**
 * Decoded INT-MD and INT-MX headers of all versions, modes and encapsulations, about equally often. `hopMl` and the
 * other counts fit the instruction bitmap. {@link telemetryRecord} also gives the stack.
 *
 * @throws RangeError if the constraints exclude everything
 */
export function intHeader(constraints: RecordConstraints = {}): fc.Arbitrary<IntHeaderInfo> {
  const context = contextOf(constraints.options ?? {});
  const some = CARRIERS.filter((carrier) => wanted(constraints, { carrier, tlv: false }));
  if (some.length === 0) throw new RangeError('the constraints leave no INT header to generate');
  return fc
    .oneof(...some.map((carrier) => lazy(() => intContent(carrier, context, constraints.maxStackWords ?? 252))))
    .map(({ int }) => int);
}
