import type { ExternRuntime } from '@int/p4vm/internals';
import type { TargetMeterConfig } from '../server/target.js';

type MeterRuntime = Extract<ExternRuntime, { kind: 'meter' | 'direct_meter' }>;

/** Rates of the machine are per microsecond. */
const PER_MICROSECOND = 1e-6;

/** Configures a meter of the machine; without a configuration every packet is green. @throws ControlError */
export function meterSetting(meter: MeterRuntime, index: number, config: TargetMeterConfig | undefined): void {
  if (config === undefined) {
    meter.clearRates(index);
    return;
  }
  const committed = { rate: config.cir * PER_MICROSECOND, burst: config.cburst };
  if (config.kind === 'single-rate') meter.setSingleRate(index, committed, config.eburst);
  else meter.setRates(index, [committed, { rate: config.pir * PER_MICROSECOND, burst: config.pburst }]);
}
