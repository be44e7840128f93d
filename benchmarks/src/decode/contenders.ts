import { type AcceleratorMemory, BatchDecoder, FrameDecoder, NOT_AVAILABLE, TelemetryBatch } from '@int/codec';
import { mixBatch } from './checksum.js';
import { type LeanReport, leanParser } from './parser.js';
import { INT_PORT, type Reports } from './shapes.js';

/** One way to decode all reports. */
export interface Contender {
  readonly name: string;
  /** Decodes once, timed; returns nanoseconds per report. */
  pass(): number | Promise<number>;
}

/** Reports that the slow contenders, which make objects, decode in one pass. */
const SAMPLE = 50_000;

const OPTIONS = { linkType: 'report', intPorts: [INT_PORT], intDscp: null } as const;

/**
 * Nanoseconds per report: elapsed time or processor time, whichever is less. Other load on the machine adds to the
 * first, helper threads of the engine add to the second. The C program does the same.
 */
function time(run: () => void, reports: number): number {
  const cpu = process.cpuUsage();
  const start = process.hrtime.bigint();
  run();
  const elapsed = Number(process.hrtime.bigint() - start);
  const used = process.cpuUsage(cpu);
  return Math.min(elapsed, (used.user + used.system) * 1000) / reports;
}

/** A batch decoder over all reports, `step` frames a call, and the checksum that an untimed pass gives. */
export class Columns implements Contender {
  readonly checksum: number;
  readonly #decoder: BatchDecoder;
  readonly #batch: TelemetryBatch;
  readonly #reports: Reports;
  readonly #step: number;

  constructor(
    readonly name: string,
    decoder: BatchDecoder,
    batch: TelemetryBatch,
    reports: Reports,
    step: number,
  ) {
    this.#decoder = decoder;
    this.#batch = batch;
    this.#reports = reports;
    this.#step = step;
    let sum = 0;
    this.#each(() => {
      sum = mixBatch(sum, batch);
    });
    this.checksum = sum >>> 0;
  }

  #each(then: (() => void) | null): void {
    const { bytes, offsets, lengths, count } = this.#reports;
    const batch = this.#batch;
    for (let from = 0; from < count; ) {
      const to = Math.min(count, from + this.#step);
      batch.clear();
      if (this.#decoder.decode(batch, { bytes, offsets, lengths }, from, to) !== to || batch.reports !== to - from) {
        throw new Error(`${this.name}: not all of reports ${from} to ${to} decoded`);
      }
      if (then !== null) then();
      from = to;
    }
  }

  pass(): number {
    return time(() => this.#each(null), this.#reports.count);
  }
}

/** The batch decoders of @int/codec. `copy` holds the same reports as `inside`, outside the accelerator's memory. */
export function columnContenders(memory: AcceleratorMemory, inside: Reports, copy: Reports, step: number): Columns[] {
  const capacity = { frames: step, hops: step * 8 };
  const accelerator = (): BatchDecoder => new BatchDecoder({ ...OPTIONS, memory });
  const batch = memory.batch(capacity);
  return [
    new Columns('accelerator in place', accelerator(), batch, inside, step),
    new Columns('accelerator, input copied in', accelerator(), batch, copy, step),
    new Columns('plain TypeScript columns', new BatchDecoder(OPTIONS), new TelemetryBatch(capacity), copy, step),
  ];
}

function cell(value: number | null | undefined): number {
  return value === undefined || value === null ? NOT_AVAILABLE : value;
}

/** Decoders that make objects, after a check of the first reports, field by field, against the columns. */
export function objectContenders(reports: Reports): Contender[] {
  const frames: Buffer[] = [];
  const stride = Math.max(1, Math.floor(reports.count / SAMPLE));
  for (let k = 0; k < reports.count && frames.length < SAMPLE; k += stride) {
    const at = reports.bytes.byteOffset + reports.offsets[k]!;
    frames.push(Buffer.from(reports.bytes.buffer as ArrayBuffer, at, reports.lengths[k]!));
  }
  const parser = leanParser();
  const objects = new FrameDecoder(OPTIONS);
  checkObjects(frames.slice(0, 2000), reports, parser, objects);
  let sink = 0;
  return [
    {
      name: 'binary-parser, lean',
      pass: () =>
        time(() => {
          for (const frame of frames) sink += parser.parse(frame).nodeId;
          if (sink === -1) throw new Error('unreachable');
        }, frames.length),
    },
    {
      name: 'objects (FrameDecoder)',
      pass: () =>
        time(() => {
          for (const frame of frames) sink += objects.decode(frame)[0]!.hops.length;
          if (sink === -1) throw new Error('unreachable');
        }, frames.length),
    },
  ];
}

function checkObjects(
  frames: readonly Buffer[],
  reports: Reports,
  parser: { parse(frame: Buffer): LeanReport },
  objects: FrameDecoder,
): void {
  const { items, hops } = reports.shapes[0]!;
  const batch = new TelemetryBatch({ frames: 1, hops: 256 });
  const columns = new BatchDecoder(OPTIONS);
  for (const frame of frames) {
    batch.clear();
    columns.decode(batch, { bytes: frame, offsets: Uint32Array.of(0), lengths: Uint32Array.of(frame.length) });
    const parsed = parser.parse(frame);
    const object = objects.decode(frame)[0]!;
    const nodes = Array.from(batch.hop.nodeId.subarray(0, hops));
    const parsedNodes = Array.from({ length: hops }, (_, k) => parsed.stack[(hops - 1 - k) * items]!);
    const objectNodes = object.hops.map((hop) => cell(hop.nodeId));
    const same =
      batch.reports === 1 &&
      parsed.stack.length === hops * items &&
      parsed.nodeId === batch.nodeId[0] &&
      parsed.source === batch.source0[0] &&
      parsed.destination === batch.destination0[0] &&
      object.status === 'ok' &&
      object.report?.nodeId === batch.nodeId[0] &&
      object.report?.sequence === batch.sequence[0] &&
      object.flow?.destinationPort === (batch.ports[0]! & 0xffff) &&
      nodes.every((node, k) => node === parsedNodes[k] && node === objectNodes[k]) &&
      (items < 3 || object.hops.every((hop, k) => cell(hop.hopLatency) === batch.hop.hopLatency[k]));
    if (!same) throw new Error('objects, binary-parser and columns do not agree');
  }
}
