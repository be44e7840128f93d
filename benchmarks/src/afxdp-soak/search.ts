/** The highest rate at which next to nothing is lost. */
import type { Account } from './traffic.js';

export interface Trial {
  /** Frames a second that the sender was asked for, and those that it sent: something else may have taken its processor. */
  readonly rate: number;
  readonly reached: number;
  readonly account: Account;
  readonly isBorne: boolean;
}

/** Rates to begin with: the highest one that is borne, and the one above it, are what is searched between. */
const RATES: readonly number[] = [2e6, 1e6, 5e5, 2.5e5, 1.2e5, 6e4, 3e4, 1e4];
/** Share that may be lost in the cable's ring of 256 frames, which overflows when something else takes the processor. */
const CABLE_LOSS = 0.05;
/** Share that may find no room while the collector's memory is measured, which takes longer than its memory lasts. */
const KERNEL_LOSS = 0.001;

/** The kernel had room for the frames that came out of the cable. */
function isBorne({ sent, cable, rxDropped, rxRingFull, noSocket }: Account): boolean {
  return rxDropped + rxRingFull + noSocket <= KERNEL_LOSS * sent && cable <= CABLE_LOSS * sent;
}

/**
 * @param run sends at a rate for a while
 * @param steps halvings of the interval, after it is known to within a factor
 */
export async function searchRate(
  run: (rate: number) => Promise<{ readonly account: Account; readonly elapsed: number }>,
  steps: number,
): Promise<Trial[]> {
  const trials: Trial[] = [];
  const attempt = async (rate: number): Promise<boolean> => {
    const { account, elapsed } = await run(rate);
    const trial = { rate, reached: Math.round(account.sent / elapsed), account, isBorne: isBorne(account) };
    trials.push(trial);
    return trial.isBorne;
  };
  let at = 0;
  while (at < RATES.length && !(await attempt(RATES[at]!))) at++;
  if (at === 0 || at === RATES.length) return trials;
  let [low, high] = [RATES[at]!, RATES[at - 1]!];
  for (let step = 0; step < steps; step++) {
    const middle = Math.round(Math.sqrt(low * high));
    if (await attempt(middle)) low = middle;
    else high = middle;
  }
  return trials;
}

/** The highest rate that was borne; the lowest one that was tried if none was. */
export function bestOf(trials: readonly Trial[]): number {
  const borne = trials.filter((trial) => trial.isBorne).map(({ rate }) => rate);
  return borne.length === 0 ? Math.min(...trials.map(({ rate }) => rate)) : Math.max(...borne);
}
