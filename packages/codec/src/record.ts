/** Makes an object of what a scan holds. `rows.ts` writes the same to columns. */
import { formatIpv4At, formatIpv6At, formatMac } from './address.js';
import { CODE_MESSAGES, CODE_NAMES, CODE_STATUS, CODES } from './codes.js';
import { ENCAPSULATIONS, FLAG, INT_VERSIONS, MODES, REPORT_VERSIONS } from './columns.js';
import { concat, copyOf } from './copy.js';
import { domainItems } from './encode/int-header.js';
import { GPINT_DSCP, gpintMeta, gpintProbe, gpintProbeExtended } from './headers/gpint.js';
import { type ReportMetadata, reportMetadata } from './headers/hop.js';
import { readBlock } from './headers/hop-read.js';
import { shapeOf } from './headers/hop-shape.js';
import { reportTlv } from './headers/report.js';
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
import { LAYOUT } from './plan.js';
import { FEEDBACK_BYTES } from './probe/parts.js';
import { modeOf } from './rows.js';
import { GPINT_MODE } from './scan/gpint.js';
import { INNER, type Scan } from './scan/state.js';

function readStack(scan: Scan): { hops: Hop[]; sourceMetadata: Uint8Array | undefined } {
  const { bytes, layout, bitmap, stackOffset, stride, hopCount, domainWords, sourceBytes } = scan;
  const hops: Hop[] = new Array(hopCount);
  let sourceMetadata: Uint8Array | undefined;
  if (stride === 0 && sourceBytes > 0) sourceMetadata = copyOf(bytes, stackOffset, stackOffset + sourceBytes);
  if (hopCount === 0) return { hops, sourceMetadata };
  const shape = shapeOf(layout, bitmap, 4 * domainWords);
  for (let k = 0; k < hopCount; k++) {
    const source = k === hopCount - 1 && sourceBytes > 0;
    const own = source ? shapeOf(layout, bitmap, 4 * domainWords + sourceBytes) : shape;
    const hop = readBlock(own, bytes, stackOffset + 4 * stride * k, null);
    if (source) {
      const [exported, sourceOnly] = splitDomain(scan, hop.domain!);
      delete hop.domain;
      if (exported.length > 0) hop.domain = exported;
      sourceMetadata = sourceOnly;
    } else if (hop.domain !== undefined) {
      hop.domain = copyOf(hop.domain);
    }
    hops[hopCount - 1 - k] = hop;
  }
  return { hops, sourceMetadata };
}

/**
 * Takes the source's domain-specific bytes apart: exported items, and those of the source alone. They stand in the
 * order of the DS Instruction bits. Without the domain's definition, those of the source are taken to be the last.
 */
function splitDomain(scan: Scan, area: Uint8Array): [exported: Uint8Array, sourceOnly: Uint8Array] {
  const domain = scan.settings.domains[scan.domainId];
  const exportedBytes = 4 * scan.domainWords;
  if (domain === undefined) return [copyOf(area, 0, exportedBytes), copyOf(area, exportedBytes)];
  const parts: [exported: Uint8Array[], sourceOnly: Uint8Array[]] = [[], []];
  let at = 0;
  for (const { bytes, mode } of domainItems(domain, scan.domainInstructions)) {
    parts[mode === 'source-only' ? 1 : 0].push(area.subarray(at, at + bytes));
    at += bytes;
  }
  return [concat(...parts[0]), concat(...parts[1])];
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
  const tlvs: Tlv[] = [];
  // The scan has checked that the lengths add up. A report that is cut gives its complete TLVs only.
  for (let at = scan.innerOffset; at + 4 <= scan.innerEnd; ) {
    const next = at + 4 + 4 * scan.view.getUint8(at + 1);
    if (next > scan.innerEnd) break;
    const { type, template, data } = reportTlv.decode(scan.bytes, at);
    tlvs.push({ type, template, data: copyOf(data) });
    at = next;
  }
  return tlvs;
}

