import type { DataType, ExternInstance } from '../ir/program.js';
import type { PacketEnvironment, RuntimeValue } from '../machine/runtime.js';
import { ControlError } from '../tables/control-error.js';
import { NARROW_BITS, onesOf, toPattern, toRuntimeValue, widthOf } from '../tables/data-width.js';
import { checkIndex, sizeArgument } from './constructor-arguments.js';

/** The cells, in the representation of run-time values. */
type Cells = RuntimeValue[] | Uint32Array | Int32Array | Uint8Array | Uint16Array | BigUint64Array;

function cellsOf(type: DataType, size: number): Cells {
  const width = widthOf(type);
  const isSigned = type.kind === 'bits' && type.isSigned;
  if (width <= NARROW_BITS) {
    if (isSigned) return new Int32Array(size);
    if (width <= 8) return new Uint8Array(size);
    return width <= 16 ? new Uint16Array(size) : new Uint32Array(size);
  }
  return width <= 64 && !isSigned ? new BigUint64Array(size) : new Array<RuntimeValue>(size).fill(0n);
}

/** A register array. Cells begin as 0. */
export class Register {
  readonly kind = 'register';
  readonly size: number;
  readonly type: DataType;
  /** In bits. */
  readonly width: number;
  /** Generated code reads and writes them directly for indices below `size`; the array is never replaced. */
  readonly cells: Cells;
  readonly #environment: PacketEnvironment;
  readonly #zero: RuntimeValue;

  constructor(
    readonly declaration: ExternInstance,
    environment: PacketEnvironment,
  ) {
    const type = declaration.typeArguments[0];
    if (type === undefined) throw new TypeError(`register ${declaration.name} has no type of cells`);
    this.type = type;
    this.width = widthOf(type);
    this.size = sizeArgument(declaration, 0);
    this.cells = cellsOf(type, this.size);
    this.#environment = environment;
    this.#zero = this.width <= NARROW_BITS ? 0 : 0n;
  }

  read(index: number): RuntimeValue {
    if (!(index >= 0 && index < this.size)) {
      this.#environment.faults.externIndex++;
      return this.#zero;
    }
    return this.cells[index]!;
  }

  write(index: number, value: RuntimeValue): void {
    if (!(index >= 0 && index < this.size)) {
      this.#environment.faults.externIndex++;
      return;
    }
    (this.cells as RuntimeValue[])[index] = value;
  }

  /** A cell as the control plane sees it: signed cells as signed numbers. @throws ControlError `ERR_CONTROL_BAD_INDEX` */
  get(index: number): bigint {
    checkIndex(this, index);
    return BigInt(this.cells[index]!);
  }

  /** A cell's bits, unsigned. @throws ControlError `ERR_CONTROL_BAD_INDEX` */
  pattern(index: number): bigint {
    checkIndex(this, index);
    return toPattern(this.type, this.cells[index]!);
  }

  /**
   * Sets a cell of W bits. Values from -2^(W-1) to 2^W - 1 are valid; negative ones are in two's complement.
   *
   * @throws ControlError `ERR_CONTROL_BAD_INDEX`, `ERR_CONTROL_VALUE_TOO_WIDE`
   */
  set(index: number, value: bigint): void {
    checkIndex(this, index);
    if (value > onesOf(this.width) || value < -(1n << BigInt(this.width - 1))) {
      throw new ControlError('ERR_CONTROL_VALUE_TOO_WIDE', `${value} does not fit register ${this.declaration.name}`);
    }
    this.setCut(index, value);
  }

  /** Sets a cell to a value cut to the cell's width. @throws ControlError `ERR_CONTROL_BAD_INDEX` */
  setCut(index: number, value: bigint): void {
    checkIndex(this, index);
    (this.cells as RuntimeValue[])[index] = toRuntimeValue(this.type, value);
  }

  /** Sets all cells to 0. */
  reset(): void {
    (this.cells as RuntimeValue[]).fill(this.#zero);
  }
}
