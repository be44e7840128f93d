/** What the two processes tell each other. */
import type { FabricOptions } from './fabric.js';

/** How the sender is to send. A `bigint` is a string on the way. */
export interface SenderOrder {
  readonly fabric: FabricOptions;
  readonly host: string;
  readonly port: number;
  /** Queue pair of the first edge switch; the others' follow. */
  readonly firstQueuePair: number;
  readonly remoteKey: number;
  readonly base: string;
  readonly slots: number;
  readonly copies: number;
  /** Flows reported each second. */
  readonly rate: number;
}

/** The sender has made its flows, and begins to send. */
export const READY = 'ready';

/** What the sender has done. */
export interface SenderReport {
  /** Flows of which all packets were sent: those before this one. */
  readonly flows: number;
  /** Packets that the system took. */
  readonly sent: number;
  readonly seconds: number;
}
