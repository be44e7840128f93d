/** Whether what is usual depends on the time of day, or of the week. */
export type Season = 'none' | 'day' | 'week';

export interface BaselineOptions {
  /** A value above this multiple of the usual one is unusual; above 1. Default: no value is too large. */
  readonly above?: number;
  /** A value below this multiple of the usual one is unusual, and so is silence; from 0 to 1. Default: no value is too small. */
  readonly below?: number;
  /** Default `none`: what is usual is what has been so lately. */
  readonly season?: Season;
  /** Length of a window in milliseconds. Default 1000. */
  readonly windowMs?: number;
  /**
   * Without a season: for so many milliseconds of windows with values nothing is unusual, and with this time constant what is usual
   * follows the values. Default 600,000.
   */
  readonly learnMs?: number;
}

/** Slots of a day: 15 minutes each. */
export const SLOT_MS = 900_000;
const SLOTS: Readonly<Record<Season, number>> = { none: 0, day: 96, week: 672 };

/** {@link BaselineOptions}, checked and as the tables want them. */
export interface Settings {
  /** Logarithms of the multiples; infinite: none. */
  readonly above: number;
  readonly below: number;
  readonly isBelow: boolean;
  readonly slots: number;
  readonly windowMs: number;
  /** Windows to learn from. */
  readonly learnWindows: number;
}

/** @throws RangeError for an option out of range */
export function settingsOf(options: BaselineOptions): Settings {
  const { above, below, season = 'none', windowMs = 1000, learnMs = 600_000 } = options;
  if (above !== undefined && !(above > 1 && Number.isFinite(above))) {
    throw new RangeError(`above must be a number above 1, not ${above}`);
  }
  if (below !== undefined && !(below >= 0 && below < 1)) {
    throw new RangeError(`below must be a number from 0 to 1, not ${below}`);
  }
  if (!Object.hasOwn(SLOTS, season)) throw new RangeError(`season must be none, day or week, not ${String(season)}`);
  if (!(windowMs >= 1 && windowMs <= SLOT_MS)) {
    throw new RangeError(`windowMs must be 1 to ${SLOT_MS}, not ${windowMs}`);
  }
  if (!(learnMs >= windowMs && Number.isFinite(learnMs))) {
    throw new RangeError(`learnMs must be at least one window, not ${learnMs}`);
  }
  return {
    above: above === undefined ? Number.POSITIVE_INFINITY : Math.log(above),
    below: below === undefined ? Number.NEGATIVE_INFINITY : Math.log(below),
    isBelow: below !== undefined,
    slots: SLOTS[season],
    windowMs,
    learnWindows: Math.max(1, Math.ceil(learnMs / windowMs)),
  };
}
