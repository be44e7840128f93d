import type { Measurement } from './measurement.js';
import type { ControlPolicy } from './policy.js';
import { percentText, spanText } from './reason-text.js';

/** Measurements in a row that must be good before telemetry is relied on again. */
const GOOD = 2;

/** Whether telemetry can be relied on: it is neither stale nor lossy. */
export class Sight {
  /** Why it cannot; `null`: it can. */
  blindness: string | null = null;
  #good = 0;

  /** @returns whether this is another answer than before */
  look({ ageMs, loss }: Measurement, { staleMs, mostLoss }: ControlPolicy): boolean {
    const found = blindnessOf(ageMs, loss, staleMs, mostLoss);
    const before = this.blindness;
    this.#good = found === null ? this.#good + 1 : 0;
    if (found !== null || this.#good >= GOOD) this.blindness = found;
    return (before === null) !== (this.blindness === null);
  }
}

function blindnessOf(ageMs: number, loss: number, staleMs: number, mostLoss: number): string | null {
  if (ageMs === Number.POSITIVE_INFINITY) return 'no report has come yet';
  if (ageMs > staleMs) return `the newest report is ${spanText(ageMs)} old`;
  return loss > mostLoss ? `${percentText(loss)} of the reports are lost` : null;
}
