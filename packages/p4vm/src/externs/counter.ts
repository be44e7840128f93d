import type { ExternInstance } from '../ir/program.js';
import { ControlError } from '../tables/control-error.js';
import { memberArgument, sizeArgument } from './constructor-arguments.js';
import type { PacketEnvironment } from './environment.js';
import type { CounterRuntime, DirectCounterRuntime } from './extern.js';

/** The value of a counter. Like the reference switch, it counts both packets and bytes whatever the counter's type. */
export interface CounterValue {
  readonly packets: number;
  readonly bytes: number;
}

function checkCount(value: number, what: string): void {
  if (!Number.isSafeInteger(value) || value < 0)
    throw new ControlError('ERR_CONTROL_BAD_VALUE', `${value} is no number of ${what}`);
}

/** A counter array: packets and bytes per index, exact up to 2^53 - 1. */
export class Counter implements CounterRuntime {
  readonly kind = 'counter';
  readonly size: number;
  /** `packets`, `bytes` or `packets_and_bytes`. */
  readonly type: string;
  readonly #environment: PacketEnvironment;
  readonly #packets: Float64Array;
  readonly #bytes: Float64Array;

  constructor(
    readonly declaration: ExternInstance,
    environment: PacketEnvironment,
  ) {
    this.size = sizeArgument(declaration, 0);
    this.type = memberArgument(declaration, 1);
    this.#environment = environment;
    this.#packets = new Float64Array(this.size);
    this.#bytes = new Float64Array(this.size);
  }

  count(index: number): void {
    if (!(index >= 0 && index < this.size)) {
      this.#environment.faults.externIndex++;
      return;
    }
    this.#packets[index]! += 1;
    this.#bytes[index]! += this.#environment.packetLength;
  }

  /** @throws ControlError `ERR_CONTROL_BAD_INDEX` */
  read(index: number): CounterValue {
    this.#check(index);
    return { packets: this.#packets[index]!, bytes: this.#bytes[index]! };
  }

  /** @throws ControlError `ERR_CONTROL_BAD_INDEX`, `ERR_CONTROL_BAD_VALUE` */
  write(index: number, value: CounterValue): void {
    this.#check(index);
    checkCount(value.packets, 'packets');
    checkCount(value.bytes, 'bytes');
    this.#packets[index] = value.packets;
    this.#bytes[index] = value.bytes;
  }

  reset(): void {
    this.#packets.fill(0);
    this.#bytes.fill(0);
  }

  #check(index: number): void {
    if (!Number.isInteger(index) || index < 0 || index >= this.size) {
      throw new ControlError('ERR_CONTROL_BAD_INDEX', `counter ${this.declaration.name} has no index ${index}`);
    }
  }
}

/** The counters of a table's entries, by slot. The table's lookup counts. */
export class DirectCounter implements DirectCounterRuntime {
  readonly kind = 'direct_counter';
  /** `packets`, `bytes` or `packets_and_bytes`. */
  readonly type: string;
  #packets = new Float64Array(16);
  #bytes = new Float64Array(16);

  constructor(readonly declaration: ExternInstance) {
    this.type = memberArgument(declaration, 0);
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
  writeSlot(slot: number, value: CounterValue): void {
    checkCount(value.packets, 'packets');
    checkCount(value.bytes, 'bytes');
    this.#packets[slot] = value.packets;
    this.#bytes[slot] = value.bytes;
  }

  reset(): void {
    this.#packets.fill(0);
    this.#bytes.fill(0);
  }
}
