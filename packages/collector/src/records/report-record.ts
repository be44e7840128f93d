import {
  ENCAPSULATIONS,
  type Encapsulation,
  FIELDS,
  FLAG,
  type Flow,
  type HopJson,
  HopView,
  INT_VERSIONS,
  type IntVersion,
  MODES,
  NOT_AVAILABLE,
  REPORT_VERSIONS,
  RecordView,
  type ReportVersion,
  type TelemetryBatch,
} from '@int/codec';

/** The header of a telemetry report. */
export interface ReportRecordHeader {
  readonly version: ReportVersion;
  readonly hwId: number;
  readonly sequence: number;
  /** The reporting node; `null` where the header does not name it. */
  readonly nodeId: number | null;
  readonly dropped: boolean;
  readonly queueCongested: boolean;
  readonly trackedFlow: boolean;
  readonly intermediate: boolean;
  /** Decimal; v0.5 and v1.0: the header's 32 bits; v2.0: that of the node's own metadata; `null` if none. */
  readonly ingressTimestamp: string | null;
  readonly dropReason: number | null;
  readonly dropQueueId: number | null;
  /** The report's own metadata bits in the numbering of v2.0: `0x` and four digits. */
  readonly metadataBitmap: string;
  /** The reporting node's own values, without `nodeId`; `null` if the report has none. */
  readonly metadata: HopJson | null;
}

/** How INT was carried. */
export interface ReportRecordInt {
  readonly mode: 'md' | 'mx' | 'xd' | 'gpint';
  /** `null` for GPINT. */
  readonly version: IntVersion | null;
  readonly encapsulation: Encapsulation;
  /** `0x` and four digits. An INT-XD report of v2.0: the report's own metadata bits. */
  readonly instructionBitmap: string;
  readonly discard: boolean;
  readonly hopExceeded: boolean;
  readonly mtuExceeded: boolean;
}

/**
 * One report, or one packet that carried INT, with its hops, as held in the columns of a batch. The names are those of
 * `int decode --json`. Other INT header fields, TLVs and domain-specific words have no column and are left out.
 *
 * A hop has the items that it carried, without those 'not available': columns do not tell absent from unavailable.
 */
export interface ReportRecord {
  readonly type: 'report';
  /** `<instance>-<n>`: a reader that has seen the id has seen the record. */
  readonly id: string;
  /** Capture or arrival time, nanoseconds since the epoch, decimal. */
  readonly timeNs: string;
  readonly status: 'ok';
  readonly error: null;
  /** `null`: a packet that carried INT itself. */
  readonly report: ReportRecordHeader | null;
  /** `null`: a report about a packet without INT. */
  readonly int: ReportRecordInt | null;
  readonly flow: Flow | null;
  /**
   * Node ids from the INT source on; the reporting node last, unless the last hop is that node. `null` stands for a hop
   * that could not give its id.
   */
  readonly path: readonly (number | null)[];
  /** INT source first. The reporting node's own values are in `report.metadata`. */
  readonly hops: readonly HopJson[];
}

const MODE_XD = /* @__PURE__ */ MODES.indexOf('xd');
const MODE_GPINT = /* @__PURE__ */ MODES.indexOf('gpint');

export function modeOf(flags: number): number {
  return (flags >>> FLAG.MODE_SHIFT) & FLAG.MODE_MASK;
}

/** Index in INT_VERSIONS. INT-XD has no INT header: its version is that of the report, and numbered alike. */
export function intVersionOf(flags: number): number {
  if (modeOf(flags) === MODE_XD) return flags & FLAG.REPORT_MASK;
  return (flags >>> FLAG.INT_VERSION_SHIFT) & FLAG.INT_VERSION_MASK;
}

/** Instruction bitmap of the INT header; INT-XD of v2.0: the report's own bits. */
export function instructionsOf(flags: number, instructions: number): number {
  if (modeOf(flags) !== MODE_XD) return instructions >>> 16;
  return (flags & FLAG.REPORT_MASK) === 3 ? instructions & 0xffff : 0;
}

