import type { Terminal } from '../io.js';

/** Characters or bytes to collect before they are written. */
const CHUNK = 1 << 16;
/** Milliseconds for which writing may keep the event loop, and with it signals, waiting. */
const TURN_MS = 50;

/**
 * Standard output for data: collects small pieces into large writes, waits when the reader is slow, and takes a closed
 * pipe (`| head`) as the end of interest, which is no error. A file is never slow: there it waits now and then for a turn
 * of the event loop, in which signals are seen.
 */
export class DataOutput {
  readonly #stream: Terminal;
  #text = '';
  #bytes: Uint8Array[] = [];
  #byteLength = 0;
  #closed = false;
  #error: Error | null = null;
  #wake: (() => void) | null = null;
  #turnedAt = performance.now();
  /** Called when nobody reads any more: for those who write rarely. */
  onClosed: () => void = () => {};
  readonly #onError = (error: NodeJS.ErrnoException): void => {
    if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') this.#error = error;
    this.#onClose();
  };
  readonly #onClose = (): void => {
    this.#closed = true;
    this.#wake?.();
    this.onClosed();
  };
  readonly #onDrain = (): void => this.#wake?.();

  constructor(stream: Terminal) {
    this.#stream = stream;
    stream.on('error', this.#onError);
    stream.on('close', this.#onClose);
    stream.on('drain', this.#onDrain);
  }

  /** Nobody reads any more: stop producing. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Why writing failed, if not because the reader went away. */
  get error(): Error | null {
    return this.#error;
  }

  /** Adds a line. Returns a promise if the reader is behind: await it before the next one. */
  line(text: string): Promise<void> | undefined {
    this.#text += text;
    return this.text('\n');
  }

  /** Adds a piece of a line. Returns a promise as {@link line}. */
  text(text: string): Promise<void> | undefined {
    this.#text += text;
    return this.#text.length >= CHUNK ? this.flush() : undefined;
  }

  /** Adds bytes, which are kept until written. Returns a promise as {@link line}. */
  bytes(bytes: Uint8Array): Promise<void> | undefined {
    this.#bytes.push(bytes);
    this.#byteLength += bytes.length;
    return this.#byteLength >= CHUNK ? this.flush() : undefined;
  }

  /** Writes what is collected. Returns a promise if the reader is behind. */
  flush(): Promise<void> | undefined {
    if (this.#closed) {
      this.#text = '';
      this.#bytes = [];
      this.#byteLength = 0;
      return undefined;
    }
    let ready = true;
    if (this.#text !== '') {
      ready = this.#stream.write(this.#text);
      this.#text = '';
    }
    if (this.#byteLength > 0) {
      ready = this.#stream.write(Buffer.concat(this.#bytes));
      this.#bytes = [];
      this.#byteLength = 0;
    }
    if (ready) return this.#turn();
    return new Promise((resolve) => {
      this.#wake = (): void => {
        this.#wake = null;
        resolve();
      };
    });
  }

  /** A turn of the event loop, if the last one was some time ago. */
  #turn(): Promise<void> | undefined {
    if (performance.now() - this.#turnedAt < TURN_MS) return undefined;
    return new Promise((resolve) => {
      setImmediate(() => {
        this.#turnedAt = performance.now();
        resolve();
      });
    });
  }

  /** Writes what is collected, waits until it has been taken, and lets go of the stream, which stays open. */
  async end(): Promise<void> {
    this.flush();
    if (!this.#closed) {
      // The callback of an empty write comes after all that is before it, or with the error.
      await new Promise<void>((resolve) => this.#stream.write('', () => resolve()));
      // A stream tells its error after the callback.
      await new Promise(setImmediate);
    }
    this.#stream.off('close', this.#onClose);
    this.#stream.off('drain', this.#onDrain);
    // The error listener stays: a late EPIPE must not end the process.
  }
}
