import { CliError, EXIT, type Terminal } from '../io.js';

/** Characters or bytes to collect before they are written. */
const CHUNK = 1 << 16;
/** Longest time for which writing may block the event loop, and with it signals, in milliseconds. */
const TURN_MS = 50;

/**
 * Standard output for data. It collects small pieces into large writes and waits for a slow reader. A closed pipe
 * (`| head`) ends the output and is not an error. Writes to a file never wait, so it yields to the event loop at
 * intervals, in which signals are handled.
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
  /** Called when there is no reader any more; for programs that write rarely. */
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

  /** Whether there is no reader any more, so that production can stop. */
  get closed(): boolean {
    return this.#closed;
  }

  /** The error of writing, except a closed pipe; null if there is none. */
  get error(): Error | null {
    return this.#error;
  }

  /** Adds a line. Returns a promise if the reader is behind: await it before the next one. */
  line(text: string): Promise<void> | undefined {
    this.#text += text;
    return this.text('\n');
  }

  /** Adds a piece of a line. Returns a promise like {@link line}. */
  text(text: string): Promise<void> | undefined {
    this.#text += text;
    return this.#text.length >= CHUNK ? this.flush() : undefined;
  }

  /** Adds bytes, which must stay unchanged until written. Returns a promise like {@link line}. */
  bytes(bytes: Uint8Array): Promise<void> | undefined {
    this.#bytes.push(bytes);
    this.#byteLength += bytes.length;
    return this.#byteLength >= CHUNK ? this.flush() : undefined;
  }

  /** Writes the collected output. Returns a promise if the reader is behind. */
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

  /** Waits for a turn of the event loop, if the last one was some time ago. */
  #turn(): Promise<void> | undefined {
    if (performance.now() - this.#turnedAt < TURN_MS) return undefined;
    return new Promise((resolve) => {
      setImmediate(() => {
        this.#turnedAt = performance.now();
        resolve();
      });
    });
  }

  /** Writes the collected output, waits until it has been taken, and releases the stream, which stays open. */
  async end(): Promise<void> {
    this.flush();
    if (!this.#closed) {
      // The callback of an empty write follows all earlier writes, or brings the error.
      await new Promise<void>((resolve) => this.#stream.write('', () => resolve()));
      // A stream emits its error after the callback.
      await new Promise(setImmediate);
    }
    this.#stream.off('close', this.#onClose);
    this.#stream.off('drain', this.#onDrain);
    // The error listener stays: a late EPIPE must not end the process.
  }

  /** Like {@link end}. @throws CliError (rejects) if writing has failed */
  async finish(): Promise<void> {
    await this.end();
    if (this.#error !== null) throw new CliError(`cannot write: ${this.#error.message}`, EXIT.OPEN);
  }
}