/** Whether hops that lack a node id could not give it, so that they are part of the path. */
export function namesNodes(flags: number, instructions: number): boolean {
  const mode = modeOf(flags);
  return mode === MODE_GPINT || (mode !== 0 && mode !== MODE_XD && (instructions & 0x8000_0000) !== 0);
}

function hex16(value: number): string {
  return `0x${value.toString(16).padStart(4, '0')}`;
}

/** A hop row as an object, in the order of the fields of the codec's hops. */
function hopRecord(batch: TelemetryBatch, row: number, isOwn: boolean): HopJson {
  const view = new HopView(batch, row);
  const hop: Record<string, number | string> = {};
  for (const field of FIELDS) {
    if (isOwn && field.name === 'nodeId') continue;
    const value = view.read(field);
    if (value !== null) hop[field.name] = typeof value === 'bigint' ? String(value) : value;
  }
  return hop;
}

function headerRecord(batch: TelemetryBatch, row: number, view: RecordView): ReportRecordHeader | null {
  const version = REPORT_VERSIONS[batch.flags[row]! & FLAG.REPORT_MASK] ?? null;
  if (version === null) return null;
  const { own } = view;
  const ingressTimestamp =
    version === '2.0' ? (own?.ingressTimestamp?.toString() ?? null) : String(batch.reportTimestamp[row]!);
  return {
    version,
    hwId: view.hwId,
    sequence: view.sequence,
    nodeId: view.nodeId,
    dropped: view.dropped,
    queueCongested: view.queueCongested,
    trackedFlow: view.trackedFlow,
    intermediate: view.intermediate,
    ingressTimestamp,
    dropReason: view.dropReason,
    dropQueueId: view.dropQueueId,
    metadataBitmap: hex16(batch.instructions[row]! & 0xffff),
    metadata: own === null ? null : hopRecord(batch, view.hopStart + view.hopCount, true),
  };
}

function intRecord(batch: TelemetryBatch, row: number, view: RecordView): ReportRecordInt | null {
  const { mode } = view;
  if (mode === null) return null;
  const flags = batch.flags[row]!;
  return {
    mode,
    version: INT_VERSIONS[intVersionOf(flags)] ?? null,
    encapsulation: ENCAPSULATIONS[(flags >>> FLAG.ENCAPSULATION_SHIFT) & FLAG.ENCAPSULATION_MASK] ?? 'none',
    instructionBitmap: hex16(instructionsOf(flags, batch.instructions[row]!)),
    discard: view.discard,
    hopExceeded: view.hopExceeded,
    mtuExceeded: view.mtuExceeded,
  };
}

/** Node ids of a report row, INT source first; see {@link ReportRecord.path}. */
export function reportPath(batch: TelemetryBatch, row: number): (number | null)[] {
  const view = new RecordView(batch, row);
  const isNamed = namesNodes(batch.flags[row]!, batch.instructions[row]!);
  const path: (number | null)[] = [];
  for (let hop = view.hopStart; hop < view.hopStart + view.hopCount; hop++) {
    const id = batch.hop.nodeId[hop]!;
    if (id !== NOT_AVAILABLE) path.push(id);
    else if (isNamed) path.push(null);
  }
  const { nodeId, reportVersion } = view;
  if (reportVersion !== null && nodeId !== null && path[path.length - 1] !== nodeId) path.push(nodeId);
  return path;
}

/**
 * A report row as an object.
 * @param row a row whose `code` is 0
 */
export function reportRecord(batch: TelemetryBatch, row: number, id: string): ReportRecord {
  const view = new RecordView(batch, row);
  return {
    type: 'report',
    id,
    timeNs: String(batch.timeNs(row)),
    status: 'ok',
    error: null,
    report: headerRecord(batch, row, view),
    int: intRecord(batch, row, view),
    flow: view.flow,
    path: reportPath(batch, row),
    hops: Array.from({ length: view.hopCount }, (_, hop) => hopRecord(batch, view.hopStart + hop, false)),
  };
}
