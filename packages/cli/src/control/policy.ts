import { CAUTIOUS, type CompileOptions, type ControlPolicy } from '@int/control';
import { millisecondsOf, type Quantity } from '../config/quantities.js';
import { ifGiven } from '../given.js';
import type { ControlConfig } from './config.js';

/** How intents become tables: INT sinks sample flows with rules as the file says that reports are sampled. */
export function compileOptionsOf({ routes, sampling = 1 }: ControlConfig): CompileOptions {
  return { regularOneIn: sampling, ...(routes !== undefined && { routes }) };
}

/** What the loop may do, as control.yaml says. */
export function policyOf(config: ControlConfig): ControlPolicy {
  const { autonomy = {}, limits = {}, ttl = {}, backOff = {} } = config;
  const { within, all, ...kinds } = limits;
  const ms = (quantity: Quantity | undefined, usual: number): number => ifGiven(quantity, millisecondsOf) ?? usual;
  return {
    ...CAUTIOUS,
    autonomy,
    limits: { withinMs: ms(within, CAUTIOUS.limits.withinMs), all: all ?? CAUTIOUS.limits.all, kinds },
    rehearse: config.rehearse ?? CAUTIOUS.rehearse,
    settleMs: ms(config.settle, CAUTIOUS.settleMs),
    approvalMs: ms(config.approval, CAUTIOUS.approvalMs),
    ttlMs: Object.fromEntries(Object.entries(ttl).map(([kind, time]) => [kind, millisecondsOf(time)])),
    backOff: {
      firstMs: ms(backOff.first, CAUTIOUS.backOff.firstMs),
      mostMs: ms(backOff.longest, CAUTIOUS.backOff.mostMs),
    },
    staleMs: ms(config.stale, CAUTIOUS.staleMs),
    mostLoss: config.loss ?? CAUTIOUS.mostLoss,
    reportOneIn: config.reportOneIn ?? CAUTIOUS.reportOneIn,
  };
}
