import type { TelemetryReport } from '../frame-decoder.js';
import { GPINT_DSCP, gpintMeta, gpintProbe, gpintProbeExtended } from '../headers/gpint.js';
import { IP_PROTOCOL } from '../headers/ip.js';
import type { Flow, GpintInfo, TelemetryRecord } from '../model.js';
import { KAFKA_XDP_PORT } from '../scan/settings.js';
import { intFrame } from './int.js';
import { frame, ipPacket, monitored, plainPacket, transport } from './network.js';
import { type EncodeOptions, type EncodeSettings, encodeSettings } from './options.js';
import { reportPayload } from './report.js';

/**
 * Encodes a telemetry report: the inverse of `decodeReport`.
 *
 * @param report what `decodeReport` gives, or a record, or the records of one datagram (individual reports of v2.0)
 * @returns the UDP payload. The options give the values that the records do not carry
 * @throws TypeError for records that do not belong together or are not `ok`; RangeError for a value that does not fit
 */
export function encodeReport(
  report: TelemetryReport | TelemetryRecord | readonly TelemetryRecord[],
  options: EncodeOptions = {},
): Uint8Array {
  const records = 'records' in report ? report.records : listOf(report);
  records.forEach(requireSound);
  return reportPayload(records, encodeSettings(options));
}

function listOf(records: TelemetryRecord | readonly TelemetryRecord[]): readonly TelemetryRecord[] {
  return Array.isArray(records) ? records : [records as TelemetryRecord];
}

/**
 * Encodes a whole Ethernet frame from a record, or from the records of one datagram (individual reports of v2.0).
 * Decoding it again gives the same records.
 *
 * @throws TypeError for records that do not belong together or are not `ok`; RangeError for a value that does not fit
 */
export function encodeFrame(
  records: TelemetryRecord | readonly TelemetryRecord[],
  options: EncodeOptions = {},
): Uint8Array {
  const settings = encodeSettings(options);
  const list = listOf(records);
  const first = list[0];
  if (first === undefined) throw new TypeError('no record to encode');
  list.forEach(requireSound);
  if (first.report !== null) {
    const outer: Flow = {
      source: settings.reporter,
      destination: settings.collector,
      protocol: IP_PROTOCOL.UDP,
      sourcePort: settings.reportPort,
      destinationPort: first.int?.mode === 'md' && first.int.version === '2016' ? KAFKA_XDP_PORT : settings.reportPort,
    };
    return frame(ipPacket(outer, 0, transport(outer, reportPayload(list, settings)), settings), settings);
  }
  if (list.length > 1) throw new TypeError('only individual reports share a frame');
  const { int, flow } = first;
  const own = monitored(first, settings);
  if (int?.mode === 'gpint') return probeFrame(int, flow, own);
  if (int !== null) return intFrame(first, int, settings);
  return frame(flow === null ? null : plainPacket(flow, settings), own);
}

function requireSound(record: TelemetryRecord): void {
  if (record.status !== 'ok' && record.status !== 'not-int') {
    throw new TypeError(`a record that is ${record.status} cannot be encoded: its bytes are not known`);
  }
}

function probeFrame(probe: GpintInfo, flow: Flow | null, settings: EncodeSettings): Uint8Array {
  if (flow === null) throw new TypeError('a probe needs a flow');
  const { kind, route, switches, measurements } = probe;
  const isMetaAlone = kind === 'feedback' && route.length + switches.length + measurements.length === 0;
  const payload = isMetaAlone
    ? gpintMeta.encode(probe)
    : (probe.extended ? gpintProbeExtended : gpintProbe).encode(probe);
  const dscp =
    kind === 'probe'
      ? GPINT_DSCP.PROBE
      : kind === 'feedback'
        ? GPINT_DSCP.FEEDBACK
        : kind === 'recovery'
          ? GPINT_DSCP.RECOVERY
          : 0;
  return frame(ipPacket(flow, dscp, transport(flow, payload), settings), settings);
}
