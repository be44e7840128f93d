import {
  ENCAPSULATIONS,
  FLAG,
  HOP_COLUMNS,
  INT_VERSIONS,
  MODES,
  REPORT_VERSIONS,
  STATE,
  type TelemetryBatch,
} from '@int/codec';
import { REPORT_WORD_COLUMNS } from '@int/codec/internals';
import {
  type PackedText,
  packText,
  putBrackets,
  putHex16,
  putInteger,
  putText,
  putUint32,
  putUint64,
  SLACK_BYTES,
} from './ascii.js';
import { FLOW_KEY_JSON_BYTES, putFlow4, putFlow6 } from './flow-key-json.js';
import { HOP_JSON_BYTES, putHop } from './hop-json.js';
import { idText } from './id-text.js';
import type { RecordIds } from './ids.js';
import type { RecordNames } from './record-names.js';
import { instructionsOf, intVersionOf, modeOf, namesNodes } from './report-record.js';

const NULL = /* @__PURE__ */ packText('null');
const TIME = /* @__PURE__ */ packText('","timeNs":"');
const REPORT = /* @__PURE__ */ packText('","status":"ok","error":null,"report":');
const REPORTS: readonly PackedText[] = /* @__PURE__ */ REPORT_VERSIONS.map((version) =>
  packText(version === null ? 'null' : `{"version":"${version}","hwId":`),
);
const SEQUENCE = /* @__PURE__ */ packText(',"sequence":');
const NODE = /* @__PURE__ */ packText(',"nodeId":');
/** By bits 2 to 5 of the flags. */
const STATES: readonly PackedText[] = /* @__PURE__ */ Array.from({ length: 16 }, (_, bits) => {
  const has = (flag: number): boolean => ((bits << 2) & flag) !== 0;
  return packText(
    `,"dropped":${has(FLAG.DROPPED)},"queueCongested":${has(FLAG.QUEUE_CONGESTED)},"trackedFlow":${has(
      FLAG.TRACKED_FLOW,
    )},"intermediate":${has(FLAG.INTERMEDIATE)},"ingressTimestamp":`,
  );
});
const DROP_REASON = /* @__PURE__ */ packText(',"dropReason":');
const DROP_QUEUE = /* @__PURE__ */ packText(',"dropQueueId":');
const NO_DROP = /* @__PURE__ */ packText(',"dropReason":null,"dropQueueId":null');
const METADATA_BITMAP = /* @__PURE__ */ packText(',"metadataBitmap":"0x');
const METADATA = /* @__PURE__ */ packText('","metadata":');
const REPORT_END = /* @__PURE__ */ packText('},"int":');
const INT = /* @__PURE__ */ packText(',"int":');
/** By number. Undefined ones count as none. */
const INT_MODES: readonly PackedText[] = /* @__PURE__ */ Array.from({ length: 8 }, (_, mode) =>
  packText(`{"mode":"${MODES[mode] ?? 'md'}","version":`),
);
const VERSIONS: readonly PackedText[] = /* @__PURE__ */ Array.from({ length: 8 }, (_, version) =>
  packText(`${JSON.stringify(INT_VERSIONS[version] ?? null)},"encapsulation":"`),
);
const CARRIERS: readonly PackedText[] = /* @__PURE__ */ Array.from({ length: 8 }, (_, encapsulation) =>
  packText(`${ENCAPSULATIONS[encapsulation] ?? 'none'}","instructionBitmap":"0x`),
);
/** By bits 15 to 17 of the flags. */
const INT_STATES: readonly PackedText[] = /* @__PURE__ */ Array.from({ length: 8 }, (_, bits) => {
  const has = (flag: number): boolean => ((bits << 15) & flag) !== 0;
  return packText(
    `","discard":${has(FLAG.DISCARD)},"hopExceeded":${has(FLAG.HOP_EXCEEDED)},"mtuExceeded":${has(FLAG.MTU_EXCEEDED)}}`,
  );
});
const FLOW = /* @__PURE__ */ packText(',"flow":');
const PATH = /* @__PURE__ */ packText(',"path":');
const HOPS = /* @__PURE__ */ packText(',"hops":');

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN = 0x5b;
const CLOSE = 0x5d;
const BRACE = 0x7d;

const SOURCE = /* @__PURE__ */ REPORT_WORD_COLUMNS.indexOf('source0');
const DESTINATION = /* @__PURE__ */ REPORT_WORD_COLUMNS.indexOf('destination0');
const INGRESS = /* @__PURE__ */ HOP_COLUMNS.indexOf('ingressTimestampHigh');
const NONE = -1;

