import { Code } from '@connectrpc/connect';
import { refuse } from './refusal.js';

/** Most entities and bytes of one response: clients take 4 MB by default. */
const CHUNK_ENTITIES = 1000;
const CHUNK_BYTES = 1 << 20;

/** Collects the entities of a Read in chunks, as encoded messages. Their bytes count against a budget. */
export class EntitySink {
  readonly chunks: Uint8Array[][] = [];
  #last: Uint8Array[] = [];
  #lastBytes = 0;
  #bytes = 0;

  /** @param limitBytes most bytes of all entities */
  constructor(readonly limitBytes: number) {}

  /** Bytes of all entities. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @throws Refusal RESOURCE_EXHAUSTED */
  add(entity: Uint8Array): void {
    this.#bytes += entity.length;
    if (this.#bytes > this.limitBytes) {
      refuse(Code.ResourceExhausted, `the answer has more than ${this.limitBytes} bytes: read less at once`);
    }
    const isFull = this.#last.length >= CHUNK_ENTITIES || this.#lastBytes + entity.length > CHUNK_BYTES;
    if (isFull || this.chunks.length === 0) {
      this.#last = [];
      this.#lastBytes = 0;
      this.chunks.push(this.#last);
    }
    this.#last.push(entity);
    this.#lastBytes += entity.length;
  }
}
