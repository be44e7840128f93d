import type { Detected } from './detection-summary.js';
import type { PlacedEvent } from './event-text.js';

/** The result of reading a file again. */
export interface Notice {
  readonly text: string;
  readonly isProblem: boolean;
}

/** What a live view shows of detection. */
export interface DetectionState extends Detected {
  /** Recent events, the most recent first. */
  readonly recent: readonly PlacedEvent[];
  /** Events not printed because the reader was too slow. */
  readonly notShown: number;
  /** Result of the last attempt to load rules; `null` if there was none. */
  readonly notice: Notice | null;
}
