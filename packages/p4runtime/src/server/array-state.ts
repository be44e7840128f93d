import { toBinary } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import { type P4Data, P4DataSchema } from '../generated/p4/v1/p4data_pb.js';
import {
  type CounterEntry,
  type Index,
  type MeterConfig,
  type MeterEntry,
  type RegisterEntry,
  Update_Type,
} from '../generated/p4/v1/p4runtime_pb.js';
import { readCount, writeCount } from './count.js';
import { readScalar, writeData } from './data-spec.js';
import type { EntityWriter } from './entity-writer.js';
import { readMeterConfig, refuseColours, writeMeterConfig } from './meter-config.js';
import { invalid, refuse } from './refusal.js';
import type { ArraySchema, MeterSchema, RegisterSchema } from './schema.js';
import type { TargetCounter, TargetMeter, TargetRegister } from './target.js';
import type { UndoLog } from './undo.js';

/** @throws Refusal INVALID_ARGUMENT unless the update is a MODIFY */
function needModify(type: Update_Type, what: string): void {
  if (type === Update_Type.UNSPECIFIED) invalid('Update type is not set');
  if (type !== Update_Type.MODIFY) {
    invalid(`${Update_Type[type] ?? type} update type not supported for ${what}: they can only be modified`);
  }
}

/**
 * First and last index, all without one.
 *
 * @throws Refusal INVALID_ARGUMENT for a negative index, OUT_OF_RANGE beyond the array
 */
export function rangeOf({ name }: ArraySchema, size: number, index: Index | undefined): readonly [number, number] {
  if (index === undefined) return [0, size - 1];
  const at = index.index;
  if (at < 0n) invalid(`A negative number is not a valid index value: ${at} of ${name}`);
  if (at >= BigInt(size)) refuse(Code.OutOfRange, `${name} has ${size} cells: no index ${at}`);
  return [Number(at), Number(at)];
}

/** Changes cells one after the other, and logs how to restore them. */
function change<Value>(
  [first, last]: readonly [number, number],
  value: Value,
  read: (index: number) => Value,
  write: (index: number, value: Value) => void,
  undo: UndoLog,
): void {
  if (undo !== undefined) {
    const before: Value[] = [];
    for (let i = first; i <= last; i++) before.push(read(i));
    undo.push(() => {
      for (const [i, each] of before.entries()) write(first + i, each);
    });
  }
  for (let i = first; i <= last; i++) write(i, value);
}

/** A counter array. */
export class CounterState {
  constructor(
    readonly schema: ArraySchema,
    readonly target: TargetCounter,
  ) {}

  /** @throws Refusal */
  write(type: Update_Type, { index, data }: CounterEntry, undo: UndoLog): void {
    needModify(type, 'counters');
    const range = rangeOf(this.schema, this.target.size, index);
    if (data === undefined) return;
    const { target } = this;
    change(
      range,
      readCount(data),
      (i) => target.read(i),
      (i, value) => target.write(i, value),
      undo,
    );
  }

  writeEntry(writer: EntityWriter, tag: number, index: number): void {
    const start = writer.open(tag);
    writer.number(0x08, this.schema.id);
    writeIndex(writer, index);
    writeCount(writer, 0x1a, this.target.read(index));
    writer.close(start);
  }
}

/** A meter array. It keeps the configurations as the client wrote them. */
export class MeterState {
  readonly #configs = new Map<number, MeterConfig>();

  constructor(
    readonly schema: MeterSchema,
    readonly target: TargetMeter,
  ) {}

  /** @throws Refusal */
  write(type: Update_Type, { index, config, counterData }: MeterEntry, undo: UndoLog): void {
    needModify(type, 'meters');
    refuseColours(counterData);
    const range = rangeOf(this.schema, this.target.size, index);
    if (config !== undefined) readMeterConfig(this.schema, config);
    change(
      range,
      config,
      (i) => this.#configs.get(i),
      (i, value) => this.#set(i, value),
      undo,
    );
  }

  writeEntry(writer: EntityWriter, tag: number, index: number): void {
    const start = writer.open(tag);
    writer.number(0x08, this.schema.id);
    writeIndex(writer, index);
    const config = this.#configs.get(index);
    if (config !== undefined) writeMeterConfig(writer, 0x1a, config);
    writer.close(start);
  }

  #set(index: number, config: MeterConfig | undefined): void {
    this.target.set(index, config && readMeterConfig(this.schema, config));
    if (config === undefined) this.#configs.delete(index);
    else this.#configs.set(index, config);
  }
}

/** A register array. */
export class RegisterState {
  constructor(
    readonly schema: RegisterSchema,
    readonly target: TargetRegister,
  ) {}

  /** @throws Refusal */
  write(type: Update_Type, { index, data }: RegisterEntry, undo: UndoLog): void {
    needModify(type, 'registers');
    const range = rangeOf(this.schema, this.target.size, index);
    if (data === undefined) invalid(`the data for register ${this.schema.name} are not set`);
    const bits = readScalar(this.schema.data, data, `the data for register ${this.schema.name}`);
    const { target } = this;
    change(
      range,
      bits,
      (i) => target.read(i),
      (i, value) => target.write(i, value),
      undo,
    );
  }

  writeEntry(writer: EntityWriter, tag: number, index: number): void {
    const start = writer.open(tag);
    writer.number(0x08, this.schema.id);
    writeIndex(writer, index);
    this.#writeData(writer, 0x1a, this.target.read(index));
    writer.close(start);
  }

  #writeData(writer: EntityWriter, tag: number, bits: bigint): void {
    const { data } = this.schema;
    if (data.kind === 'bits' && !data.isSigned) {
      const start = writer.open(tag);
      writer.value(0x0a, bits);
      writer.close(start);
      return;
    }
    const message: P4Data = writeData(data, () => bits);
    writer.bytes(tag, toBinary(P4DataSchema, message));
  }
}

function writeIndex(writer: EntityWriter, index: number): void {
  const start = writer.open(0x12);
  if (index !== 0) writer.number(0x08, index);
  writer.close(start);
}
