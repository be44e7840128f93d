import { type DecodeOptions, FrameDecoder, recordToJson, type TelemetryRecord } from '@int/codec';
import { linkLayerOf } from '@int/collector/internals';
import type { CaptureBatch } from '@int/pcap';
import type { KnownNetwork } from '../network/known-network.js';
import { withNames } from '../network/names.js';
import { UNKNOWN_NETWORK } from '../network/unknown-network.js';
import type { Colours } from './colour.js';
import type { DataOutput } from './data-output.js';
import type { DialectHint } from './dialect-hint.js';
import { recordText } from './record-text.js';
import type { Tally } from './tally.js';
import { UNKNOWN_LINK } from './unknown-link.js';

export interface PrintOptions {
  /** `raw`: JSON with the frame and its link type. */
  readonly form: 'json' | 'raw' | 'text';
  /** Named in each record unless null. */
  readonly file: string | null;
  readonly colour: Colours;
  /** Names of switches and ports. Default: none. */
  readonly network?: KnownNetwork;
  /** Given the frames that are not read. */
  readonly hint: DialectHint;
}

/** Decodes and prints the frames of one file, numbered from 1. */
export interface FramePrinter {
  /** Returns a promise if the output is behind. */
  print(batch: CaptureBatch): Promise<void> | undefined;
}

/** Makes the printer of a file. It adds its records to the tally. */
export function framePrinter(
  decode: DecodeOptions,
  tally: Tally,
  output: DataOutput,
  { form, file, colour, network = UNKNOWN_NETWORK, hint }: PrintOptions,
): FramePrinter {
  const decoder = new FrameDecoder(decode);
  // The line is joined from parts: a single object would require a copy per record.
  const start = file === null ? '{' : `{"file":${JSON.stringify(file)},`;
  let number = 0;

  const line = (record: TelemetryRecord, timeNs: bigint, data: Uint8Array, linkType: string | number): string => {
    if (form === 'text') {
      const text = recordText(number, timeNs, record, colour, network);
      return file === null ? text : `${colour.dim(file)}  ${text}`;
    }
    const json = JSON.stringify(withNames(recordToJson(record), network.topology)).slice(1);
    const whole = `${start}"frame":${number},"timeNs":"${timeNs}",${json}`;
    if (form === 'json') return whole;
    const frameHex = Buffer.from(data.buffer, data.byteOffset, data.length).toString('hex');
    return `${whole.slice(0, -1)},"frameHex":"${frameHex}","linkType":${JSON.stringify(linkType)}}`;
  };

  return {
    print(batch) {
      const linkLayer = linkLayerOf(batch.linkType);
      let busy: Promise<void> | undefined;
      for (let row = 0; row < batch.count; row++) {
        number++;
        tally.frames++;
        const offset = batch.offsets[row]!;
        const data = batch.bytes.subarray(offset, offset + batch.lengths[row]!);
        const timeNs = (BigInt(batch.timestampsHigh[row]!) << 32n) | BigInt(batch.timestampsLow[row]!);
        const records = linkLayer === null ? [UNKNOWN_LINK] : decoder.decode(data, linkLayer);
        if (linkLayer !== null && records.some(isUnread)) hint.offer(data, linkLayer);
        for (const record of records) {
          tally.add(record);
          busy = output.line(line(record, timeNs, data, linkLayer ?? batch.linkType)) ?? busy;
        }
      }
      return busy;
    },
  };
}

/** Whether a record is no telemetry, or a report in which no INT was found. */
function isUnread({ status, report, int }: TelemetryRecord): boolean {
  return status !== 'ok' || (report !== null && (int === null || int.mode === 'xd'));
}
