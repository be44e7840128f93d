import type { ExternInstance } from '../ir/program.js';
import type { PacketEnvironment } from '../machine/runtime.js';
import { ControlError } from '../tables/control-error.js';
import { checkIndex, memberArgument, sizeArgument } from './constructor-arguments.js';

/** The value of a counter. Like the reference switch, it counts both packets and bytes whatever the counter's type. */
export interface CounterValue {
  readonly packets: number;
  readonly bytes: number;
}

function checkCount(value: number, what: string): void {
  if (!Number.isSafeInteger(value) || value < 0)
    throw new ControlError('ERR_CONTROL_BAD_VALUE', `${value} is no number of ${what}`);
}

/** Packets and bytes per position, exact up to 2^53 - 1. */
class CounterCells {
  #packets: Float64Array;
  #bytes: Float64Array;

  constructor(size: number) {
    this.#packets = new Float64Array(size);
    this.#bytes = new Float64Array(size);
  }

  /** Makes room for a slot and sets its counters to 0. */
  prepare(slot: number): void {
    if (slot >= this.#packets.length) {
      const size = Math.max(2 * this.#packets.length, slot + 1);
      const packets = new Float64Array(size);
      const bytes = new Float64Array(size);
      packets.set(this.#packets);
      bytes.set(this.#bytes);
      this.#packets = packets;
      this.#bytes = bytes;
    }
    this.#packets[slot] = 0;
    this.#bytes[slot] = 0;
  }

  countSlot(slot: number, length: number): void {
    this.#packets[slot]! += 1;
    this.#bytes[slot]! += length;
  }

  readSlot(slot: number): CounterValue {
    return { packets: this.#packets[slot] ?? 0, bytes: this.#bytes[slot] ?? 0 };
  }

  /** @throws ControlError `ERR_CONTROL_BAD_VALUE` */
  writeSlot(slot: number, { packets, bytes }: CounterValue): void {
    checkCount(packets, 'packets');
    checkCount(bytes, 'bytes');
    this.#packets[slot] = packets;
    this.#bytes[slot] = bytes;
  }

  reset(): void {
    this.#packets.fill(0);
    this.#bytes.fill(0);
  }
}

/** A counter array. */
export class Counter extends CounterCells {
  readonly kind = 'counter';
  readonly size: number;
  /** `packets`, `bytes` or `packets_and_bytes`. */
  readonly type: string;
  readonly #environment: PacketEnvironment;

  constructor(
    readonly declaration: ExternInstance,
    environment: PacketEnvironment,
  ) {
    super(sizeArgument(declaration, 0));
    this.size = sizeArgument(declaration, 0);
    this.type = memberArgument(declaration, 1);
    this.#environment = environment;
  }

  count(index: number): void {
    if (index >= 0 && index < this.size) this.countSlot(index, this.#environment.packetLength);
    else this.#environment.faults.externIndex++;
  }

  /** @throws ControlError `ERR_CONTROL_BAD_INDEX` */
  read(index: number): CounterValue {
    checkIndex(this, index);
    return this.readSlot(index);
  }

  /** @throws ControlError `ERR_CONTROL_BAD_INDEX`, `ERR_CONTROL_BAD_VALUE` */
  write(index: number, value: CounterValue): void {
    checkIndex(this, index);
    this.writeSlot(index, value);
  }
}

/**
 * The counters of a table's entries, by slot, and of its misses. The table's lookup counts, and `count()` in an action
 * does nothing more.
 */
export class DirectCounter extends CounterCells {
  readonly kind = 'direct_counter';
  /** `packets`, `bytes` or `packets_and_bytes`. */
  readonly type: string;
  #missed = 0;
  #missedBytes = 0;

  constructor(readonly declaration: ExternInstance) {
    super(16);
    this.type = memberArgument(declaration, 0);
  }

  /** Counts a packet that matched no entry. */
  countMiss(length: number): void {
    this.#missed += 1;
    this.#missedBytes += length;
  }

  /** Packets that matched no entry. */
  readMisses(): CounterValue {
    return { packets: this.#missed, bytes: this.#missedBytes };
  }

  /** @throws ControlError `ERR_CONTROL_BAD_VALUE` */
  writeMisses({ packets, bytes }: CounterValue): void {
    checkCount(packets, 'packets');
    checkCount(bytes, 'bytes');
    this.#missed = packets;
    this.#missedBytes = bytes;
  }

  override reset(): void {
    super.reset();
    this.#missed = 0;
    this.#missedBytes = 0;
  }
}
