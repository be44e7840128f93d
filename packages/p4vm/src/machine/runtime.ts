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

/** The buffer for emitted headers. A full `bytes` is replaced by a larger array. */
export interface PacketOutput {
  bytes: Uint8Array;
  /** Bits written. */
  bits: number;
  /** Largest length of `bytes`. Bits beyond it are lost. */
  readonly most: number;
}

/** Steps left for the last received packet and all its copies; negative once they have taken more. */
export interface PacketWork {
  left: number;
}

/**
 * Requests of a pipeline's code, which the switch carries out at the end of ingress or egress. The last call of a kind
 * counts. The switch resets them before each pipeline.
 */
export interface PacketRequests {
  /** -1: none. */
  cloneSession: number;
  /** Field list of the clone; -1: none. */
  cloneFieldList: number;
  /** Field list of the resubmission; -1: no resubmission, -2: without fields. */
  resubmit: number;
  /** Field list of the recirculation; -1: no recirculation, -2: without fields. */
  recirculate: number;
  /** The smallest argument of `truncate` in bytes; -1: none. */
  truncate: number;
  /**
   * Change of the packet's length in bits by setValid on invalid headers and setInvalid on valid ones. extract,
   * assignments of headers, push_front and pop_front do not count.
   */
  lengthChange: number;
}

/** Counts of faults that do not stop the switch, by kind. */
export interface Faults {
  /** Run-time indices of stacks out of bounds: reads give 0, writes nothing. */
  stackIndex: number;
  /** Indices of registers, counters and meters out of bounds. */
  externIndex: number;
  /** Divisions by zero at run time: the result is 0. */
  divisionByZero: number;
  /** Parser loops stopped at the limit of states, because they consumed no bits of the packet. */
  parserLoop: number;
  /** `assert` and `assume` that did not hold. */
  assertion: number;
  /** Faults that cannot occur in a checked program. */
  internal: number;
}

/**
 * Everything that generated code may access. One object per switch; the switch sets the packet's part before each
 * pipeline.
 */
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
  /** Received (or recirculated) length in bytes, as counters and meters use it. */
  packetLength: number;
  /** Microseconds since the switch began, from the environment's clock. */
  nowUs: number;
  /** Payload that checksums `with_payload` cover: `bytes` from `payloadStart`, `payloadLength` bytes. */
  payloadStart: number;
  payloadLength: number;
  /** Full hash of the first `length` bytes by the name of the algorithm, before base and max are applied. */
  hash(algorithm: string, bytes: Uint8Array, length: number): bigint;
  /** A random number in low..high, both included. */
  random(low: bigint, high: bigint): bigint;
  digest(
    receiver: number,
    name: string,
    fields: readonly { readonly name: string; readonly value: RuntimeValue }[],
  ): void;
  log(message: string): void;
  /** In poison mode: compares the two runs of code compiled for it. */
  readonly poison: Poison | undefined;
  /** Set while packets are traced. Only code compiled with `trace` uses it. */
  trace: TraceConsumer | undefined;
}

/** What tables and extern objects read while a packet is processed. Without `work`, lookups take no steps from a budget. */
export type PacketEnvironment = Readonly<
  Pick<Runtime, 'packetLength' | 'nowUs' | 'faults'> & Partial<Pick<Runtime, 'work'>>
>;
