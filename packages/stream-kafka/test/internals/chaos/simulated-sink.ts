import { RecordIds } from '@int/collector';
import { encodeWatermark, MESSAGE_HEADERS, MessageSlab, MIN_SLAB_BYTES, ProtobufEncoder } from '@int/sink-kafka';
import type { LogRecord } from '../../../src/kafka/committed.js';
import { batchOf } from '../reports.js';

/** Flows that reports are of. */
export const FLOWS = 6;
/** Switches that each report tells of. */
export const PATH = [1, 2] as const;
/** From there on, numbers of records have four bytes: a message differs from another of its flow in bytes at known places. */
const FIRST_NUMBER = 2 ** 21;
const INTERVAL_MS = 500;

/** A report, and the message that it is. */
export interface SentReport {
  /** Of the sink that has taken it. */
  readonly instance: number;
  readonly timeMs: number;
  readonly flow: number;
  readonly value: Uint8Array;
  readonly partitionHash: number;
}

interface Template {
  readonly value: Uint8Array;
  readonly partitionHash: number;
}

const text = (word: string): Uint8Array => new TextEncoder().encode(word);
const headersOf = (type: string): LogRecord['headers'] => [
  [text(MESSAGE_HEADERS.TYPE), text(type)],
  [text(MESSAGE_HEADERS.FORMAT), text('protobuf')],
];
const REPORT = headersOf('report');
const WATERMARK = headersOf('watermark');

/** The message of a report of each flow, as the sink's encoder writes it. */
const templates: readonly Template[] = Array.from({ length: FLOWS }, (_, flow) => {
  const batch = batchOf([{ timeMs: 0, flow, path: PATH, sequence: 0 }]);
  const slab = new MessageSlab({ messages: 1, bytes: MIN_SLAB_BYTES });
  const ids = new RecordIds('0000000000000000');
  ids.next = FIRST_NUMBER;
  new ProtobufEncoder().reports(batch, 0, slab, ids);
  return { value: slab.value(0).slice(), partitionHash: slab.partitionHash[0]! };
});

/** Writes what an instance has to say to the log of a partition, or fails if that cannot be reached. */
export type Append = (partition: number, record: Omit<LogRecord, 'offset'>, instance: number) => void;

/**
 * A sink as the log sees it: takes reports, keeps them until they are delivered, in order, and says how far it is. Without
 * timers and connections: the schedule says when it may deliver, and how much.
 */
export class SimulatedSink {
  readonly instance: number;
  /** Reports taken and not delivered, oldest first; those of an earlier instance that was found in the spool come first. */
  pending: SentReport[];
  #number = FIRST_NUMBER;
  #dropped = 0;
  #toDrop = 0;
  #latestMs = 0;
  #dueMs = 0;

  /** @param spooled what an earlier instance has left */
  constructor(instance: number, spooled: readonly SentReport[] = []) {
    this.instance = instance;
    this.pending = [...spooled];
  }

  /** Takes a report, or gives it up at once, as for want of room. */
  take(timeMs: number, flow: number): SentReport {
    this.#latestMs = Math.max(this.#latestMs, timeMs);
    const { value: template, partitionHash } = templates[flow]!;
    const value = template.slice();
    const view = new DataView(value.buffer);
    // Instance: tag, 8 bytes. Number: tag, 4 bytes. Time: tag, 8 bytes.
    view.setUint32(1, this.instance, true);
    const number = this.#number++;
    for (let byte = 0; byte < 4; byte++) value[10 + byte] = ((number >>> (7 * byte)) & 0x7f) | (byte < 3 ? 0x80 : 0);
    view.setBigUint64(15, BigInt(timeMs) * 1_000_000n, true);
    const report = { instance: this.instance, timeMs, flow, value, partitionHash };
    if (this.#toDrop > 0) {
      this.#toDrop--;
      this.#dropped++;
    } else {
      this.pending.push(report);
    }
    return report;
  }

  /** Has no room for the next reports. */
  drop(reports: number): void {
    this.#toDrop += reports;
  }

  /** Delivers so many reports at most, and says how far it is when it is time to. @returns what was delivered */
  deliver(most: number, clockMs: number, partitions: number, append: Append): SentReport[] {
    this.#mark(clockMs, partitions, append, false);
    const delivered = this.pending.splice(0, most);
    for (const report of delivered) {
      const { partitionHash, value, instance } = report;
      append(partitionHash % partitions, { key: null, value, headers: REPORT }, instance);
    }
    return delivered;
  }

  /** Says that nothing comes any more. */
  end(clockMs: number, partitions: number, append: Append): void {
    this.#dueMs = 0;
    this.#mark(clockMs, partitions, append, true);
  }

  #mark(clockMs: number, partitions: number, append: Append, ended: boolean): void {
    if (clockMs < this.#dueMs && this.#dueMs - clockMs <= INTERVAL_MS) return;
    this.#dueMs = clockMs + INTERVAL_MS;
    const timeMs = Math.min(clockMs, ...this.pending.map((report) => report.timeMs));
    const latestMs = Math.max(clockMs, this.#latestMs);
    const counts = { dropped: this.#dropped, ended };
    const watermark = { instanceHigh: 0, instanceLow: this.instance, timeMs, clockMs: latestMs, ...counts };
    const value = encodeWatermark(watermark, 'protobuf');
    for (let partition = 0; partition < partitions; partition++)
      append(partition, { key: null, value, headers: WATERMARK }, this.instance);
  }
}