/** Bytes beside hops and path. */
const REPORT_JSON_BYTES = 900 + FLOW_KEY_JSON_BYTES + SLACK_BYTES;
/** Bytes of a node id in the path. */
const PATH_BYTES = 11;

/** Writes the value of `"flow"`: that of report row `row`, or null. */
export function putReportFlow(view: DataView, at: number, batch: TelemetryBatch, row: number): number {
  const flags = batch.flags[row]! | 0;
  if ((flags & FLAG.FLOW) === 0) return putText(view, at, NULL);
  const protocol = batch.protocol[row]!;
  const ports = batch.ports[row]! | 0;
  if ((flags & FLAG.IPV6) === 0) {
    return putFlow4(view, at, batch.source0[row]! | 0, batch.destination0[row]! | 0, protocol, ports);
  }
  const stride = batch.reportStride;
  const { reportWords } = batch;
  return putFlow6(view, at, reportWords, SOURCE * stride + row, DESTINATION * stride + row, stride, protocol, ports);
}

/** Writes the path of report row `row` as an array. @param names to put beside it */
export function putPath(
  view: DataView,
  start: number,
  batch: TelemetryBatch,
  row: number,
  names: RecordNames | null,
): number {
  const at = putNodes(view, start, batch, row, null);
  if (names === null || !hasName(batch, row, names)) return at;
  return putNodes(view, names.putPathKey(view, at), batch, row, names);
}

/** Whether a node of the path has a name. */
function hasName(batch: TelemetryBatch, row: number, names: RecordNames): boolean {
  const first = batch.hopStart[row]! | 0;
  const end = first + batch.hopCount[row]! - ((batch.flags[row]! & FLAG.OWN) === 0 ? 0 : 1);
  for (let hop = first; hop < end; hop++) if (names.isNamed(batch.hop.nodeId[hop]! | 0)) return true;
  return (batch.flags[row]! & FLAG.REPORT_MASK) !== 0 && names.isNamed(batch.nodeId[row]! | 0);
}

/** Writes the nodes of the path. @param names instead of ids */
function putNodes(
  view: DataView,
  start: number,
  batch: TelemetryBatch,
  row: number,
  names: RecordNames | null,
): number {
  const flags = batch.flags[row]! | 0;
  const isNamed = namesNodes(flags, batch.instructions[row]! | 0);
  const nodes = batch.hop.nodeId;
  const first = batch.hopStart[row]! | 0;
  const end = first + batch.hopCount[row]! - ((flags & FLAG.OWN) === 0 ? 0 : 1);
  let at = start;
  let last = NONE;
  for (let hop = first; hop < end; hop++) {
    const id = nodes[hop]! | 0;
    if (id === NONE && !isNamed) continue;
    view.setUint8(at, COMMA);
    if (id === NONE) at = putText(view, at + 1, NULL);
    else at = names === null ? putUint32(view, at + 1, id) : names.putInPath(view, at + 1, id);
    last = id;
  }
  const reporter = batch.nodeId[row]! | 0;
  if ((flags & FLAG.REPORT_MASK) !== 0 && reporter !== NONE && reporter !== last) {
    view.setUint8(at, COMMA);
    at = names === null ? putUint32(view, at + 1, reporter) : names.putInPath(view, at + 1, reporter);
  }
  return putBrackets(view, start, at, OPEN, CLOSE);
}

/**
 * Writes reports as JSON, byte for byte what `JSON.stringify` makes of their {@link ReportRecord}, without making
 * objects or strings.
 */
export class ReportJson {
  readonly #id = idText('report');
  readonly #names: RecordNames | null;

  /** @param names to put beside ids */
  constructor(names: RecordNames | null = null) {
    this.#names = names;
  }

  /** Bytes that the text of a row takes at most, with the room behind it that writing needs. */
  bound(batch: TelemetryBatch, row: number): number {
    const nodes = batch.hopCount[row]! + 1;
    const names = this.#names;
    const named = names === null ? 0 : names.nodeBytes + names.pathBytes + nodes * names.hopBytes;
    return REPORT_JSON_BYTES + nodes * (HOP_JSON_BYTES + PATH_BYTES) + named;
  }

