import { expect } from 'vitest';
import { compileProgram } from '../../../src/compile/compile-program.js';
import type { PipelineCode } from '../../../src/compile/pipeline.js';
import type { IrProgram } from '../../../src/ir/program.js';
import type { Runtime } from '../../../src/machine/runtime.js';
import { runtimeOf } from './build.js';
import { Interpreter } from './interpreter.js';

/** What is to be seen of a packet's way through parser, ingress and deparser. */
export interface Outcome {
  readonly error: number;
  readonly cursor: number;
  readonly values: Readonly<Record<string, string>>;
  readonly output: readonly number[];
  readonly lengthChange: number;
  readonly stackFaults: number;
  readonly divisionFaults: number;
}

/** Compiled code, kept over several packets, so that what one leaves behind is seen by the next. */
export class Compiled {
  readonly runtime: Runtime;
  readonly pipeline: PipelineCode;
  readonly source: string;

  constructor(program: IrProgram, more: Partial<Runtime> = {}) {
    const compiled = compileProgram(program);
    this.source = compiled.source;
    this.runtime = runtimeOf(new Uint8Array(0), more);
    this.pipeline = compiled.bind(this.runtime);
  }

  run(bytes: Uint8Array): Outcome {
    const { runtime, pipeline } = this;
    Object.assign(runtime.input, runtimeOf(bytes).input);
    runtime.output.bits = 0;
    runtime.requests.lengthChange = 0;
    Object.assign(runtime.faults, runtimeOf(bytes).faults);
    pipeline.reset();
    const error = pipeline.parse();
    const cursor = runtime.input.cursor;
    pipeline.ingress();
    pipeline.deparse();
    return {
      error,
      cursor,
      values: Object.fromEntries([...pipeline.snapshot()].map(([name, value]) => [name, String(value)])),
      output: [...runtime.output.bytes.subarray(0, runtime.output.bits / 8)],
      lengthChange: runtime.requests.lengthChange,
      stackFaults: runtime.faults.stackIndex,
      divisionFaults: runtime.faults.divisionByZero,
    };
  }
}

function interpret(program: IrProgram, bytes: Uint8Array): Outcome {
  const interpreter = new Interpreter(program);
  const error = interpreter.run(bytes);
  return {
    error,
    cursor: interpreter.consumedBits,
    values: Object.fromEntries(interpreter.snapshot()),
    output: interpreter.outputBytes,
    lengthChange: interpreter.lengthChange,
    stackFaults: interpreter.faults.stackIndex,
    divisionFaults: interpreter.faults.divisionByZero,
  };
}

/** Runs packets through compiled code and the interpreter: both must do the same. */
export function expectSame(program: IrProgram, packets: readonly Uint8Array[]): void {
  const compiled = new Compiled(program);
  for (const bytes of packets) {
    const actual = compiled.run(bytes);
    try {
      expect(actual).toEqual(interpret(program, bytes));
    } catch (thrown) {
      if (thrown instanceof Error) {
        const source = process.env.INT_P4_SOURCE === undefined ? '' : `\n${compiled.source}`;
        thrown.message += `\npacket ${Buffer.from(bytes).toString('hex')}${source}`;
      }
      throw thrown;
    }
  }
}

/** A small generator of random numbers, the same for the same seed. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** 0 to 2^32 - 1. */
  word(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let x = this.#state;
    x = Math.imul(x ^ (x >>> 15), x | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return (x ^ (x >>> 14)) >>> 0;
  }

  below(limit: number): number {
    return this.word() % limit;
  }

  chance(percent: number): boolean {
    return this.below(100) < percent;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }

  /** A value of `width` bits, often at an edge. */
  bits(width: number): bigint {
    const all = (1n << BigInt(width)) - 1n;
    switch (this.below(8)) {
      case 0:
        return 0n;
      case 1:
        return all;
      case 2:
        return width === 0 ? 0n : 1n << BigInt(width - 1);
      case 3:
        return all >> 1n;
      case 4:
        return BigInt(this.below(5)) & all;
      default: {
        let value = 0n;
        for (let at = 0; at < width; at += 32) value = (value << 32n) | BigInt(this.word());
        return value & all;
      }
    }
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.word() & 255);
  }
}

/** Bytes of fields one after the other, most significant bit first; zeros up to a whole byte. */
export function pack(fields: readonly (readonly [value: bigint, width: number])[]): Uint8Array {
  const text = fields
    .map(([value, width]) => (width === 0 ? '' : BigInt.asUintN(width, value).toString(2).padStart(width, '0')))
    .join('');
  const bytes = new Uint8Array(Math.ceil(text.length / 8));
  for (let at = 0; at < bytes.length; at++)
    bytes[at] = Number.parseInt(text.slice(at * 8, at * 8 + 8).padEnd(8, '0'), 2);
  return bytes;
}
