/** From a scan to an object: the comfort path's half of the rules that `rows.ts` applies to columns. */
import { formatIpv4At, formatIpv6At } from './address.js';
import { CODE_MESSAGES, CODE_NAMES, CODE_STATUS, CODES } from './codes.js';
import { ENCAPSULATIONS, FLAG, HOP_COLUMNS, INT_VERSIONS, MODES, REPORT_VERSIONS } from './columns.js';
import type {
  Flow,
  GpintInfo,
  Hop,
  IntHeaderInfo,
  Problem,
  ReportInfo,
  ReportType,
  TelemetryRecord,
  Tlv,
} from './model.js';
import { LAYOUT, OP, planFor } from './plan.js';
import { hasComplement, modeOf } from './rows.js';
import { GPINT_MODE, probeSizes } from './scan/gpint.js';
import { INNER, type Scan } from './scan/state.js';

const ONES = 0xffffffff;
const ONES31 = 0x7fffffff;

/** Splits one 32-bit column value into the fields of a hop. */
function setWord(hop: Hop, column: (typeof HOP_COLUMNS)[number], word: number): void {
  const none = word === ONES;
  switch (column) {
    case 'l1Interfaces':
      hop.l1IngressInterface = none ? null : word >>> 16;
      hop.l1EgressInterface = none ? null : word & 0xffff;
      break;
    case 'queue':
      hop.queueId = none ? null : word >>> 24;
      hop.queueOccupancy = none ? null : word & 0xffffff;
      break;
    case 'buffer':
      hop.bufferId = none ? null : word >>> 24;
      hop.bufferOccupancy = none ? null : word & 0xffffff;
      break;
    case 'congestion':
      hop.congestionQueueId = none ? null : word >>> 24;
      hop.queueCongestion = none ? null : word & 0xffffff;
      break;
    case 'ingressTimestampHigh':
    case 'ingressTimestampLow':
    case 'egressTimestampHigh':
    case 'egressTimestampLow':
    case 'domainOffset':
      break;
    default:
      hop[column] = none ? null : word;
  }
}

function timestamp(high: number, low: number): bigint | null {
  return high === ONES && low === ONES ? null : (BigInt(high) << 32n) | BigInt(low);
}

/** Reads the words of one block (or of a report's own metadata) into a hop. */
function readBlock(scan: Scan, layout: number, bitmap: number, at: number, extraAt: number, extra: number): Hop {
  const { view } = scan;
  const plan = planFor(layout, bitmap);
  const hop: Hop = {};
  for (let w = 0; w < plan.words; w++) {
    const word = view.getUint32(at + 4 * (w < extraAt ? w : w + extra));
    const column = HOP_COLUMNS[plan.columns[w]!]!;
    switch (plan.ops[w]) {
      case OP.WORD:
        if (column === 'ingressTimestampHigh' || column === 'egressTimestampHigh') {
          const value = timestamp(word, view.getUint32(at + 4 * (w + 1 < extraAt ? w + 1 : w + 1 + extra)));
          if (column === 'ingressTimestampHigh') hop.ingressTimestamp = value;
          else hop.egressTimestamp = value;
        } else if (column === 'l2IngressInterface') {
          // One item of 8 bytes: half of it in ones is a value.
          const second = view.getUint32(at + 4 * (w + 1 < extraAt ? w + 1 : w + 1 + extra));
          const none = word === ONES && second === ONES;
          hop.l2IngressInterface = none ? null : word;
          hop.l2EgressInterface = none ? null : second;
        } else if (column !== 'l2EgressInterface') {
          setWord(hop, column, word);
        }
        break;
      case OP.TIMESTAMP32: {
        const value = word === ONES ? null : BigInt(word);
        if (column === 'ingressTimestampHigh') hop.ingressTimestamp = value;
        else hop.egressTimestamp = value;
        break;
      }
      case OP.HALVES:
        hop.l2IngressInterface = word === ONES ? null : word >>> 16;
        hop.l2EgressInterface = word === ONES ? null : word & 0xffff;
        break;
      case OP.VALUE31:
        set31(hop, column, (word & ONES31) === ONES31 ? null : word & ONES31);
        break;
      case OP.TIMESTAMP31: {
        const value = (word & ONES31) === ONES31 ? null : BigInt(word & ONES31);
        if (column === 'ingressTimestampHigh') hop.ingressTimestamp = value;
        else hop.egressTimestamp = value;
        break;
      }
      case OP.UPPER31:
        hop.l1IngressInterface = (word & ONES31) === ONES31 ? null : word & ONES31;
        break;
      case OP.LOWER31:
        hop.l1EgressInterface = (word & ONES31) === ONES31 ? null : word & ONES31;
        break;
      default:
    }
  }
  return hop;
}

