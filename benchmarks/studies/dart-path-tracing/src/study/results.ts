/** What `results/study.json` holds, its head aside. */
import type { AdaptivePoint, InsertionPoint, LossPoint } from './beyond.js';
import type { CounterStudy } from './counters.js';
import type { PaperFigures } from './paper.js';

export interface Results {
  readonly keys: number;
  readonly paper: PaperFigures;
  readonly adaptive: readonly AdaptivePoint[];
  readonly insertion: readonly InsertionPoint[];
  readonly loss: readonly LossPoint[];
  readonly counters: CounterStudy;
  readonly largestBytes: number;
  readonly seconds: number;
}
