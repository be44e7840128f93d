import type { CounterData } from '../generated/p4/v1/p4runtime_pb.js';
import type { EntityWriter } from './entity-writer.js';
import { invalid } from './refusal.js';
import type { TargetCount } from './target.js';

const LARGEST = BigInt(Number.MAX_SAFE_INTEGER);

/** @throws Refusal INVALID_ARGUMENT for numbers below 0 or above 2^53 - 1 */
export function readCount({ packetCount, byteCount }: CounterData): TargetCount {
  if (packetCount < 0n || byteCount < 0n) invalid('a count is negative');
  if (packetCount > LARGEST || byteCount > LARGEST) invalid('a count is above 2^53 - 1');
  return { packets: Number(packetCount), bytes: Number(byteCount) };
}

/** Writes a CounterData message. */
export function writeCount(writer: EntityWriter, tag: number, { packets, bytes }: TargetCount): void {
  const start = writer.open(tag);
  if (bytes !== 0) writer.number(0x08, bytes);
  if (packets !== 0) writer.number(0x10, packets);
  writer.close(start);
}
