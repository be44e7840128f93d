import { toBinary } from '@bufbuild/protobuf';
import { type StreamMessageResponse, StreamMessageResponseSchema } from '../generated/p4/v1/p4runtime_pb.js';

/** Most arbitration messages that wait: only the last of them counts. */
const MOST_ARBITRATIONS = 64;

/** The messages of a stream that wait to be sent: bounded, whatever the client does. */
export class Outbox {
  #messages: { readonly message: StreamMessageResponse; readonly bytes: number }[] = [];
  #first = 0;
  #bytes = 0;
  #arbitrations = 0;
  #isEnded = false;
  #error: unknown;
  #wake: (() => void) | undefined;

  /** @param mostBytes most bytes that wait, without arbitration messages */
  constructor(readonly mostBytes: number) {}

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** @returns false if the message is dropped, as the stream has ended or too much waits */
  push(message: StreamMessageResponse): boolean {
    if (this.#isEnded) return false;
    const isArbitration = message.update.case === 'arbitration';
    const bytes = isArbitration ? 0 : sizeOf(message);
    if (this.#bytes + bytes > this.mostBytes) return false;
    if (isArbitration && ++this.#arbitrations > MOST_ARBITRATIONS) this.#dropOldest();
    this.#bytes += bytes;
    this.#messages.push({ message, bytes });
    this.#wake?.();
    return true;
  }

  /** Ends the stream once what waits is sent. @param error what the client is told; undefined: OK */
  end(error?: unknown): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#error = error;
    this.#wake?.();
  }

  /** Gives the messages as they come. @throws the error of {@link end} */
  async *messages(): AsyncGenerator<StreamMessageResponse> {
    for (;;) {
      const next = this.#messages[this.#first];
      if (next !== undefined) {
        this.#take(next.bytes, next.message.update.case === 'arbitration');
        yield next.message;
      } else if (this.#isEnded) {
        if (this.#error !== undefined) throw this.#error;
        return;
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = undefined;
      }
    }
  }

  #take(bytes: number, isArbitration: boolean): void {
    this.#bytes -= bytes;
    if (isArbitration) this.#arbitrations--;
    if (++this.#first < 1024) return;
    this.#messages = this.#messages.slice(this.#first);
    this.#first = 0;
  }

  #dropOldest(): void {
    const at = this.#messages.findIndex(({ message }, i) => i >= this.#first && message.update.case === 'arbitration');
    this.#messages.splice(at, 1);
    this.#arbitrations--;
  }
}

/** The size of a message, roughly. */
function sizeOf({ update }: StreamMessageResponse): number {
  if (update.case === 'packet') return 128 + update.value.payload.length;
  if (update.case === 'digest') return 128 + 64 * update.value.data.length;
  return 256 + toBinary(StreamMessageResponseSchema, { $typeName: 'p4.v1.StreamMessageResponse', update }).length;
}
