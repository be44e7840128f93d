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

/** A copy of headers, user metadata, standard metadata, all that a packet carries between ingress and egress. Opaque. */
export interface PacketState {
  readonly headers: object;
  readonly metadata: object;
  readonly standard: StandardMetadata;
}

/**
 * The code of a program, bound to a runtime. There is one set of headers and metadata: a packet is in the pipeline at a
 * time, and what waits in queues is kept with `save` and `load`. No call allocates, but where values wider than 32 bits
 * are computed.
 */
export interface PipelineCode {
  readonly standardMetadata: StandardMetadata;
  /** Steps of parser, checksums and ingress, and of egress, checksums and deparser: without those of further turns of loops. */
  readonly ingressSteps: number;
  readonly egressSteps: number;
  /** Bytes of a `PacketState`, about. */
  readonly stateBytes: number;
  /** All headers invalid, all metadata and locals 0. Called before each `parse`. */
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
  /** Makes a state to save into, to be used again and again. */
  createState(): PacketState;
  save(into: PacketState): void;
  /** All that is live becomes what was saved. */
  load(from: PacketState): void;
  /** As `save`, of metadata and standard metadata: the headers saved before stay. */
  saveMetadata(into: PacketState): void;
  /** As `load`, of metadata and standard metadata: headers stay as they are. */
  loadMetadata(from: PacketState): void;
  /** Sets the user (and standard) metadata fields of a field list to what they are in `from`; the rest is not touched. */
  loadFieldList(list: number, from: PacketState): void;
  /** Bits of all valid headers: to follow how setValid and setInvalid change the length. */
  headerBits(): number;
  /** For traces and tests: headers and metadata by dotted name, such as `hdr.ipv4.ttl`; invalid headers left out. */
  snapshot(): ReadonlyMap<string, RuntimeValue | string>;
}
