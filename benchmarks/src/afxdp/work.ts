/** What a receiver does with frames; the C twin is `benchmarks/native/receivers/work.c`. */
import { type AcceleratorMemory, BatchDecoder, type LinkLayer, type TelemetryBatch } from '@int/codec';
import { MessageBuilder } from './message.js';
import { INT_PORT, REPORT_PORT } from './template.js';

export const WORKS = ['count', 'decode', 'message'] as const;
export type WorkKind = (typeof WORKS)[number];

/** Frames at a time, at most. */
export const WORK_BATCH = 256;
const MOST_HOPS = WORK_BATCH * 16;

/** What has been done so far. */
export interface Done {
  frames: number;
  bytes: number;
  reports: number;
  /** Frames that are no report. */
  others: number;
  messages: number;
  messageBytes: number;
  /** Nanoseconds from the first to the last frames since the last answer. */
  spanNs: number;
}

/** Counts frames, or decodes them too, or builds a message of each report besides, and drops it. */
export class Work {
  readonly #done: Done = { frames: 0, bytes: 0, reports: 0, others: 0, messages: 0, messageBytes: 0, spanNs: 0 };
  /** When the first and the last frames since the last answer came, milliseconds. */
  #first = -1;
  #last = -1;
  readonly #kind: WorkKind;
  readonly #batch: TelemetryBatch;
  readonly #decoder: BatchDecoder;
  readonly #messages: MessageBuilder;

  constructor(kind: WorkKind, linkType: LinkLayer, memory: AcceleratorMemory) {
    this.#kind = kind;
    this.#batch = memory.batch({ frames: WORK_BATCH, hops: MOST_HOPS });
    this.#decoder = new BatchDecoder({
      linkType,
      reportPorts: [REPORT_PORT],
      intPorts: [INT_PORT],
      intDscp: null,
      memory,
    });
    this.#messages = new MessageBuilder(this.#batch);
  }

  /** Bytes of accelerator memory that decoder and batch take. */
  static readonly memoryBytes = 4 << 20;

  /** What has been done, for an answer. */
  done(): Done {
    this.#done.spanNs = Math.round((this.#last - this.#first) * 1e6);
    this.#first = -1;
    this.#last = -1;
    return this.#done;
  }

  /** @param count frames, at most {@link WORK_BATCH} */
  frames(bytes: Uint8Array, offsets: Uint32Array, lengths: Uint32Array, count: number): void {
    const done = this.#done;
    this.#last = performance.now();
    if (this.#first < 0) this.#first = this.#last;
    done.frames += count;
    for (let k = 0; k < count; k++) done.bytes += lengths[k]!;
    if (this.#kind === 'count') return;
    const batch = this.#batch;
    for (let next = 0; next < count; ) {
      batch.clear();
      next = this.#decoder.decode(batch, { bytes, offsets, lengths }, next, count);
      const { reports } = batch;
      done.reports += reports;
      done.others += batch.frames - reports;
      if (this.#kind !== 'message') continue;
      for (let row = 0; row < reports; row++) done.messageBytes += this.#messages.build(row);
      done.messages += reports;
    }
  }
}

export function workOf(name: string): WorkKind {
  const found = WORKS.find((each) => each === name);
  if (found === undefined) throw new TypeError(`not ${WORKS.join(', ')}: ${name}`);
  return found;
}
