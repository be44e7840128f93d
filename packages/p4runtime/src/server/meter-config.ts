import { Code } from '@connectrpc/connect';
import type { MeterConfig, MeterCounterData } from '../generated/p4/v1/p4runtime_pb.js';
import type { EntityWriter } from './entity-writer.js';
import { invalid, refuse } from './refusal.js';
import type { MeterSchema } from './schema.js';
import type { TargetMeterConfig } from './target.js';

const LARGEST = BigInt(Number.MAX_SAFE_INTEGER);

function numberOf(value: bigint): number {
  return Number(value > LARGEST ? LARGEST : value);
}

/**
 * Checks a configuration by the type of the meter. (P4Runtime 1.5, section "MeterEntry & DirectMeterEntry")
 *
 * @throws Refusal INVALID_ARGUMENT
 */
export function readMeterConfig({ name, type }: MeterSchema, config: MeterConfig): TargetMeterConfig {
  const { cir, cburst, pir, pburst, eburst } = config;
  if (cir < 0n || cburst < 0n || pir < 0n || pburst < 0n || eburst < 0n) {
    invalid(`a rate or burst of meter ${name} is negative`);
  }
  if (type !== 'single-rate' && eburst !== 0n) invalid(`meter ${name} has no excess burst`);
  if (type !== 'two-rate' && (pir !== cir || pburst !== cburst)) {
    invalid(`meter ${name} has a single rate: peak rate and burst must equal the committed ones`);
  }
  if (type === 'two-rate' && pir < cir) invalid(`the peak rate of meter ${name} is below the committed rate`);
  const committed = { cir: numberOf(cir), cburst: numberOf(cburst) };
  if (type === 'single-rate') return { kind: 'single-rate', ...committed, eburst: numberOf(eburst) };
  return { kind: 'two-rate', ...committed, pir: numberOf(pir), pburst: numberOf(pburst) };
}

/** @throws Refusal UNIMPLEMENTED if counters of colours are asked for: targets do not have them */
export function refuseColours(data: MeterCounterData | undefined): void {
  if (data !== undefined) refuse(Code.Unimplemented, 'meters have no counters per colour');
}

/** Writes a MeterConfig message. */
export function writeMeterConfig(writer: EntityWriter, tag: number, config: MeterConfig): void {
  const start = writer.open(tag);
  const { cir, cburst, pir, pburst, eburst } = config;
  if (cir !== 0n) writer.long(0x08, cir);
  if (cburst !== 0n) writer.long(0x10, cburst);
  if (pir !== 0n) writer.long(0x18, pir);
  if (pburst !== 0n) writer.long(0x20, pburst);
  if (eburst !== 0n) writer.long(0x28, eburst);
  writer.close(start);
}