  /**
   * Writes report row `row`.
   * @param view has at least {@link bound} bytes from `start` on
   * @param row a row whose `code` is 0
   * @param number of the record in `ids`
   * @returns the position behind the text
   */
  write(view: DataView, start: number, batch: TelemetryBatch, row: number, ids: RecordIds, number: number): number {
    const flags = batch.flags[row]! | 0;
    const frame = batch.frame[row]!;
    let at = putInteger(view, putText(view, start, this.#id(ids)), number);
    at = putText(view, at, TIME);
    at = putUint64(view, at, batch.frameTimeHigh[frame]! | 0, batch.frameTimeLow[frame]! | 0);
    at = putText(view, at, REPORT);
    at = this.#report(view, at, batch, row, flags);
    at = this.#int(view, at, flags, batch.instructions[row]! | 0);
    at = putReportFlow(view, putText(view, at, FLOW), batch, row);
    at = putPath(view, putText(view, at, PATH), batch, row, this.#names);
    at = this.#hops(view, putText(view, at, HOPS), batch, row, flags);
    view.setUint8(at, BRACE);
    return at + 1;
  }

  /** The report's header, and the key of what follows. */
  #report(view: DataView, start: number, batch: TelemetryBatch, row: number, flags: number): number {
    const version = flags & FLAG.REPORT_MASK;
    let at = putText(view, start, REPORTS[version]!);
    if (version === 0) return putText(view, at, INT);
    const own = (flags & FLAG.OWN) === 0 ? NONE : batch.hopStart[row]! + batch.hopCount[row]! - 1;
    at = putUint32(view, at, (flags >>> FLAG.HW_ID_SHIFT) & FLAG.HW_ID_MASK);
    at = putUint32(view, putText(view, at, SEQUENCE), batch.sequence[row]! | 0);
    at = putText(view, at, NODE);
    const node = batch.nodeId[row]! | 0;
    at = node === NONE ? putText(view, at, NULL) : putUint32(view, at, node);
    const names = this.#names;
    if (names !== null && node !== NONE) at = names.putNode(view, at, node);
    at = putText(view, at, STATES[(flags >>> 2) & 0xf]!);
    at = this.#ingress(view, at, batch, row, version, own);
    // Skip a column that was never used.
    const drop = batch.state[STATE.DROPS] === 0 ? NONE : batch.drop[row]! | 0;
    if (drop === NONE) {
      at = putText(view, at, NO_DROP);
    } else {
      at = putUint32(view, putText(view, at, DROP_REASON), (drop >>> 16) & 0xff);
      at = putUint32(view, putText(view, at, DROP_QUEUE), drop >>> 24);
    }
    at = putHex16(view, putText(view, at, METADATA_BITMAP), batch.instructions[row]! & 0xffff);
    at = putText(view, at, METADATA);
    at = own === NONE ? putText(view, at, NULL) : putHop(view, at, batch, own, true, names, node);
    return putText(view, at, REPORT_END);
  }

  #ingress(view: DataView, at: number, batch: TelemetryBatch, row: number, version: number, own: number): number {
    let high = 0;
    let low = 0;
    if (version < 3) {
      low = batch.reportTimestamp[row]! | 0;
    } else {
      if (own === NONE) return putText(view, at, NULL);
      high = batch.hopWords[INGRESS * batch.hopStride + own]! | 0;
      low = batch.hopWords[(INGRESS + 1) * batch.hopStride + own]! | 0;
      if ((high & low) === NONE) return putText(view, at, NULL);
    }
    view.setUint8(at, QUOTE);
    const next = putUint64(view, at + 1, high, low);
    view.setUint8(next, QUOTE);
    return next + 1;
  }

  #int(view: DataView, start: number, flags: number, instructions: number): number {
    const mode = modeOf(flags);
    if (mode === 0 || mode >= MODES.length) return putText(view, start, NULL);
    let at = putText(view, start, INT_MODES[mode]!);
    at = putText(view, at, VERSIONS[intVersionOf(flags)]!);
    at = putText(view, at, CARRIERS[(flags >>> FLAG.ENCAPSULATION_SHIFT) & FLAG.ENCAPSULATION_MASK]!);
    at = putHex16(view, at, instructionsOf(flags, instructions));
    return putText(view, at, INT_STATES[(flags >>> 15) & 7]!);
  }

  #hops(view: DataView, start: number, batch: TelemetryBatch, row: number, flags: number): number {
    const from = batch.hopStart[row]! | 0;
    const end = from + batch.hopCount[row]! - ((flags & FLAG.OWN) === 0 ? 0 : 1);
    let at = start;
    for (let hop = from; hop < end; hop++) {
      view.setUint8(at, COMMA);
      at = putHop(view, at + 1, batch, hop, false, this.#names, batch.hop.nodeId[hop]! | 0);
    }
    return putBrackets(view, start, at, OPEN, CLOSE);
  }
}
