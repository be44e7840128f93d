import { create } from '@bufbuild/protobuf';
import type { Client } from '@connectrpc/connect';
import * as p4v1 from '../messages/p4v1.js';
import { EventStream } from './event-stream.js';

/** Messages that wait to be sent, at most. */
const MOST_WAITING = 10_000;

/** One stream to the switch, from its first arbitration until it breaks or is closed. */
export class Stream {
  readonly #requests = new EventStream<p4v1.StreamMessageRequest>(() => {}, MOST_WAITING);
  readonly #aborting = new AbortController();

  /** @param onMessage called for each message, in order */
  constructor(
    readonly client: Client<typeof p4v1.P4Runtime>,
    readonly onMessage: (message: p4v1.StreamMessageResponse) => void,
  ) {}

  /** Runs until the stream ends. @throws what ended it, unless it was closed */
  async run(arbitration: p4v1.MasterArbitrationUpdate): Promise<void> {
    this.send({ case: 'arbitration', value: arbitration });
    try {
      for await (const message of this.client.streamChannel(this.#outgoing(), { signal: this.#aborting.signal })) {
        this.onMessage(message);
      }
    } catch (error) {
      if (!this.#aborting.signal.aborted) throw error;
    } finally {
      this.#requests.close();
    }
  }

  /** A generator, because connect ends its input by `throw`, which other iterators may lack. */
  async *#outgoing(): AsyncGenerator<p4v1.StreamMessageRequest> {
    yield* this.#requests;
  }

  /** @returns whether there was room for the message */
  send(update: p4v1.StreamMessageRequest['update']): boolean {
    const before = this.#requests.dropped;
    this.#requests.push(create(p4v1.StreamMessageRequestSchema, { update }));
    return this.#requests.dropped === before;
  }

  close(): void {
    this.#requests.close();
    this.#aborting.abort();
  }
}
