import { CODE_MESSAGES, CODE_NAMES, CODES } from './codes.js';
import { CodecError } from './errors.js';
import type { ReportVersion, TelemetryRecord } from './model.js';
import type { DecodeOptions, LinkLayer } from './options.js';
import { recordOf } from './record.js';
import { scanFrame } from './scan/frame.js';
import { nextIndividual } from './scan/report.js';
import { type Settings, settingsOf } from './scan/settings.js';
import { Scan } from './scan/state.js';

/**
 * The comfort path: a frame in, objects out. Make one decoder for a whole capture.
 */
export class FrameDecoder {
  readonly #settings: Settings;
  readonly #scan: Scan;
  /** The whole memory of the last frame. Frames in the same memory need only one view of it. */
  #memory: Uint8Array = new Uint8Array(0);

  /** @throws RangeError for an option out of range */
  constructor(options: DecodeOptions = {}) {
    this.#settings = settingsOf(options);
    this.#scan = new Scan(this.#settings);
  }

  /**
   * Decodes one frame.
   *
   * @param frame the bytes; the objects do not refer to them
   * @param linkType what they start with; default: the option's
   * @returns one record for each individual report, or one for an INT packet, a probe, or a frame that is neither.
   *   Never throws, whatever the bytes are: see `status` and `error`
   */
  decode(frame: Uint8Array, linkType: LinkLayer = this.#settings.linkType): TelemetryRecord[] {
    const scan = this.#scan;
    const { buffer, byteOffset, length } = frame;
    if (this.#memory.buffer !== buffer) this.#memory = new Uint8Array(buffer);
    scanFrame(scan, this.#memory, byteOffset, byteOffset + length, linkType);
    const records = [recordOf(scan)];
    while (nextIndividual(scan)) records.push(recordOf(scan));
    return records;
  }
}

/** {@link FrameDecoder} for a single frame. */
export function decodeFrame(frame: Uint8Array, options: DecodeOptions = {}): TelemetryRecord[] {
  return new FrameDecoder(options).decode(frame);
}

/** A telemetry report packet: the values of its header, and its individual reports (v0.5 and v1.0: one). */
export interface TelemetryReport {
  version: ReportVersion;
  hwId: number;
  sequence: number;
  /** `null` if the header does not name the node (v0.5 without drop or switch-local header). */
  nodeId: number | null;
  records: TelemetryRecord[];
}

/**
 * Decodes a telemetry report: the payload of a UDP datagram.
 *
 * @throws CodecError at the first problem, with code, layer and byte offset
 * @example
 * const report = decodeReport(payload);
 * for (const { flow, hops } of report.records) console.log(flow, hops);
 */
export function decodeReport(payload: Uint8Array, options: DecodeOptions = {}): TelemetryReport {
  const scan = new Scan(settingsOf({ ...options, linkType: 'report' }));
  scanFrame(scan, payload, 0, payload.length, 'report');
  const records: TelemetryRecord[] = [];
  do {
    if (scan.code !== CODES.OK) {
      throw new CodecError(CODE_NAMES[scan.code]!, scan.layer, scan.at, CODE_MESSAGES[scan.code]!);
    }
    records.push(recordOf(scan));
  } while (nextIndividual(scan));
  const { version, hwId, sequence, nodeId } = records[0]!.report!;
  return { version, hwId, sequence, nodeId, records };
}
