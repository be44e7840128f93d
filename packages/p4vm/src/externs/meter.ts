import type { ExternInstance } from '../ir/program.js';
import type { PacketEnvironment } from '../machine/runtime.js';
import { ControlError } from '../tables/control-error.js';
import { checkIndex, memberArgument, sizeArgument } from './constructor-arguments.js';

/** One rate of a meter: tokens per microsecond, and the bucket's size in tokens. Tokens are bytes or packets. */
export interface MeterRate {
  readonly rate: number;
  readonly burst: number;
}

/** Green, yellow, red as v1model's `MeterColor`. */
const METER_COLORS = { green: 0, yellow: 1, red: 2 } as const;

interface Bucket extends MeterRate {
  tokens: number;
  /** Tokens generated from the switch's start to the last use of the bucket. */
  made: number;
}

/** The two rates of a meter, or its buckets. */
interface Both<T> {
  readonly committed: T;
  readonly peak: T;
}

/** Buckets of a meter. With a single rate, the second bucket gets what the full first one cannot hold. */
interface Buckets extends Both<Bucket> {
  readonly isSingleRate: boolean;
}

/** Takes tokens. Returns false, and takes none, if there are too few. */
function take(bucket: Bucket, tokens: number, nowUs: number): boolean {
  // Counted from the switch's start, not from the last packet, so that rounding errors do not add up.
  const made = Math.floor(nowUs * bucket.rate);
  bucket.tokens = Math.min(bucket.tokens + (made - bucket.made), bucket.burst);
  bucket.made = made;
  if (bucket.tokens < tokens) return false;
  bucket.tokens -= tokens;
  return true;
}

/** RFC 2697, colour-blind: the committed bucket is green, the excess bucket yellow. */
function runSingleRate({ committed, peak: excess }: Buckets, tokens: number, nowUs: number): number {
  const made = Math.floor(nowUs * committed.rate);
  const sum = committed.tokens + (made - committed.made);
  committed.made = made;
  committed.tokens = Math.min(sum, committed.burst);
  excess.tokens = Math.min(excess.tokens + (sum - committed.tokens), excess.burst);
  if (committed.tokens >= tokens) {
    committed.tokens -= tokens;
    return METER_COLORS.green;
  }
  if (excess.tokens < tokens) return METER_COLORS.red;
  excess.tokens -= tokens;
  return METER_COLORS.yellow;
}

function bucketOf({ rate, burst }: MeterRate): Bucket {
  return { rate, burst, tokens: burst, made: 0 };
}

function rateOf({ rate, burst }: Bucket): MeterRate {
  return { rate, burst };
}

/**
 * Meters by index: two rates, three colours, as the reference switch computes them. The peak bucket comes first: a
 * packet without enough tokens there is red and takes none. Otherwise the committed bucket decides between green and
 * yellow. A meter without rates is green.
 */
class MeterBank {
  readonly #states = new Map<number, Buckets>();
  /** Rates of all indices without their own. */
  #common: Both<MeterRate> | undefined;

  /** @param type `packets` or `bytes` */
  constructor(readonly type: string) {}

  /** Takes the tokens of a packet. Returns its colour. */
  run(index: number, packetLength: number, nowUs: number): number {
    const state = this.#stateOf(index);
    if (state === undefined) return METER_COLORS.green;
    const tokens = this.type === 'bytes' ? packetLength : 1;
    if (state.isSingleRate) return runSingleRate(state, tokens, nowUs);
    if (!take(state.peak, tokens, nowUs)) return METER_COLORS.red;
    return take(state.committed, tokens, nowUs) ? METER_COLORS.green : METER_COLORS.yellow;
  }

  /**
   * Sets both rates and fills both buckets.
   *
   * @param rates the committed rate, then the peak rate
   * @throws ControlError `ERR_CONTROL_BAD_RATES` if there are not two, a rate is not a finite number from 0, a burst is
   *   not a whole number from 0, or the peak rate is below the committed one
   */
  setRates(index: number, rates: readonly MeterRate[]): void {
    const { committed, peak } = checkRates(rates);
    this.#states.set(index, { committed: bucketOf(committed), peak: bucketOf(peak), isSingleRate: false });
  }

  /**
   * Makes a meter of one rate with three colours (RFC 2697), both buckets full. Its `rates` are that rate, and the same
   * rate with the excess burst.
   *
   * @param excessBurst size of the bucket for what the full committed bucket cannot hold, in tokens
   * @throws ControlError `ERR_CONTROL_BAD_RATES`
   */
  setSingleRate(index: number, rate: MeterRate, excessBurst: number): void {
    const { committed, peak } = checkRates([rate, { rate: rate.rate, burst: excessBurst }]);
    this.#states.set(index, { committed: bucketOf(committed), peak: bucketOf(peak), isSingleRate: true });
  }

