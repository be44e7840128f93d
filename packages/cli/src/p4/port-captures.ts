import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { PcapWriter } from '@int/pcap';
import { CliError, EXIT, openFailure } from '../io.js';

const CHUNK = 1 << 18;

/** One file, written in large pieces. */
class PortCapture {
  readonly #writer: PcapWriter;
  #buffer = new Uint8Array(CHUNK);
  #used = 0;

  constructor(
    readonly path: string,
    readonly descriptor: number,
    linkType: number,
  ) {
    this.#writer = new PcapWriter({ linkType });
    const header = this.#writer.header();
    this.#buffer.set(header);
    this.#used = header.length;
  }

  add(data: Uint8Array, timestampHigh: number, timestampLow: number): void {
    const length = this.#writer.recordLength(data.length);
    if (this.#used + length > this.#buffer.length) this.flush();
    if (length > this.#buffer.length) this.#buffer = new Uint8Array(length);
    this.#used += this.#writer.recordInto(this.#buffer, this.#used, data, timestampHigh, timestampLow);
  }

  flush(): void {
    for (let at = 0; at < this.#used; ) at += writeSync(this.descriptor, this.#buffer, at, this.#used - at);
    this.#used = 0;
  }
}

/** The captures `outN.pcap` of a folder, made as ports are used. */
export class PortCaptures {
  readonly #files = new Map<number, PortCapture>();
  readonly #folder: string;
  readonly #linkType: () => number;

  /**
   * @param linkType asked for when a file is made
   * @throws CliError if the folder cannot be made
   */
  constructor(folder: string, linkType: () => number) {
    this.#folder = folder;
    this.#linkType = linkType;
    try {
      mkdirSync(folder, { recursive: true });
    } catch (error) {
      throw new CliError(`cannot create ${folder}: ${openFailure(error)}`, EXIT.OPEN, error);
    }
  }

  /**
   * Adds a packet; the file is made if it is the port's first.
   *
   * @throws CliError if it cannot be written
   */
  add(port: number, data: Uint8Array, timestampHigh: number, timestampLow: number): void {
    const file = this.#files.get(port) ?? this.open(port);
    try {
      file.add(data, timestampHigh, timestampLow);
    } catch (error) {
      throw new CliError(`cannot write ${file.path}: ${openFailure(error)}`, EXIT.OPEN, error);
    }
  }

  /** Makes the file of a port, if there is none yet. */
  open(port: number): PortCapture {
    const there = this.#files.get(port);
    if (there !== undefined) return there;
    const path = join(this.#folder, `out${port}.pcap`);
    try {
      const file = new PortCapture(path, openSync(path, 'w'), this.#linkType());
      this.#files.set(port, file);
      return file;
    } catch (error) {
      throw new CliError(`cannot create ${path}: ${openFailure(error)}`, EXIT.OPEN, error);
    }
  }

  /** Writes what is left and closes all files. */
  close(): void {
    for (const file of this.#files.values()) {
      try {
        file.flush();
      } catch (error) {
        throw new CliError(`cannot write ${file.path}: ${openFailure(error)}`, EXIT.OPEN, error);
      } finally {
        closeSync(file.descriptor);
      }
    }
    this.#files.clear();
  }
}