/** The node's own values. The scan numbers the bits of v0.5 headers like those of v1.0. */
function readOwn(scan: Scan): ReportMetadata {
  if (scan.ownBits === 0 && scan.ownDomainWords === 0) return { metadata: {}, dropQueueId: null, dropReason: null };
  const codec =
    scan.ownLayout === LAYOUT.REPORT20
      ? reportMetadata('2.0', scan.ownBits, 4 * scan.ownDomainWords)
      : reportMetadata('1.0', scan.ownBits >>> 10);
  const own = codec.decode(scan.bytes, scan.ownOffset);
  if (own.metadata.domain !== undefined) own.metadata.domain = copyOf(own.metadata.domain);
  return own;
}

function readReportInfo(scan: Scan): ReportInfo | null {
  const version = REPORT_VERSIONS[scan.reportVersion];
  if (version === null || version === undefined) return null;
  const { metadata, dropReason, dropQueueId } = readOwn(scan);
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
    dropReason,
    dropQueueId,
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

const PROBE_KINDS: Readonly<Record<number, GpintInfo['kind']>> = {
  [GPINT_DSCP.PROBE]: 'probe',
  [GPINT_DSCP.FEEDBACK]: 'feedback',
  [GPINT_DSCP.RECOVERY]: 'recovery',
};

function readGpint(scan: Scan): GpintInfo | null {
  if (scan.code !== CODES.OK) return null;
  const extended = scan.probeExtended === 1;
  const isMetaAlone = scan.stackOffset - scan.probeOffset === FEEDBACK_BYTES;
  const probe = isMetaAlone
    ? { ...gpintMeta.decode(scan.bytes, scan.probeOffset), route: [], switches: [], measurements: [] }
    : (extended ? gpintProbeExtended : gpintProbe).decode(scan.bytes, scan.probeOffset);
  return { mode: 'gpint', extended, kind: PROBE_KINDS[scan.probeDscp] ?? 'unknown', ...probe };
}

/** The problem that the scan holds, or `null`. A packet without INT is no problem. */
export function problemOf(scan: Scan): Problem | null {
  if (scan.code === CODES.OK || scan.code === CODES.NOT_INT) return null;
  return {
    code: CODE_NAMES[scan.code]!,
    layer: scan.layer,
    offset: scan.at - scan.start,
    message: CODE_MESSAGES[scan.code]!,
  };
}

/** Makes an object of what the scan holds. It copies bytes, so the object does not refer to the input. */
export function recordOf(scan: Scan): TelemetryRecord {
  const { hops, sourceMetadata } =
    scan.mode === GPINT_MODE || scan.mode === 0
      ? { hops: [], sourceMetadata: undefined }
      : scan.mode === 2
        ? {
            hops: [],
            sourceMetadata:
              scan.sourceBytes > 0
                ? copyOf(scan.bytes, scan.stackOffset, scan.stackOffset + scan.sourceBytes)
                : undefined,
          }
        : readStack(scan);
  const found = scan.reportVersion !== 0 || scan.mode !== 0;
  const report = readReportInfo(scan);
  const int = readIntInfo(scan, sourceMetadata);
  const path: (number | null)[] = int?.mode === 'gpint' ? int.switches.map((dlv) => dlv.switchId) : [];
  for (const hop of hops) if (hop.nodeId !== undefined) path.push(hop.nodeId);
  if (report !== null && report.nodeId !== null && path[path.length - 1] !== report.nodeId) path.push(report.nodeId);
  const code = !found && scan.code === CODES.OK ? CODES.NOT_INT : scan.code;
  const record: TelemetryRecord = {
    index: scan.index,
    status: CODE_STATUS[code]!,
    error: problemOf(scan),
    report,
    int,
    flow: readFlow(scan),
    path,
    hops,
  };
  const at = scan.ethernetOffset;
  if (at >= 0) record.ethernet = { source: formatMac(scan.bytes, at + 6), destination: formatMac(scan.bytes, at) };
  return record;
}
