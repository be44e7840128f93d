import { type BaselineOptions, type Settings, settingsOf } from './options.js';
import { RecentLevels } from './recent-levels.js';
import { SeasonalLevels } from './seasonal-levels.js';
import { Sketches } from './sketches.js';

/** What a window of a key is. */
export const USUALNESS = {
  /** Not enough has been seen to tell. */
  LEARNING: 0,
  USUAL: 1,
  ABOVE: 2,
  BELOW: 3,
  /** No values, where there usually are some. */
  SILENT: 4,
} as const;

/** Spreads below this, on the logarithmic scale, are taken for it: 5 % of a value. */
const LEAST_SPREAD = 0.05;
/** A value is unusual only if it is also so many spreads away from what is usual. */
const LEAST_DEVIATION = 4;
/** Silence: so many windows without values, where at least this share of windows has values. */
const SILENT_WINDOWS = 3;
const LEAST_PRESENCE = 0.9;
/** Without a season: so many windows with values have been seen before, however short learning is. */
const LEAST_WINDOWS = 10;

/**
 * What is usual for many keys at once, each a row: columns over typed arrays, nothing is allocated after the constructor.
 *
 * Values are added one by one; a window ends for all rows together. A window stands for the median of its values. Without a season,
 * what is usual is a robust mean of the last windows. With one it is the median of the windows at this time of the day or week, on
 * earlier days; nothing is unusual until this time has been seen once. All of it is kept as ln(1 + value): a multiple is a distance.
 *
 * A window is unusual if it is above or below the multiple given and also at least four spreads from what is usual. Nothing is
 * learned from an unusual window: an anomaly that goes on never becomes usual. {@link clear} makes a row learn anew.
 *
 * Robust seasonal baselines: medians and median deviations per slot, as in MEDIFF (arXiv 2008.09245).
 */
export class BaselineTable {
  /** Rows there are. */
  readonly capacity: number;
  /** Of the window that ended last, by row: one of {@link USUALNESS}. */
  readonly usualness: Uint8Array;
  /** The median of the values; NaN: there were none. */
  readonly value: Float64Array;
  /** What would have been usual; NaN while nothing has been learned. */
  readonly usual: Float64Array;
  /** How many spreads the value is above what is usual; NaN where one of them is. */
  readonly deviation: Float64Array;
  readonly #settings: Settings;
  readonly #window: Sketches;
  readonly #recent: RecentLevels;
  readonly #seasons: SeasonalLevels | null;
  /** Windows without values, one after the other. */
  readonly #silence: Uint32Array;
  /** Share of windows with values, when the silence began: a silence does not make itself usual. */
  readonly #presence: Float64Array;
  /** 1: has had a value since it was cleared. */
  readonly #isUsed: Uint8Array;

  /** @throws RangeError for an option out of range, or if there is not enough memory */
  constructor(capacity: number, options: BaselineOptions = {}) {
    if (!(Number.isInteger(capacity) && capacity >= 1))
      throw new RangeError(`capacity must be at least 1, not ${capacity}`);
    const settings = settingsOf(options);
    this.capacity = capacity;
    this.#settings = settings;
    this.usualness = new Uint8Array(capacity);
    this.value = new Float64Array(capacity).fill(Number.NaN);
    this.usual = new Float64Array(capacity).fill(Number.NaN);
    this.deviation = new Float64Array(capacity).fill(Number.NaN);
    this.#window = new Sketches(capacity);
    this.#recent = new RecentLevels(capacity, settings.learnWindows);
    this.#seasons = settings.slots === 0 ? null : new SeasonalLevels(capacity, settings.slots, settings.windowMs);
    this.#silence = new Uint32Array(capacity);
    this.#presence = new Float64Array(capacity);
    this.#isUsed = new Uint8Array(capacity);
  }

