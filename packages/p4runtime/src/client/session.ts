import { create } from '@bufbuild/protobuf';
import { type Client, Code } from '@connectrpc/connect';
import * as p4v1 from '../messages/p4v1.js';
import { P4RuntimeError } from '../values/p4runtime-error.js';
import type { P4RuntimeClientOptions, SessionState } from './client-options.js';
import { Stream } from './stream.js';
import { errorOf } from './update-errors.js';

const WORD = (1n << 64n) - 1n;

/** Codes after which another attempt would end in the same way. */
const FINAL: ReadonlySet<number> = /* @__PURE__ */ new Set<number>([
  Code.InvalidArgument,
  Code.NotFound,
  Code.PermissionDenied,
  Code.Unauthenticated,
  Code.Unimplemented,
]);

/** Takes part in the election of a switch, on a stream that is opened anew when it breaks. */
export class Session {
  readonly deviceId: bigint;
  readonly #electionId: p4v1.Uint128;
  readonly #role: string;
  #stream: Stream | undefined;
  #state: 'none' | 'primary' | 'backup' = 'none';
  #running: Promise<void> | undefined;
  #wake: () => void = () => {};
  isClosed = false;

  constructor(
    readonly client: Client<typeof p4v1.P4Runtime>,
    readonly options: P4RuntimeClientOptions,
    readonly events: {
      readonly onMessage: (message: p4v1.StreamMessageResponse) => void;
      readonly onPrimary: () => Promise<void>;
    },
  ) {
    this.deviceId = BigInt(options.deviceId ?? 1);
    this.#role = options.role ?? '';
    const election = BigInt(options.electionId ?? 1);
    if (election < 0n || election >> 128n !== 0n) throw new RangeError('electionId is not from 0 to 2^128 - 1');
    this.#electionId = create(p4v1.Uint128Schema, { high: election >> 64n, low: election & WORD });
  }

  get isPrimary(): boolean {
    return this.#state === 'primary';
  }

  /** What every request says of its sender. */
  get identity(): { readonly deviceId: bigint; readonly role: string; readonly electionId: p4v1.Uint128 } {
    return { deviceId: this.deviceId, role: this.#role, electionId: this.#electionId };
  }

  connect(): Promise<boolean> {
    if (this.isClosed) throw new P4RuntimeError('ERR_P4RUNTIME_CLOSED', 'the client is closed');
    if (this.#running !== undefined) return Promise.resolve(this.isPrimary);
    return new Promise((resolve, reject) => {
      this.#running = this.#run(
        () => resolve(this.isPrimary),
        (error) => reject(error),
      );
    });
  }

  /** @throws P4RuntimeError if there is no stream, or no room in it */
  send(update: p4v1.StreamMessageRequest['update']): void {
    if (this.#stream?.send(update) === true) return;
    const why = this.#stream === undefined ? 'there is no stream to the switch' : 'the switch does not read its stream';
    throw new P4RuntimeError('ERR_P4RUNTIME_CONNECTION', why);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.#stream?.close();
    this.#wake();
    await this.#running;
  }

  async #run(onFirst: () => void, onFailure: (error: P4RuntimeError) => void): Promise<void> {
    const { firstMs, maxMs } = this.options.retry ?? { firstMs: 100, maxMs: 5000 };
    let waitMs = firstMs;
    let isFirst = true;
    while (!this.isClosed) {
      let hasAnswered = false;
      const stream = new Stream(this.client, (message) => {
        if (message.update.case !== 'arbitration') {
          this.events.onMessage(message);
          return;
        }
        hasAnswered = true;
        waitMs = firstMs;
        this.#arbitrated(message.update.value);
        if (isFirst) onFirst();
        isFirst = false;
      });
      this.#stream = stream;
      let failure: P4RuntimeError | undefined;
      try {
        const role = this.#role === '' ? {} : { role: create(p4v1.RoleSchema, { name: this.#role }) };
        const { deviceId } = this;
        await stream.run(
          create(p4v1.MasterArbitrationUpdateSchema, { deviceId, electionId: this.#electionId, ...role }),
        );
      } catch (error) {
        failure = errorOf(error);
      }
      this.#stream = undefined;
      this.#state = 'none';
      if (this.isClosed) break;
      failure ??= new P4RuntimeError('ERR_P4RUNTIME_CONNECTION', 'the switch has ended the stream');
      if (isFirst) {
        this.#running = undefined;
        onFailure(failure);
        return;
      }
      this.#tell({ kind: 'disconnected', error: failure });
      // Refused for good, such as an election id that another client has: try rarely, others may leave.
      if (!hasAnswered && failure.grpcCode !== undefined && FINAL.has(failure.grpcCode)) waitMs = maxMs;
      await this.#pause(waitMs);
      waitMs = Math.min(2 * waitMs, maxMs);
    }
    if (isFirst) onFailure(new P4RuntimeError('ERR_P4RUNTIME_CLOSED', 'the client is closed'));
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #arbitrated({ status, electionId }: p4v1.MasterArbitrationUpdate): void {
    const before = this.#state;
    const code = status?.code ?? 0;
    this.#state = code === 0 ? 'primary' : 'backup';
    if (this.#state === 'primary') {
      if (before === 'primary') return;
      this.#tell({ kind: 'primary' });
      void this.events.onPrimary();
      return;
    }
    const highest = electionId && (electionId.high << 64n) | electionId.low;
    this.#tell({ kind: 'backup', electionId: highest, hasPrimary: code === Code.AlreadyExists });
  }

  #tell(state: SessionState): void {
    this.options.onState?.(state);
  }
}
