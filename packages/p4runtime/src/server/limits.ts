/** Limits on what clients may send and keep. All are whole numbers from 1. */
export interface P4RuntimeLimits {
  /** TCP connections. */
  readonly connections: number;
  /** Open streams of all devices, before and after their arbitration. */
  readonly streams: number;
  /** Open streams of one device and role. */
  readonly streamsPerRole: number;
  /** Roles whose highest election id a device remembers. */
  readonly roles: number;
  /** Bytes of all requests that are being received. */
  readonly requestBytes: number;
  /** Bytes of a Write request. */
  readonly writeBytes: number;
  /** Updates of a Write request. How many errors of a batch an answer can tell depends on the client: see README, Limits. */
  readonly updates: number;
  /** Bytes of a SetForwardingPipelineConfig request. */
  readonly pipelineBytes: number;
  /** Bytes of any other request. */
  readonly messageBytes: number;
  /** Bytes of a message in a stream: of a packet, mostly. */
  readonly packetBytes: number;
  /** Entities of a Read request. */
  readonly readEntities: number;
  /** Bytes of all answers to Read requests that wait to be sent. */
  readonly readBytes: number;
  /** Bytes of the messages of one stream that wait to be sent. */
  readonly streamBytes: number;
  /** Milliseconds in which a client must have sent a request. */
  readonly requestMs: number;
  /** Milliseconds in which a client must take the answer to a Read. */
  readonly readMs: number;
  /** Milliseconds without an answer to a ping, after which a connection counts as broken. */
  readonly pingMs: number;
}

const DEFAULT_P4RUNTIME_LIMITS: P4RuntimeLimits = {
  connections: 256,
  streams: 512,
  streamsPerRole: 128,
  roles: 64,
  requestBytes: 256 << 20,
  writeBytes: 16 << 20,
  updates: 100_000,
  pipelineBytes: 64 << 20,
  messageBytes: 1 << 20,
  packetBytes: 300_000,
  readEntities: 10_000,
  readBytes: 256 << 20,
  streamBytes: 8 << 20,
  requestMs: 60_000,
  readMs: 300_000,
  pingMs: 30_000,
};

/** @throws RangeError if a limit is not a whole number from 1 */
export function withDefaultLimits(limits: Partial<P4RuntimeLimits> = {}): P4RuntimeLimits {
  const all = { ...DEFAULT_P4RUNTIME_LIMITS, ...limits };
  for (const [name, value] of Object.entries(all)) {
    if (!Number.isSafeInteger(value) || value < 1) throw new RangeError(`limit ${name}: a whole number from 1`);
  }
  return all;
}
