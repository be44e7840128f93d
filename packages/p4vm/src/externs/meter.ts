import type { ExternInstance } from '../ir/program.js';
import { ControlError } from '../tables/control-error.js';
import { memberArgument, sizeArgument } from './constructor-arguments.js';
import type { PacketEnvironment } from './environment.js';
import type { DirectMeterRuntime, MeterRuntime } from './extern.js';

/** One rate of a meter: tokens per microsecond, and the bucket's size in tokens. Tokens are bytes or packets. */
export interface MeterRate {
  readonly rate: number;
  readonly burst: number;
}

/** Green, yellow, red as v1model's `MeterColor`. */
const METER_COLORS = { green: 0, yellow: 1, red: 2 } as const;

interface Bucket {
  readonly rate: number;
  readonly burst: number;
  tokens: number;
  /** Tokens generated from the switch's start to the last use of the bucket. */
  made: number;
}

interface MeterState {
  readonly committed: Bucket;
  readonly peak: Bucket;
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

function bucketOf(rate: MeterRate): Bucket {
  return { rate: rate.rate, burst: rate.burst, tokens: rate.burst, made: 0 };
}

/**
 * Meters by index: two rates, three colours, as the reference switch computes them. The peak bucket comes first: a
 * packet without enough tokens there is red and takes none. Otherwise the committed bucket decides between green and
 * yellow. A meter without rates is green.
 */
export class MeterBank {
  readonly #inBytes: boolean;
  readonly #states = new Map<number, MeterState>();
  /** Rates of all indices without their own. */
  #common: { readonly committed: MeterRate; readonly peak: MeterRate } | undefined;

  constructor(type: string) {
    this.#inBytes = type === 'bytes';
  }

  execute(index: number, packetLength: number, nowUs: number): number {
    const state = this.#stateOf(index);
    if (state === undefined) return METER_COLORS.green;
    const tokens = this.#inBytes ? packetLength : 1;
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
    this.#states.set(index, { committed: bucketOf(committed), peak: bucketOf(peak) });
  }

  /** Committed and peak rate; undefined if none were set. */
  rates(index: number): readonly [MeterRate, MeterRate] | undefined {
    const state = this.#stateOf(index);
    if (state === undefined) return undefined;
    const { committed, peak } = state;
    return [
      { rate: committed.rate, burst: committed.burst },
      { rate: peak.rate, burst: peak.burst },
    ];
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

  #stateOf(index: number): MeterState | undefined {
    let state = this.#states.get(index);
    if (state === undefined && this.#common !== undefined) {
      // An unused bucket is full, so it is made on first use.
      state = { committed: bucketOf(this.#common.committed), peak: bucketOf(this.#common.peak) };
      this.#states.set(index, state);
    }
    return state;
  }
}

function checkRates(rates: readonly MeterRate[]): { readonly committed: MeterRate; readonly peak: MeterRate } {
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
    throw new ControlError(
      'ERR_CONTROL_BAD_RATES',
      `the peak rate ${peak.rate} is below the committed rate ${committed.rate}`,
    );
  }
  return { committed, peak };
}

/** A meter array. */
export class Meter implements MeterRuntime {
  readonly kind = 'meter';
  readonly size: number;
  /** `packets` or `bytes`. */
  readonly type: string;
  readonly #environment: PacketEnvironment;
  readonly #bank: MeterBank;

  constructor(
    readonly declaration: ExternInstance,
    environment: PacketEnvironment,
  ) {
    this.size = sizeArgument(declaration, 0);
    this.type = memberArgument(declaration, 1);
    this.#environment = environment;
    this.#bank = new MeterBank(this.type);
  }

  execute(index: number): number {
    const environment = this.#environment;
    if (!(index >= 0 && index < this.size)) {
      environment.faults.externIndex++;
      return -1;
    }
    return this.#bank.execute(index, environment.packetLength, environment.nowUs);
  }

  /** @throws ControlError `ERR_CONTROL_BAD_INDEX`, `ERR_CONTROL_BAD_RATES` */
  setRates(index: number, rates: readonly MeterRate[]): void {
    this.#check(index);
    this.#bank.setRates(index, rates);
  }

  /** Sets the rates of every index. @throws ControlError `ERR_CONTROL_BAD_RATES` */
  setAllRates(rates: readonly MeterRate[]): void {
    this.#bank.setAllRates(rates);
  }

  /** Committed and peak rate; undefined if none were set. @throws ControlError `ERR_CONTROL_BAD_INDEX` */
  rates(index: number): readonly [MeterRate, MeterRate] | undefined {
    this.#check(index);
    return this.#bank.rates(index);
  }

  reset(): void {
    this.#bank.reset();
  }

  #check(index: number): void {
    if (!Number.isInteger(index) || index < 0 || index >= this.size) {
      throw new ControlError('ERR_CONTROL_BAD_INDEX', `meter ${this.declaration.name} has no index ${index}`);
    }
  }
}

/** The meters of a table's entries, by slot. The table's lookup runs them. */
export class DirectMeter implements DirectMeterRuntime {
  readonly kind = 'direct_meter';
  color = -1;
  /** `packets` or `bytes`. */
  readonly type: string;
  readonly bank: MeterBank;

  constructor(readonly declaration: ExternInstance) {
    this.type = memberArgument(declaration, 0);
    this.bank = new MeterBank(this.type);
  }

  /** Sets the rates of every slot. @throws ControlError `ERR_CONTROL_BAD_RATES` */
  setAllRates(rates: readonly MeterRate[]): void {
    this.bank.setAllRates(rates);
  }

  reset(): void {
    this.bank.reset();
  }
}
