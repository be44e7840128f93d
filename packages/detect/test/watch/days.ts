/** A metric over days: a daily season, noise, and anomalies with labels. */
import { Random } from '@int/random';

export const DAY_MS = 86_400_000;

export type Kind = 'spike' | 'step' | 'drift' | 'silence';

export interface Anomaly {
  readonly kind: Kind;
  readonly fromMs: number;
  readonly toMs: number;
}

const KINDS: readonly Kind[] = ['spike', 'step', 'drift', 'silence'];
/** Seconds that anomalies of a kind last. */
const SECONDS: Readonly<Record<Kind, number>> = { spike: 5, step: 600, drift: 1200, silence: 60 };

/** Anomalies at random times of the second day, one in each of `count` equal parts of it. */
export function anomaliesOf(seed: number, count: number): Anomaly[] {
  const random = new Random(seed);
  const part = DAY_MS / count;
  return Array.from({ length: count }, (_, k) => {
    const kind = KINDS[k % KINDS.length]!;
    const length = SECONDS[kind] * 1000;
    const from = DAY_MS + k * part + Math.floor((random.integer(1000) / 1000) * (part - length - 60_000));
    const fromMs = Math.floor(from / 1000) * 1000;
    return { kind, fromMs, toMs: fromMs + length };
  });
}

/** A hop latency in nanoseconds; between 0 and 24 h it goes up and down by a factor of three. NaN: no report. */
export function valueAt(random: Random, timeMs: number, anomaly: Anomaly | undefined): number {
  const season = 20_000 * 3 ** (0.5 + 0.5 * Math.sin((2 * Math.PI * timeMs) / DAY_MS));
  // Long-tailed, as queues are: most values are near the usual, some are twice or four times as large.
  const tail = random.integer(50) === 0 ? 1 + random.integer(4) : 1;
  const noise = Math.exp((random.integer(1000) + random.integer(1000) + random.integer(1000) - 1500) / 2500);
  const value = season * noise * tail;
  if (anomaly === undefined) return value;
  switch (anomaly.kind) {
    case 'spike':
      return value * 4;
    case 'step':
      return value * 3;
    case 'drift':
      return value * (1 + (3 * (timeMs - anomaly.fromMs)) / (anomaly.toMs - anomaly.fromMs));
    default:
      return Number.NaN;
  }
}
