import { DEFAULT_LIMITS } from '../../../src/budget/limits.js';
import { Memory } from '../../../src/budget/memory.js';
import type { PacketState, PipelineCode, StandardMetadata } from '../../../src/compile/pipeline.js';
import type { Runtime } from '../../../src/machine/runtime.js';
import type { SwitchEnvironment } from '../../../src/switch/environment.js';
import { CodePool } from '../../../src/switch/in-flight.js';
import { PacketPath } from '../../../src/switch/packet-path.js';
import { Replication } from '../../../src/switch/replication.js';
import { createFaults } from '../../../src/switch/statistics.js';

/** What the double's pipelines work on: one header of two bytes, two metadata fields. */
export interface Live {
  readonly runtime: Runtime;
  readonly standard: StandardMetadata;
  /** Header `h`: two bytes. */
  isValid: boolean;
  a: number;
  b: number;
  /** Of field list 1. */
  kept: number;
  other: number;
}

export interface Stages {
  parse?(live: Live): void;
  ingress?(live: Live): void;
  egress?(live: Live): void;
  computeChecksum?(live: Live): void;
}

const ZERO: StandardMetadata = {
  ingress_port: 0,
  egress_spec: 0,
  egress_port: 0,
  instance_type: 0,
  packet_length: 0,
  enq_timestamp: 0,
  enq_qdepth: 0,
  deq_timedelta: 0,
  deq_qdepth: 0,
  ingress_global_timestamp: 0n,
  egress_global_timestamp: 0n,
  mcast_grp: 0,
  egress_rid: 0,
  checksum_error: 0,
  parser_error: 0,
  priority: 0,
};

interface DoubleState extends PacketState {
  readonly headers: { isValid: boolean; a: number; b: number };
  readonly metadata: { kept: number; other: number };
  readonly standard: StandardMetadata;
}

function isDouble(state: PacketState): asserts state is DoubleState {
  if (!('kept' in state.metadata)) throw new Error('a state of other code');
}

/** Hand-written code of a tiny program: a two-byte header is extracted, then `stages` do as they like. */
function doubleCode(runtime: Runtime, stages: Stages): PipelineCode {
  const live: Live = { runtime, standard: { ...ZERO }, isValid: false, a: 0, b: 0, kept: 0, other: 0 };
  return {
    standardMetadata: live.standard,
    ingressSteps: 1,
    egressSteps: 1,
    stateBytes: 100,
    reset() {
      Object.assign(live.standard, ZERO);
      Object.assign(live, { isValid: false, a: 0, b: 0, kept: 0, other: 0 });
    },
    parse() {
      const { input } = runtime;
      stages.parse?.(live);
      if (input.length < 2) {
        live.standard.parser_error = 1;
        return 1;
      }
      live.isValid = true;
      live.a = input.bytes[input.start]!;
      live.b = input.bytes[input.start + 1]!;
      input.cursor = 16;
      return 0;
    },
    verifyChecksum() {},
    ingress: () => stages.ingress?.(live),
    egress: () => stages.egress?.(live),
    computeChecksum: () => stages.computeChecksum?.(live),
    deparse() {
      if (!live.isValid) return;
      runtime.output.bytes[0] = live.a;
      runtime.output.bytes[1] = live.b;
      runtime.output.bits = 16;
    },
    createState: (): DoubleState => ({
      headers: { isValid: false, a: 0, b: 0 },
      metadata: { kept: 0, other: 0 },
      standard: { ...ZERO },
    }),
    save(into) {
      isDouble(into);
      const { isValid, a, b, kept, other } = live;
      Object.assign(into.headers, { isValid, a, b });
      Object.assign(into.metadata, { kept, other });
      Object.assign(into.standard, live.standard);
    },
    load(from) {
      isDouble(from);
      Object.assign(live, from.headers, from.metadata);
      Object.assign(live.standard, from.standard);
    },
    saveMetadata(into) {
      isDouble(into);
      const { kept, other } = live;
      Object.assign(into.metadata, { kept, other });
      Object.assign(into.standard, live.standard);
    },
    loadMetadata(from) {
      isDouble(from);
      Object.assign(live, from.metadata);
      Object.assign(live.standard, from.standard);
    },
    loadFieldList(list, from) {
      isDouble(from);
      if (list === 1) live.kept = from.metadata.kept;
    },
    headerBits: () => (live.isValid ? 16 : 0),
    snapshot: () => new Map(),
  };
}

export interface Bench {
  readonly path: PacketPath;
  readonly replication: Replication;
  readonly runtime: Runtime;
  /** What was sent, as `PORT HEX`. */
  readonly sent: string[];
  /** Sends a packet in hex; gives what came out. */
  send(port: number, hex: string): string[];
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}

export function bench(stages: Stages, environment: SwitchEnvironment = {}): Bench {
  const runtime: Runtime = {
    input: { bytes: new Uint8Array(0), start: 0, length: 0, cursor: 0 },
    output: { bytes: new Uint8Array(4), bits: 0, most: 1 << 20 },
    requests: { cloneSession: -1, cloneFieldList: -1, resubmit: -1, recirculate: -1, truncate: -1, lengthChange: 0 },
    faults: createFaults(),
    work: { left: DEFAULT_LIMITS.steps },
    tables: [],
    externs: [],
    valueSets: [],
    packetLength: 0,
    nowUs: 0,
    payloadStart: 0,
    payloadLength: 0,
    hash: () => 0n,
    random: (low) => low,
    digest() {},
    log() {},
    poison: undefined,
    trace: undefined,
  };
  const sent: string[] = [];
  const replication = new Replication();
  const pool = new CodePool(doubleCode(runtime, stages), new Memory(DEFAULT_LIMITS.stateBytes));
  const path = new PacketPath(runtime, pool, replication, {
    onTransmit: (port, bytes, offset, length) =>
      sent.push(`${port} ${Buffer.from(bytes.subarray(offset, offset + length)).toString('hex')}`),
    ...environment,
  });
  return {
    path,
    replication,
    runtime,
    sent,
    send(port, hex) {
      const before = sent.length;
      const frame = bytesOf(hex);
      // In the middle of a larger buffer, and scribbled over afterwards: nothing may be kept of it.
      const around = new Uint8Array(frame.length + 7).fill(0xee);
      around.set(frame, 3);
      path.receive(port, around, 3, frame.length);
      around.fill(0xdd);
      return sent.slice(before);
    },
  };
}
