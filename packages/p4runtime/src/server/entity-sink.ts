import { Code } from '@connectrpc/connect';
import { refuse } from './refusal.js';

/** Most entities and bytes of one response: clients take 4 MB by default. */
const CHUNK_ENTITIES = 1000;
const CHUNK_BYTES = 1 << 20;
const FIRST_BYTES = 4096;

/** Most bytes before an entity: its length, and the tag of the field. */
const HEAD_BYTES = 6;
/** Field `entities` of a ReadResponse. */
const TAG = 0x0a;

/** Encoded entities of one response, one after the other: as bytes, for a hundred thousand objects would keep packets waiting. */
export class EntityChunk {
  #bytes = new Uint8Array(FIRST_BYTES);
  #at = 0;
  #count = 0;

  get count(): number {
    return this.#count;
  }

  hasRoom(entityBytes: number): boolean {
    return this.#count < CHUNK_ENTITIES && (this.#count === 0 || this.#at + entityBytes + HEAD_BYTES <= CHUNK_BYTES);
  }

  add(entity: Uint8Array): void {
    const need = this.#at + entity.length + HEAD_BYTES;
    if (need > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(need, 2 * this.#bytes.length));
      larger.set(this.#bytes.subarray(0, this.#at));
      this.#bytes = larger;
    }
    if (this.#count > 0) this.#bytes[this.#at++] = TAG;
    let length = entity.length;
    for (; length > 0x7f; length >>>= 7) this.#bytes[this.#at++] = (length & 0x7f) | 0x80;
    this.#bytes[this.#at++] = length;
    this.#bytes.set(entity, this.#at);
    this.#at += entity.length;
    this.#count++;
  }

  /** The field `entities` of a ReadResponse with all of them, but for the tag of the first. */
  get field(): Uint8Array {
    return this.#bytes.subarray(0, this.#at);
  }

  /** Each entity, as a view. */
  *entities(): Generator<Uint8Array> {
    const bytes = this.#bytes;
    for (let at = 0; at < this.#at; at++) {
      let length = 0;
      for (let shift = 0; ; shift += 7) {
        const byte = bytes[at++]!;
        length |= (byte & 0x7f) << shift;
        if (byte < 0x80) break;
      }
      yield bytes.subarray(at, at + length);
      at += length;
    }
  }
}

/** Collects the entities of a Read in chunks, as encoded messages. Their bytes count against a budget. */
export class EntitySink {
  readonly chunks: EntityChunk[] = [];
  #bytes = 0;

  /** @param limitBytes most bytes of all entities */
  constructor(readonly limitBytes: number) {}

  /** Bytes of all entities. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds a copy. @throws Refusal RESOURCE_EXHAUSTED */
  add(entity: Uint8Array): void {
    this.#bytes += entity.length;
    if (this.#bytes > this.limitBytes) {
      refuse(Code.ResourceExhausted, `the answer has more than ${this.limitBytes} bytes: read less at once`);
    }
    let chunk = this.chunks.at(-1);
    if (chunk === undefined || !chunk.hasRoom(entity.length)) {
      chunk = new EntityChunk();
      this.chunks.push(chunk);
    }
    chunk.add(entity);
  }
}
