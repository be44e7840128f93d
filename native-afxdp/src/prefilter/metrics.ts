import { FIELDS, METRICS } from '@int/codec';

/** Where the kernel finds a metric in a hop's INT v2.1 metadata. */
export interface MetricPlace {
  /** Bit of the instruction bitmap, 0 = most significant. */
  readonly bit: number;
  /** 32-bit word of the item. */
  readonly word: number;
  /** The metric is `(word >>> shift) & mask`. */
  readonly shift: number;
  /** Unsigned. */
  readonly mask: number;
  /** Its number in {@link METRICS}. */
  readonly id: number;
}

/** Where a metric is; `null` if no INT v2.1 hop has it. */
export function placeOf(name: string): MetricPlace | null {
  const field = FIELDS.find((each) => each.name === name);
  const metric = METRICS.find((each) => each.name === name);
  const bit = field?.at['2'];
  if (field === undefined || metric === undefined || bit === undefined) return null;
  // Bits of the item in front of the field and behind it.
  const item = FIELDS.filter(({ at, isReserved }) => at['2'] === bit && isReserved === field.isReserved);
  const place = item.indexOf(field);
  const front = item.slice(0, place).reduce((sum, { bits }) => sum + bits, 0);
  const word = front >>> 5;
  const shift = 32 * (word + 1) - front - field.bits;
  return { bit, word, shift, mask: 2 ** field.bits - 1, id: metric.id };
}
