import type { RuntimeValue } from '../machine/runtime.js';

/** `standard_metadata_t`, live: the switch writes it before each pipeline and reads it after. */
export interface StandardMetadata {
  ingress_port: number;
  egress_spec: number;
  egress_port: number;
  instance_type: number;
  packet_length: number;
  enq_timestamp: number;
  enq_qdepth: number;
  deq_timedelta: number;
  deq_qdepth: number;
  ingress_global_timestamp: bigint;
  egress_global_timestamp: bigint;
  mcast_grp: number;
  egress_rid: number;
  checksum_error: number;
  parser_error: number;
  priority: number;
}

/**
 * A copy of headers, user metadata and standard metadata: everything that a packet carries between ingress and egress.
 * Opaque.
 */
export interface PacketState {
  readonly headers: object;
  readonly metadata: object;
  readonly standard: StandardMetadata;
}

/**
 * The code of a program, bound to a runtime. It has one set of headers and metadata: one packet is in the pipeline at a
 * time, and `save` and `load` keep the packets in queues. Calls allocate only where they compute values wider than 32
 * bits.
 */
export interface PipelineCode {
  readonly standardMetadata: StandardMetadata;
  /**
   * Steps of parser, checksums and ingress, without further turns of loops. `egressSteps`: of egress, checksums and
   * deparser.
   */
  readonly ingressSteps: number;
  readonly egressSteps: number;
  /** Approximate bytes of a `PacketState`. */
  readonly stateBytes: number;
  /** Makes all headers invalid, and all metadata and locals 0. Call it before each `parse`. */
  reset(): void;
  /**
   * Runs the parser over `runtime.input`; afterwards its cursor is where the payload begins. Returns the position of the
   * error in the program's errors (also in `standardMetadata.parser_error`), 0 for none.
   */
  parse(): number;
  verifyChecksum(): void;
  ingress(): void;
  egress(): void;
  computeChecksum(): void;
  /** Appends the headers to `runtime.output`. */
  deparse(): void;
  /** Makes a state for `save`, to be reused. */
  createState(): PacketState;
  save(into: PacketState): void;
  /** Replaces all live headers and metadata by a saved state. */
  load(from: PacketState): void;
  /** As `save`, of metadata and standard metadata: the headers saved before stay. */
  saveMetadata(into: PacketState): void;
  /** As `load`, of metadata and standard metadata: headers stay as they are. */
  loadMetadata(from: PacketState): void;
  /** Copies the metadata fields of a field list from `from`; others stay unchanged. */
  loadFieldList(list: number, from: PacketState): void;
  /** Total length of all valid headers in bits. */
  headerBits(): number;
  /** For traces and tests: headers and metadata by dotted name, such as `hdr.ipv4.ttl`; invalid headers left out. */
  snapshot(): ReadonlyMap<string, RuntimeValue | string>;
}
