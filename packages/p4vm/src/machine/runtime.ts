import type { ExternRuntime } from '../externs/extern.js';
import type { Poison } from '../poison/poison.js';
import type { TableRuntime, ValueSetRuntime } from '../tables/table.js';
import type { TraceConsumer } from '../trace/trace.js';

/**
 * A value at run time, by its type: bits up to 32 wide, bool (0 or 1), enum and error (positions) are numbers, wider bits
 * are bigints. `bit<W>` is 0 to 2^W - 1, `int<W>` is -2^(W-1) to 2^(W-1) - 1.
 */
export type RuntimeValue = number | bigint;

/** The packet being parsed. */
export interface PacketInput {
  bytes: Uint8Array;
  /** First byte of the packet in `bytes`. */
  start: number;
  /** Length of the packet in bytes. */
  length: number;
  /** Next bit to be extracted, from the packet's first bit. */
  cursor: number;
}

/** Where emitted headers go. `bytes` is replaced by a larger one when it is full. */
export interface PacketOutput {
  bytes: Uint8Array;
  /** Bits written. */
  bits: number;
  /** Length that `bytes` is not grown beyond: what does not fit is lost. */
  readonly most: number;
}

/** Steps that are left for the packet received last and all that comes of it: below 0 once it has taken more. */
export interface PacketWork {
  left: number;
}

/**
 * What a pipeline's code asks of the switch, to be done at the end of ingress or egress: each is what the last call asked
 * for. Reset by the switch before each pipeline.
 */
export interface PacketRequests {
  /** -1: none. */
  cloneSession: number;
  /** Field list of the clone; -1: none. */
  cloneFieldList: number;
  /** Field list of the resubmission; -1: no resubmission asked for, -2: without fields. */
  resubmit: number;
  /** Field list of the recirculation; -1: none asked for, -2: without fields. */
  recirculate: number;
  /** The smallest length in bytes that `truncate` was called with; -1: none. */
  truncate: number;
  /**
   * Bits that setValid and setInvalid have added (headers that were invalid) and taken (that were valid). Nothing else
   * counts: not extract, nor the assignment of headers, nor push_front and pop_front.
   */
  lengthChange: number;
}

/** What went wrong without stopping the switch, by kind. Counted, never silent. */
export interface Faults {
  /** Run-time indices of stacks out of bounds: reads give 0, writes nothing. */
  stackIndex: number;
  /** Indices of registers, counters and meters out of bounds. */
  externIndex: number;
  /** Divisions by zero at run time: the result is 0. */
  divisionByZero: number;
  /** Parser loops stopped because they took no bits from the packet (state limit reached). */
  parserLoop: number;
  /** `assert` and `assume` that did not hold. */
  assertion: number;
  /** What a checked program cannot do. */
  internal: number;
}

/** All that generated code may touch. One object per switch; the switch sets the packet's part before each pipeline. */
export interface Runtime {
  readonly input: PacketInput;
  readonly output: PacketOutput;
  readonly requests: PacketRequests;
  readonly faults: Faults;
  readonly work: PacketWork;
  /** By `Table.id`, `ExternInstance.id` and `ValueSet.id` of the program. */
  readonly tables: readonly TableRuntime[];
  readonly externs: readonly ExternRuntime[];
  readonly valueSets: readonly ValueSetRuntime[];
  /** Received (or recirculated) length: what counters and meters count. */
  packetLength: number;
  /** Microseconds since the switch began, from the environment's clock. */
  nowUs: number;
  /** Payload that checksums `with_payload` cover: `bytes` from `payloadStart`, `payloadLength` bytes. */
  payloadStart: number;
  payloadLength: number;
  /** Hash by the name of the algorithm over whole bytes; the full result, before base and max. */
  hash(algorithm: string, bytes: Uint8Array, length: number): bigint;
  /** A random number in low..high, both included. */
  random(low: bigint, high: bigint): bigint;
  digest(
    receiver: number,
    name: string,
    fields: readonly { readonly name: string; readonly value: RuntimeValue }[],
  ): void;
  log(message: string): void;
  /** In poison mode: what compares the two runs of code compiled for it. */
  readonly poison: Poison | undefined;
  /** Set while packets are traced; only code compiled with `trace` looks at it. */
  trace: TraceConsumer | undefined;
}
