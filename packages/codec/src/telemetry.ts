/** Makes records from a few values. All other values follow from these, or have defaults. */
import { metadataBits20 } from './encode/report.js';
import { instructionsOf } from './headers/hop-shape.js';
import type {
  Encapsulation,
  Flow,
  GpintInfo,
  Hop,
  IntHeaderInfo,
  IntVersion,
  ReportInfo,
  ReportVersion,
  TelemetryRecord,
} from './model.js';
import { planFor, VERSION_LAYOUT } from './plan.js';

/** The values of which {@link telemetry} makes a record. Each part, and each field of a part, is optional. */
export interface TelemetryParts {
  /** Protocol 17 and ports 0 where it does not name them. Default: the flow is not known. */
  readonly flow?: (Pick<Flow, 'source' | 'destination'> & Partial<Flow>) | null;
  /** The embedded stack in path order, INT source first. Default: empty. */
  readonly hops?: readonly Hop[];
  /**
   * The report, or `null` for a packet that itself carries INT. Default: a report v2.0 by the node of the last hop,
   * with sequence number 0.
   */
  readonly report?: Partial<ReportInfo> | null;
  /**
   * The INT header. Default with hops: INT-MD v2 behind the transport header, with the instructions for the items of
   * the hops. Default without hops: INT-XD if the report has metadata of its node, else none.
   */
  readonly int?: Partial<IntHeaderInfo> | GpintInfo | null;
  /** MAC addresses of the monitored packet. Default: those of the encoder. */
  readonly ethernet?: TelemetryRecord['ethernet'];
}

/** The INT version of an INT-XD report, by the version of the report. */
const XD_VERSIONS = { '0.5': '0.5', '1.0': '1.0', '2.0': '2' } as const satisfies Record<ReportVersion, IntVersion>;

/** What carries INT, by the protocol of the flow. For other protocols it is a new UDP header. */
const CARRIERS: Readonly<Record<number, Encapsulation>> = { 6: 'tcp', 17: 'udp' };

/** How many more hops may add metadata. */
const REMAINING_HOPS = 8;

/**
 * Makes a whole record from a few values.
 *
 * @throws TypeError for hops with items that no instruction of the INT version asks for together
 * @example
 * encodeReport(telemetry({
 *   flow: { source: '10.0.1.1', destination: '10.0.2.2', sourcePort: 40000, destinationPort: 9000 },
 *   hops: [{ nodeId: 1, hopLatency: 700 }, { nodeId: 2, hopLatency: 900 }],
 * }));
 */
export function telemetry(parts: TelemetryParts = {}): TelemetryRecord {
  const hops = (parts.hops ?? []).map((hop) => ({ ...hop }));
  const flow = parts.flow == null ? null : { protocol: 17, sourcePort: 0, destinationPort: 0, ...parts.flow };
  const int = parts.int === null ? null : intOf(parts.int, flow, hops, parts.report ?? {});
  const report = parts.report === null ? null : reportOf(parts.report ?? {}, int, flow, hops);
  const path: (number | null)[] = int?.mode === 'gpint' ? int.switches.map(({ switchId }) => switchId) : [];
  for (const { nodeId } of hops) if (nodeId !== undefined) path.push(nodeId);
  if (report !== null && report.nodeId !== null && path.at(-1) !== report.nodeId) path.push(report.nodeId);
  const record: TelemetryRecord = { index: 0, status: 'ok', error: null, report, int, flow, path, hops };
  if (report === null && int === null) record.status = 'not-int';
  if (parts.ethernet !== undefined) record.ethernet = parts.ethernet;
  return record;
}

function intOf(
  parts: TelemetryParts['int'] & (object | undefined),
  flow: Flow | null,
  hops: readonly Hop[],
  report: Partial<ReportInfo>,
): TelemetryRecord['int'] {
  if (parts?.mode === 'gpint') return parts;
  const isPostcard = hops.length === 0 && report.dropped !== true && hasItems(report.metadata);
  if (parts === undefined && hops.length === 0 && !isPostcard) return null;
  const mode = parts?.mode ?? (isPostcard ? 'xd' : 'md');
  const version = parts?.version ?? (mode === 'xd' ? XD_VERSIONS[report.version ?? '2.0'] : '2');
  const isStack = mode === 'md';
  const layout = VERSION_LAYOUT[version];
  const instructionBitmap =
    parts?.instructionBitmap ?? (mode === 'xd' ? postcardBits(report) : instructionsOf(layout, hops));
  const domainWords = Math.max(0, ...hops.map(({ domain }) => domain?.length ?? 0)) / 4;
  return {
    mode,
    version,
    encapsulation: mode === 'xd' ? 'none' : (CARRIERS[flow?.protocol ?? 17] ?? 'udp-new'),
    hopMl: isStack ? planFor(layout, instructionBitmap).words + domainWords : null,
    remainingHopCount: isStack ? REMAINING_HOPS : null,
    discard: false,
    hopExceeded: false,
    mtuExceeded: false,
    domainId: 0,
    domainInstructions: 0,
    domainFlags: 0,
    ...parts,
    instructionBitmap,
  };
}

function hasItems(metadata: Hop | undefined): boolean {
  return metadata !== undefined && Object.keys(metadata).length > 0;
}

/** Only reports v2.0 number their metadata bits like instructions. */
function postcardBits({
  version = '2.0',
  metadata = {},
  dropReason = null,
  dropQueueId = null,
}: Partial<ReportInfo>): number {
  return version === '2.0' ? metadataBits20({ metadata, dropReason, dropQueueId }) : 0;
}

function reportOf(
  parts: Partial<ReportInfo>,
  int: TelemetryRecord['int'],
  flow: Flow | null,
  hops: readonly Hop[],
): ReportInfo {
  const version = parts.version ?? '2.0';
  const metadata = parts.metadata ?? {};
  // A v0.5 header names the node only where it has something of it.
  const isNamed = version !== '0.5' || hasItems(metadata) || parts.dropped === true;
  return {
    version,
    hwId: 0,
    sequence: 0,
    nodeId: isNamed ? (hops.at(-1)?.nodeId ?? 0) : null,
    type: reportTypeOf(parts, int, flow),
    dropped: false,
    queueCongested: false,
    // A report that has no other reason is sent because the flow is tracked.
    trackedFlow: int?.mode === 'md' || int?.mode === 'mx' || (parts.dropped !== true && parts.queueCongested !== true),
    intermediate: false,
    ingressTimestamp: version === '2.0' ? (metadata.ingressTimestamp ?? null) : 0n,
    dropReason: null,
    dropQueueId: null,
    metadata,
    ...parts,
  };
}

function reportTypeOf(parts: Partial<ReportInfo>, int: TelemetryRecord['int'], flow: Flow | null): ReportInfo['type'] {
  if (int?.mode === 'md') return 'int-md';
  if (int?.mode === 'mx') return 'int-mx';
  if (parts.tlvs !== undefined) return 'tlv';
  if (parts.dropped === true) return 'drop';
  if (int?.mode === 'xd') return 'int-xd';
  return flow === null ? 'none' : 'ethernet';
}