  /** Forgets the rates of an index: its packets are green again, or as the rates of every index say. */
  clearRates(index: number): void {
    this.#states.delete(index);
  }

  /** Committed and peak rate; undefined if none were set. */
  rates(index: number): readonly [MeterRate, MeterRate] | undefined {
    const state = this.#stateOf(index);
    return state && [rateOf(state.committed), rateOf(state.peak)];
  }

  /** Whether an index has rates of its own. */
  hasRates(index: number): boolean {
    return this.#states.size > 0 && this.#states.has(index);
  }

  /** Sets the rates of every index. @throws ControlError `ERR_CONTROL_BAD_RATES` */
  setAllRates(rates: readonly MeterRate[]): void {
    this.#common = checkRates(rates);
    this.#states.clear();
  }

  reset(): void {
    this.#common = undefined;
    this.#states.clear();
  }

  #stateOf(index: number): Buckets | undefined {
    let state = this.#states.get(index);
    if (state === undefined && this.#common !== undefined) {
      // An unused bucket is full, so it is made on first use.
      const { committed, peak } = this.#common;
      state = { committed: bucketOf(committed), peak: bucketOf(peak), isSingleRate: false };
      this.#states.set(index, state);
    }
    return state;
  }
}

function checkRates(rates: readonly MeterRate[]): Both<MeterRate> {
  const [committed, peak] = rates;
  if (rates.length !== 2 || committed === undefined || peak === undefined) {
    throw new ControlError('ERR_CONTROL_BAD_RATES', `a meter has 2 rates, not ${rates.length}`);
  }
  for (const { rate, burst } of rates) {
    if (!Number.isFinite(rate) || rate < 0) throw new ControlError('ERR_CONTROL_BAD_RATES', `${rate} is no rate`);
    if (!Number.isSafeInteger(burst) || burst < 0)
      throw new ControlError('ERR_CONTROL_BAD_RATES', `${burst} is no burst size`);
  }
  if (committed.rate > peak.rate) {
    const message = `the peak rate ${peak.rate} is below the committed rate ${committed.rate}`;
    throw new ControlError('ERR_CONTROL_BAD_RATES', message);
  }
  return { committed, peak };
}

/** A meter array. */
export class Meter extends MeterBank {
  readonly kind = 'meter';
  readonly size: number;
  readonly #environment: PacketEnvironment;

  constructor(
    readonly declaration: ExternInstance,
    environment: PacketEnvironment,
  ) {
    super(memberArgument(declaration, 1));
    this.size = sizeArgument(declaration, 0);
    this.#environment = environment;
  }

  /** 0 green, 1 yellow, 2 red; -1 for an index out of bounds (then the result is not written). */
  execute(index: number): number {
    const environment = this.#environment;
    if (index >= 0 && index < this.size) return this.run(index, environment.packetLength, environment.nowUs);
    environment.faults.externIndex++;
    return -1;
  }

  /** Sets the rates of one index. @throws ControlError `ERR_CONTROL_BAD_INDEX`, `ERR_CONTROL_BAD_RATES` */
  override setRates(index: number, rates: readonly MeterRate[]): void {
    checkIndex(this, index);
    super.setRates(index, rates);
  }

  /** As of every meter. @throws ControlError `ERR_CONTROL_BAD_INDEX`, `ERR_CONTROL_BAD_RATES` */
  override setSingleRate(index: number, rate: MeterRate, excessBurst: number): void {
    checkIndex(this, index);
    super.setSingleRate(index, rate, excessBurst);
  }

  /** As of every meter. @throws ControlError `ERR_CONTROL_BAD_INDEX` */
  override clearRates(index: number): void {
    checkIndex(this, index);
    super.clearRates(index);
  }

  /** Committed and peak rate; undefined if none were set. @throws ControlError `ERR_CONTROL_BAD_INDEX` */
  override rates(index: number): readonly [MeterRate, MeterRate] | undefined {
    checkIndex(this, index);
    return super.rates(index);
  }
}

/** The index of a direct meter for packets that match no entry. */
export const MISS_METER = -1;

/** The meters of a table's entries, by slot. The table's lookup runs them. */
export class DirectMeter extends MeterBank {
  readonly kind = 'direct_meter';
  /** Colour from the last lookup of its table; -1 after a miss, unless index {@link MISS_METER} has rates. */
  color = -1;

  constructor(readonly declaration: ExternInstance) {
    super(memberArgument(declaration, 0));
  }

  /** Takes the tokens of a packet that matched no entry. */
  runMiss(packetLength: number, nowUs: number): void {
    this.color = this.hasRates(MISS_METER) ? this.run(MISS_METER, packetLength, nowUs) : -1;
  }
}
