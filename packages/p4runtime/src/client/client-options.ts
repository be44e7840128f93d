import type { Transport } from '@connectrpc/connect';
import type { Entity } from '../entities/entity.js';
import type * as p4config from '../messages/p4config.js';
import type { P4RuntimeError } from '../values/p4runtime-error.js';
import type { ClientTls } from './channel.js';

/** A pipeline: what controllers know of it, and what the switch runs. */
export interface Pipeline {
  readonly p4info: p4config.P4Info;
  /** What the switch takes as its program: source text for `int p4 serve`, the compiler's JSON for BMv2. */
  readonly deviceConfig: Uint8Array;
  readonly cookie?: bigint | undefined;
}

/** An election id, from 0 to 2^128 - 1: the client with the highest is the primary. */
export type ElectionId = bigint;

/** What a session has become. */
export type SessionState =
  /** There is no stream; a new one is tried. */
  | { readonly kind: 'disconnected'; readonly error: P4RuntimeError | undefined }
  /** The client may write. */
  | { readonly kind: 'primary' }
  /** Another client may write, or nobody. `electionId`: the highest that the switch has seen. */
  | { readonly kind: 'backup'; readonly electionId: ElectionId | undefined; readonly hasPrimary: boolean }
  /** What the session keeps was compared with the switch and written. `hasNewPipeline`: the pipeline, too. */
  | { readonly kind: 'reconciled'; readonly changes: number; readonly hasNewPipeline: boolean }
  /** It could not be. */
  | { readonly kind: 'not-reconciled'; readonly error: P4RuntimeError };

export interface P4RuntimeClientOptions {
  /** `HOST:PORT`, or a transport such as that of a server in this process. */
  readonly target: string | Transport;
  /** 1 by default. */
  readonly deviceId?: bigint | number;
  /** 1 by default. */
  readonly electionId?: ElectionId | number;
  /** Name of a role; by default the role that may do everything. */
  readonly role?: string;
  readonly tls?: ClientTls;
  /** Time for an answer in milliseconds, 30 s by default. */
  readonly timeoutMs?: number;
  /** Time between attempts to connect again: it doubles from the first to the most. By default 100 ms to 5 s. */
  readonly retry?: { readonly firstMs: number; readonly maxMs: number };
  /** Time between pings, and for their answers, by which a peer that is gone is found: 10 s by default. */
  readonly pingMs?: number;
  /** Updates of one request, at most 500 by default: the errors of more do not fit the metadata of many clients. */
  readonly batch?: number;
  /**
   * What the switch is to run: each time that the client becomes primary, it sets this pipeline if the switch has none or
   * another, before it asks `keep`.
   */
  readonly pipeline?: Pipeline;
  /**
   * What the switch is to have, asked each time that the client becomes primary: {@link P4RuntimeClient.reconcile} makes
   * it so.
   */
  readonly keep?: () => readonly Entity[] | Promise<readonly Entity[]>;
  /** Hears what becomes of the session. */
  readonly onState?: (state: SessionState) => void;
}

/** How updates of a request depend on each other. Source: P4Runtime specification 1.5, "Batching and Ordering". */
export type Atomicity = 'continue-on-error' | 'rollback-on-error' | 'dataplane-atomic';

export interface Update {
  readonly type: 'insert' | 'modify' | 'delete';
  readonly entity: Entity;
}