/** Items of the 2016 layout are whole 31-bit values: queues have no id. */
function set31(hop: Hop, column: (typeof HOP_COLUMNS)[number], value: number | null): void {
  if (column === 'queue') hop.queueOccupancy = value;
  else if (column === 'congestion') hop.queueCongestion = value;
  else if (column === 'nodeId' || column === 'hopLatency' || column === 'egressUtilization') hop[column] = value;
}

function readStack(scan: Scan): { hops: Hop[]; sourceMetadata: Uint8Array | undefined } {
  const { bytes, stackOffset, stride, hopCount, domainWords, sourceBytes } = scan;
  const before = planFor(scan.layout, scan.bitmap).words - (hasComplement(scan) ? 1 : 0);
  const hops: Hop[] = new Array(hopCount);
  let sourceMetadata: Uint8Array | undefined;
  for (let k = 0; k < hopCount; k++) {
    const at = stackOffset + 4 * stride * k;
    const source = k === hopCount - 1;
    const extra = domainWords + (source ? sourceBytes >>> 2 : 0);
    const hop = readBlock(scan, scan.layout, scan.bitmap, at, before, extra);
    if (extra > 0) {
      const area = bytes.slice(at + 4 * before, at + 4 * (before + extra));
      const [exported, sourceOnly] = source && sourceBytes > 0 ? splitDomain(scan, area) : [area, undefined];
      if (exported.length > 0) hop.domain = exported;
      if (sourceOnly !== undefined) sourceMetadata = sourceOnly;
    }
    hops[hopCount - 1 - k] = hop;
  }
  if (stride === 0 && sourceBytes > 0) sourceMetadata = bytes.slice(stackOffset, stackOffset + sourceBytes);
  return { hops, sourceMetadata };
}

/**
 * Takes the source's domain-specific bytes apart: exported items, and those of the source alone. They stand in the
 * order of the DS Instruction bits; without the domain's definition the source's are taken to be the last.
 */
function splitDomain(scan: Scan, area: Uint8Array): [exported: Uint8Array, sourceOnly: Uint8Array] {
  const domain = scan.settings.domains[scan.domainId];
  const exportedBytes = 4 * scan.domainWords;
  if (domain === undefined) return [area.slice(0, exportedBytes), area.slice(exportedBytes)];
  const exported = new Uint8Array(exportedBytes);
  const sourceOnly = new Uint8Array(area.length - exportedBytes);
  let at = 0;
  let e = 0;
  let s = 0;
  for (let bit = 0; bit < 16; bit++) {
    const item = domain[bit];
    if (item === undefined || (scan.domainInstructions & (0x8000 >>> bit)) === 0) continue;
    const piece = area.subarray(at, at + item.bytes);
    at += item.bytes;
    if (item.mode === 'source-only') {
      sourceOnly.set(piece, s);
      s += piece.length;
    } else {
      exported.set(piece, e);
      e += piece.length;
    }
  }
  return [exported, sourceOnly];
}

function readFlow(scan: Scan): Flow | null {
  if (!scan.flow) return null;
  const { bytes, sourceOffset, destinationOffset } = scan;
  return {
    source: scan.ipv6 ? formatIpv6At(bytes, sourceOffset) : formatIpv4At(bytes, sourceOffset),
    destination: scan.ipv6 ? formatIpv6At(bytes, destinationOffset) : formatIpv4At(bytes, destinationOffset),
    protocol: scan.protocol,
    sourcePort: scan.sourcePort,
    destinationPort: scan.destinationPort,
  };
}

