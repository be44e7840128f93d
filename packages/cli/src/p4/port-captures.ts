import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { PcapWriter } from '@int/pcap';
import { CliError, EXIT, openFailure } from '../io.js';

const CHUNK = 1 << 18;
/** Initial buffer of a file, and the memory of all files, which they share. */
const FIRST_CHUNK = 1 << 12;
const ALL_CHUNKS = 1 << 25;
const MAX_PORTS = 1024;

/** The shared memory of the files. */
class Room {
  #left = ALL_CHUNKS;
  #scratch = new Uint8Array(0);

  take(bytes: number): boolean {
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }

  /** Scratch memory, valid until the next call. */
  scratch(length: number): Uint8Array {
    if (this.#scratch.length < length) this.#scratch = new Uint8Array(length);
    return this.#scratch;
  }
}

/** One file, written in large pieces. */
class PortCapture {
  readonly #writer: PcapWriter;
  #buffer = new Uint8Array(FIRST_CHUNK);
  #used = 0;

  constructor(
    readonly path: string,
    readonly descriptor: number,
    linkType: number,
    readonly room: Room,
  ) {
    this.#writer = new PcapWriter({ linkType });
    const header = this.#writer.header();
    this.#buffer.set(header);
    this.#used = header.length;
  }

  /** Adds a packet. Returns its bytes in the file. */
  add(data: Uint8Array, timestampHigh: number, timestampLow: number): number {
    const length = this.#writer.recordLength(data.length);
    if (this.#used + length > this.#buffer.length) {
      this.flush();
      this.#grow();
    }
    if (length > this.#buffer.length) {
      const record = this.room.scratch(length);
      this.#writer.recordInto(record, 0, data, timestampHigh, timestampLow);
      this.#write(record, length);
    } else this.#used += this.#writer.recordInto(this.#buffer, this.#used, data, timestampHigh, timestampLow);
    return length;
  }

  flush(): void {
    this.#write(this.#buffer, this.#used);
    this.#used = 0;
  }

  /** Doubles the buffer while there is memory. */
  #grow(): void {
    const { length } = this.#buffer;
    if (length < CHUNK && this.room.take(length)) this.#buffer = new Uint8Array(2 * length);
  }

  #write(bytes: Uint8Array, length: number): void {
    for (let at = 0; at < length; ) at += writeSync(this.descriptor, bytes, at, length - at);
  }
}

/** The captures `outN.pcap` of a folder, made as ports are used. */
export class PortCaptures {
  readonly #files = new Map<number, PortCapture>();
  readonly #folder: string;
  readonly #linkType: () => number;
  readonly #room = new Room();
  #left: number;

  /**
   * @param linkType called when a file is made
   * @param mostBytes most bytes of all files together
   * @throws CliError if the folder cannot be made
   */
  constructor(
    folder: string,
    linkType: () => number,
    readonly mostBytes: number,
  ) {
    this.#left = mostBytes;
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
   * @throws CliError if it cannot be written, or exceeds `mostBytes`
   */
  add(port: number, data: Uint8Array, timestampHigh: number, timestampLow: number): void {
    const file = this.#files.get(port) ?? this.open(port);
    try {
      this.#left -= file.add(data, timestampHigh, timestampLow);
    } catch (error) {
      throw new CliError(`cannot write ${file.path}: ${openFailure(error)}`, EXIT.OPEN, error);
    }
    if (this.#left < 0) {
      throw new CliError(`more than ${this.mostBytes} bytes of packets came out (--limit output=N)`, EXIT.INPUT);
    }
  }

  /** Makes the file of a port, unless it exists. */
  open(port: number): PortCapture {
    const there = this.#files.get(port);
    if (there !== undefined) return there;
    if (this.#files.size >= MAX_PORTS) throw new CliError(`packets left by more than ${MAX_PORTS} ports`, EXIT.INPUT);
    const path = join(this.#folder, `out${port}.pcap`);
    try {
      const file = new PortCapture(path, openSync(path, 'w'), this.#linkType(), this.#room);
      this.#files.set(port, file);
      return file;
    } catch (error) {
      throw new CliError(`cannot create ${path}: ${openFailure(error)}`, EXIT.OPEN, error);
    }
  }

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