  /** Bytes that a table takes. */
  static byteLength(capacity: number, options: BaselineOptions = {}): number {
    const { slots } = settingsOf(options);
    const seasons = slots === 0 ? 0 : SeasonalLevels.byteLength(capacity, slots);
    return Sketches.byteLength(capacity) + seasons + capacity * (1 + 3 * 8 + 28 + 4 + 8 + 1);
  }

  /**
   * Adds a value to the window of a row.
   * @param value 0 to 2^32 - 1
   * @param times how many values it stands for, from 1: of many, one in so many is enough
   */
  add(row: number, value: number, times = 1): void {
    this.#window.add(row, value, times);
  }

  /** Forgets what a row has learned, for a new key or a new normal. */
  clear(row: number): void {
    this.#window.clear(row);
    this.#recent.clear(row);
    this.#seasons?.clear(row);
    this.#silence[row] = 0;
    this.#isUsed[row] = 0;
    this.usualness[row] = USUALNESS.LEARNING;
    this.value[row] = this.usual[row] = this.deviation[row] = Number.NaN;
  }

  /**
   * Ends the window of the rows below `rows` and judges it.
   * @param timeMs when it ends, in milliseconds since 1970, UTC; not before the end of the one before
   */
  close(timeMs: number, rows: number = this.capacity): void {
    const time = timeMs - this.#settings.windowMs / 2;
    this.#seasons?.advance(time, rows);
    for (let row = 0; row < rows; row++) {
      if (this.#window.total[row] === 0 && this.#isUsed[row] === 0) continue;
      this.#isUsed[row] = 1;
      this.#judge(row, time);
    }
  }

  #judge(row: number, timeMs: number): void {
    const value = this.#window.quantile(row, 0.5);
    this.#window.clear(row);
    const isEmpty = Number.isNaN(value);
    const scaled = Math.log1p(value);
    this.#silence[row] = isEmpty ? this.#silence[row]! + 1 : 0;

    const recent = this.#recent;
    const seasons = this.#seasons;
    if (isEmpty && this.#silence[row] === 1) {
      this.#presence[row] = recent.windows[row]! >= LEAST_WINDOWS ? recent.presence[row]! : 0;
    }
    const presence = seasons === null ? this.#presence[row]! : seasons.presence(row);
    const isKnown = seasons === null ? recent.windows[row]! >= this.#settings.learnWindows : seasons.days(row) > 0;
    const level = seasons === null ? recent.level[row]! : seasons.level(row, timeMs);
    const spread = Math.max(seasons === null ? recent.spread[row]! : seasons.spread(row), LEAST_SPREAD);
    const deviation = (scaled - level) / spread;
    this.value[row] = value;
    this.usual[row] = isKnown ? Math.expm1(level) : Number.NaN;
    this.deviation[row] = isKnown ? deviation : Number.NaN;

    const usualness = !isKnown ? USUALNESS.LEARNING : this.#usualness(row, scaled - level, deviation, presence);
    this.usualness[row] = usualness;
    if (usualness > USUALNESS.USUAL) {
      // Nor is anything learned from the empty windows before it was known to be a silence.
      if (usualness === USUALNESS.SILENT && seasons === null) recent.presence[row] = presence;
      return;
    }
    if (seasons !== null) {
      seasons.add(row, value);
      return;
    }
    if (!isEmpty) recent.learn(row, scaled, LEAST_SPREAD);
    recent.learnPresence(row, !isEmpty);
  }

  /** @param off how far the window is from what is usual, on the logarithmic scale */
  #usualness(row: number, off: number, deviation: number, presence: number): number {
    const { above, below, isBelow } = this.#settings;
    if (Number.isNaN(off)) {
      const isSilent = isBelow && presence >= LEAST_PRESENCE && this.#silence[row]! >= SILENT_WINDOWS;
      return isSilent ? USUALNESS.SILENT : USUALNESS.USUAL;
    }
    if (off > above && deviation >= LEAST_DEVIATION) return USUALNESS.ABOVE;
    if (off < below && deviation <= -LEAST_DEVIATION) return USUALNESS.BELOW;
    return USUALNESS.USUAL;
  }
}
