import {
  BatchDecoder,
  CODES,
  type DecodeOptions,
  FLAG,
  FrameDecoder,
  type LinkLayer,
  MODES,
  REPORT_VERSIONS,
  TelemetryBatch,
} from '@int/codec';
import { linkLayerOf } from '@int/collector/internals';
import type { CaptureBatch } from '@int/pcap';
import type { DialectHint } from './dialect-hint.js';
import type { Tally } from './tally.js';
import { UNKNOWN_LINK } from './unknown-link.js';

/**
 * Counts the contents of captures without making objects: frames without errors are decoded into columns. The totals
 * equal those of the records of `int decode`.
 */
export class FrameCounter {
  readonly #options: DecodeOptions;
  readonly #tally: Tally;
  readonly #hint: DialectHint;
  readonly #frames: FrameDecoder;
  readonly #decoders = new Map<LinkLayer, BatchDecoder>();
  readonly #batch = new TelemetryBatch({ frames: 1024, reports: 8192, hops: 32_768 });

  constructor(options: DecodeOptions, tally: Tally, hint: DialectHint) {
    this.#hint = hint;
    this.#options = options;
    this.#tally = tally;
    this.#frames = new FrameDecoder(options);
  }

  count(frames: CaptureBatch): undefined {
    const linkLayer = linkLayerOf(frames.linkType);
    this.#tally.frames += frames.count;
    if (linkLayer === null) {
      for (let row = 0; row < frames.count; row++) this.#tally.add(UNKNOWN_LINK);
      return;
    }
    let decoder = this.#decoders.get(linkLayer);
    if (decoder === undefined) {
      decoder = new BatchDecoder({ ...this.#options, linkType: linkLayer });
      this.#decoders.set(linkLayer, decoder);
    }
    const batch = this.#batch;
    for (let next = 0; next < frames.count; ) {
      const first = next;
      batch.clear();
      next = decoder.decode(batch, frames, first, frames.count);
      this.#hint.process(batch);
      this.#countReports();
      for (let row = first; row < next; row++) this.#countFrame(frames, row, batch.frameCode[row - first]!, linkLayer);
    }
  }

  /** Counts the reports of frames without errors. */
  #countReports(): void {
    const batch = this.#batch;
    const tally = this.#tally;
    for (let row = 0; row < batch.reports; row++) {
      if (batch.frameCode[batch.frame[row]!] !== CODES.OK) continue;
      const flags = batch.flags[row]!;
      tally.records++;
      tally.status.ok++;
      tally.report[REPORT_VERSIONS[(flags >>> FLAG.REPORT_SHIFT) & FLAG.REPORT_MASK] ?? 'none']++;
      tally.int[MODES[(flags >>> FLAG.MODE_SHIFT) & FLAG.MODE_MASK] ?? 'none']++;
    }
  }

  /** A frame without telemetry is one record. A frame with errors is decoded again, record by record. */
  #countFrame(frames: CaptureBatch, row: number, code: number, linkLayer: LinkLayer): void {
    if (code === CODES.OK) return;
    const tally = this.#tally;
    if (code === CODES.NOT_INT) {
      tally.records++;
      tally.status['not-int']++;
      tally.report.none++;
      tally.int.none++;
      return;
    }
    const offset = frames.offsets[row]!;
    const data = frames.bytes.subarray(offset, offset + frames.lengths[row]!);
    for (const record of this.#frames.decode(data, linkLayer)) tally.add(record);
  }
}