function reportType(scan: Scan): ReportType {
  if (scan.mode === 1) return 'int-md';
  if (scan.mode === 2) return 'int-mx';
  if (scan.inner === INNER.TLV) return 'tlv';
  if ((scan.reportFlags & FLAG.DROPPED) !== 0) return 'drop';
  if (scan.repType === 1) return 'int-xd';
  switch (scan.inner) {
    case INNER.ETHERNET:
      return 'ethernet';
    case INNER.IPV4:
      return 'ipv4';
    case INNER.IPV6:
      return 'ipv6';
    default:
      return 'none';
  }
}

function readTlvs(scan: Scan): Tlv[] {
  const { view, bytes } = scan;
  const tlvs: Tlv[] = [];
  for (let at = scan.innerOffset; at + 4 <= scan.innerEnd; ) {
    const head = view.getUint32(at);
    const next = at + 4 + 4 * ((head >>> 16) & 255);
    if (next > scan.innerEnd) break;
    tlvs.push({ type: head >>> 28, template: head & 0xffff, data: bytes.slice(at + 4, next) });
    at = next;
  }
  return tlvs;
}

function readReportInfo(scan: Scan): ReportInfo | null {
  const version = REPORT_VERSIONS[scan.reportVersion];
  if (version === null || version === undefined) return null;
  const plan = planFor(scan.ownLayout, scan.ownBits);
  const metadata =
    scan.ownBits === 0 ? {} : readBlock(scan, scan.ownLayout, scan.ownBits, scan.ownOffset, plan.words, 0);
  if (scan.ownDomainWords > 0) {
    metadata.domain = scan.bytes.slice(scan.ownDomainOffset, scan.ownDomainOffset + 4 * scan.ownDomainWords);
  }
  const dropWord = scan.ownBits === 0 ? -1 : plan.ops.indexOf(OP.DROP);
  const drop = dropWord < 0 ? 0 : scan.view.getUint32(scan.ownOffset + 4 * dropWord);
  const info: ReportInfo = {
    version,
    hwId: scan.hwId,
    sequence: scan.sequence,
    nodeId: scan.nodeKnown ? scan.nodeId : null,
    type: reportType(scan),
    dropped: (scan.reportFlags & FLAG.DROPPED) !== 0,
    queueCongested: (scan.reportFlags & FLAG.QUEUE_CONGESTED) !== 0,
    trackedFlow: (scan.reportFlags & FLAG.TRACKED_FLOW) !== 0,
    intermediate: (scan.reportFlags & FLAG.INTERMEDIATE) !== 0,
    ingressTimestamp: scan.reportVersion < 3 ? BigInt(scan.timestamp) : (metadata.ingressTimestamp ?? null),
    dropReason: dropWord < 0 ? null : (drop >>> 16) & 255,
    dropQueueId: dropWord < 0 ? null : drop >>> 24,
    metadata,
  };
  if (scan.inner === INNER.TLV) info.tlvs = readTlvs(scan);
  return info;
}

function readIntInfo(scan: Scan, sourceMetadata: Uint8Array | undefined): IntHeaderInfo | GpintInfo | null {
  if (scan.mode === GPINT_MODE) return readGpint(scan);
  const mode = MODES[modeOf(scan)];
  if (mode === 'xd') {
    return {
      mode,
      version: scan.reportVersion === 3 ? '2' : scan.reportVersion === 2 ? '1.0' : '0.5',
      encapsulation: 'none',
      hopMl: null,
      remainingHopCount: null,
      instructionBitmap: scan.ownLayout === LAYOUT.REPORT20 ? scan.ownBits : 0,
      discard: false,
      hopExceeded: false,
      mtuExceeded: false,
      domainId: scan.reportDomainId,
      domainInstructions: scan.reportDomainBits,
      domainFlags: scan.reportDomainStatus,
    };
  }
  const version = INT_VERSIONS[scan.intVersion];
  if ((mode !== 'md' && mode !== 'mx') || version === null || version === undefined) return null;
  const info: IntHeaderInfo = {
    mode,
    version,
    encapsulation: ENCAPSULATIONS[scan.encapsulation]!,
    hopMl: mode === 'mx' ? null : scan.hopMl,
    remainingHopCount: mode === 'mx' ? null : scan.remainingHopCount,
    instructionBitmap: scan.bitmap,
    discard: (scan.intFlags & FLAG.DISCARD) !== 0,
    hopExceeded: (scan.intFlags & FLAG.HOP_EXCEEDED) !== 0,
    mtuExceeded: (scan.intFlags & FLAG.MTU_EXCEEDED) !== 0,
    domainId: scan.domainId,
    domainInstructions: scan.domainInstructions,
    domainFlags: scan.domainFlags,
  };
  if (sourceMetadata !== undefined) info.sourceMetadata = sourceMetadata;
  return info;
}

