import { type FrameInput, PcapWriter } from '@int/pcap';
import { type CaptureFile, createCaptureFile } from '@int/pcap/node';
import { CliError, EXIT, type Io, openFailure } from '../io.js';
import { interruptedCode } from '../stopping.js';
import { DataOutput } from './data-output.js';

/** Writes a capture to a file, or to standard output for `-`. */
export class CaptureOutput {
  readonly #file: CaptureFile | null;
  readonly #stream: DataOutput | null;
  #writer: PcapWriter | null = null;
  readonly #path: string;

  private constructor(path: string, file: CaptureFile | null, stream: DataOutput | null) {
    this.#path = path;
    this.#file = file;
    this.#stream = stream;
  }

  /**
   * @param path a file, or `-`; undefined means `-`, unless standard output is a terminal
   * @throws CliError if the file cannot be created, or no output is given
   */
  static async open(path: string | undefined, io: Io): Promise<CaptureOutput> {
    if (path === undefined && io.stdout.isTTY === true) {
      throw new CliError('a capture is no text for a terminal: give -o FILE, or pipe the output', EXIT.USAGE);
    }
    if (path === undefined || path === '-')
      return new CaptureOutput('standard output', null, new DataOutput(io.stdout));
    try {
      return new CaptureOutput(path, await createCaptureFile(path, { signal: io.signal }), null);
    } catch (error) {
      if (io.signal.aborted) throw new CliError(`interrupted before anybody read ${path}`, interruptedCode(io), error);
      throw new CliError(`cannot create ${path}: ${openFailure(error)}`, EXIT.OPEN, error);
    }
  }

  get closed(): boolean {
    return this.#stream?.closed ?? false;
  }

  /**
   * Adds a frame. Returns a promise if the output is behind.
   * @throws TypeError or RangeError for a frame that the format cannot hold: another link type than the first one's in
   *   a pcap, or a time out of range
   */
  write(frame: FrameInput): Promise<void> | undefined {
    if (this.#file !== null) {
      return this.#file.write(frame).catch((error: unknown) => {
        if (error instanceof TypeError || error instanceof RangeError) throw error;
        throw this.#failure(error);
      });
    }
    if (this.#writer === null) {
      const writer = new PcapWriter(frame.linkType === undefined ? {} : { linkType: frame.linkType });
      const record = writer.record(frame);
      this.#stream!.bytes(writer.header());
      this.#writer = writer;
      return this.#stream!.bytes(record);
    }
    return this.#stream!.bytes(this.#writer.record(frame));
  }

  flush(): Promise<void> | undefined {
    return this.#stream?.flush();
  }

  /** Writes the rest and closes; without frames the result is an empty capture. @throws CliError if writing fails */
  async end(): Promise<void> {
    if (this.#file !== null) {
      await this.#file.close().catch((error: unknown) => {
        throw this.#failure(error);
      });
      return;
    }
    const stream = this.#stream!;
    if (this.#writer === null) stream.bytes(new PcapWriter().header());
    await stream.end();
    if (stream.error !== null) throw this.#failure(stream.error);
  }

  #failure(error: unknown): CliError {
    return new CliError(`cannot write ${this.#path}: ${openFailure(error)}`, EXIT.OPEN, error);
  }
}
