import { decodeWatermark, type KafkaSink, WATERMARK_TYPE, type Watermark } from '@int/sink-kafka';
import { expect } from 'vitest';
import type { Stored } from './topic.js';

/** What a topic has, by what its readers may rely on. */
export interface Checked {
  /** Different records. */
  readonly records: number;
  /** Messages whose id had come before. */
  readonly repeats: number;
}

/**
 * Checks messages in JSON: one partition per key, and, without repeats, the records of a key in the order of their
 * numbers, per sink.
 */
export function check(stored: readonly Stored[]): Checked {
  const ids = new Set<string>();
  const partitions = new Map<string, number>();
  const numbers = new Map<string, number>();
  // One expectation in the end: there are many messages.
  const wrong: string[] = [];
  let repeats = 0;
  for (const { key, partition, value } of stored) {
    const { id } = JSON.parse(value.toString()) as { id: string };
    if (ids.has(id)) {
      repeats += 1;
      continue;
    }
    ids.add(id);
    const flow = key.toString('hex');
    if ((partitions.get(flow) ?? partition) !== partition) wrong.push(`${id}: partition ${partition}`);
    partitions.set(flow, partition);
    const [instance = '', number = ''] = id.split('-');
    const of = `${instance} ${flow}`;
    // In the order of the partition: readTopic keeps it.
    if (Number(number) <= (numbers.get(of) ?? -1)) wrong.push(`${id}: after ${numbers.get(of)}`);
    numbers.set(of, Number(number));
  }
  expect(wrong).toEqual([]);
  return { records: ids.size, repeats };
}

/**
 * Checks the watermarks among messages in JSON: behind each, no report of its sink has an earlier time.
 * @returns the last one of each partition and sink
 */
export function checkWatermarks(stored: readonly Stored[]): readonly Watermark[] {
  const told = new Map<string, Watermark>();
  const wrong: string[] = [];
  for (const { partition, headers, value } of stored) {
    if (headers.type === WATERMARK_TYPE) {
      const watermark = decodeWatermark(value, 'json')!;
      const hex = (word: number): string => word.toString(16).padStart(8, '0');
      told.set(`${partition} ${hex(watermark.instanceHigh)}${hex(watermark.instanceLow)}`, watermark);
      continue;
    }
    const { id, timeNs } = JSON.parse(value.toString()) as { id: string; timeNs: string };
    const before = told.get(`${partition} ${id.split('-')[0]}`);
    if (before === undefined) continue;
    if (Number(BigInt(timeNs)) / 1e6 < before.timeMs) wrong.push(`${id} of ${timeNs} behind ${before.timeMs}`);
  }
  expect(wrong).toEqual([]);
  return [...told.values()];
}

/** The account of reports closes. @returns it */
export function closedAccount(sink: KafkaSink): {
  readonly offered: number;
  readonly delivered: number;
  readonly pending: number;
  readonly dropped: Readonly<Record<string, number>>;
} {
  const { delivered, dropped, offered, pending } = sink.totals().reports!;
  const shed = Object.values(dropped).reduce((a, b) => a + b, 0);
  expect(delivered + pending + shed).toBe(offered);
  expect(Math.min(delivered, pending, ...Object.values(dropped))).toBeGreaterThanOrEqual(0);
  return { offered, delivered, pending, dropped };
}