const PROBE_KINDS: Readonly<Record<number, GpintInfo['kind']>> = { 0x17: 'probe', 0x19: 'feedback', 0x21: 'recovery' };

function readGpint(scan: Scan): GpintInfo | null {
  if (scan.code !== CODES.OK) return null;
  const { view, probeOffset: p } = scan;
  const extended = scan.probeExtended === 1;
  const size = probeSizes(extended);
  const meta = view.getUint16(p);
  const info: GpintInfo = {
    mode: 'gpint',
    extended,
    kind: PROBE_KINDS[scan.probeDscp] ?? 'unknown',
    requestId: meta >>> 1,
    type: (meta & 1) === 0 ? 'rule-hits' : 'port-packets',
    route: [],
    switches: [],
    measurements: [],
  };
  for (let k = 0, at = p + 4; k < view.getUint16(p + 2); k++, at += size.route) {
    const range = view.getUint16(at + size.route - 2);
    info.route.push({
      nextPort: extended ? view.getUint16(at) : view.getUint8(at),
      firstMeasurement: range >>> 8,
      measurementCount: range & 255,
    });
  }
  let at = scan.stackOffset;
  for (let k = 0; k < scan.hopCount; k++, at += size.dlv) {
    info.switches.push({
      switchId: extended ? view.getUint16(at) : view.getUint8(at),
      queueDepth: extended ? view.getUint16(at + 2) : view.getUint8(at + 1),
      measurementCount: view.getUint16(at + size.dlv - 2),
    });
  }
  const count = view.getUint16(at);
  for (let k = 0; k < count; k++) info.measurements.push(view.getUint32(at + 2 + 4 * k));
  return info;
}

/** The problem a scan noted, or `null`. A plain packet has none. */
export function problemOf(scan: Scan): Problem | null {
  if (scan.code === CODES.OK || scan.code === CODES.NOT_INT) return null;
  return {
    code: CODE_NAMES[scan.code]!,
    layer: scan.layer,
    offset: scan.at - scan.start,
    message: CODE_MESSAGES[scan.code]!,
  };
}

/** Makes the object of what the scan holds. Bytes are copied: the object does not alias the input. */
export function recordOf(scan: Scan): TelemetryRecord {
  const { hops, sourceMetadata } =
    scan.mode === GPINT_MODE || scan.mode === 0
      ? { hops: [], sourceMetadata: undefined }
      : scan.mode === 2
        ? {
            hops: [],
            sourceMetadata:
              scan.sourceBytes > 0 ? scan.bytes.slice(scan.stackOffset, scan.stackOffset + scan.sourceBytes) : undefined,
          }
        : readStack(scan);
  const found = scan.reportVersion !== 0 || scan.mode !== 0;
  const report = readReportInfo(scan);
  const int = readIntInfo(scan, sourceMetadata);
  const path: (number | null)[] =
    int?.mode === 'gpint' ? int.switches.map((dlv) => dlv.switchId) : [];
  for (const hop of hops) if (hop.nodeId !== undefined) path.push(hop.nodeId);
  if (report !== null && report.nodeId !== null && path[path.length - 1] !== report.nodeId) path.push(report.nodeId);
  const code = !found && scan.code === CODES.OK ? CODES.NOT_INT : scan.code;
  return {
    index: scan.index,
    status: CODE_STATUS[code]!,
    error: problemOf(scan),
    report,
    int,
    flow: readFlow(scan),
    path,
    hops,
  };
}
