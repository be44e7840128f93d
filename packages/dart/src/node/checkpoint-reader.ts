/** Reading the checkpoint files of a directory: all of a whole file, the sound pages of a damaged one. */
import { type FileHandle, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoreGeometry } from '../layout.js';
import {
  type CheckpointHeader,
  COMMIT_LENGTH,
  chainPage,
  decodeHeader,
  encodeCommit,
  HEADER_LENGTH,
  isPageWhole,
  MOST_PAGE_BYTES,
  PAGE_HEADER_LENGTH,
} from './checkpoint-format.js';
import { openRegular } from './regular-file.js';

const WINDOW = 2 * (MOST_PAGE_BYTES + PAGE_HEADER_LENGTH);

/** A checkpoint file by its name. */
export interface CheckpointFile {
  readonly path: string;
  readonly epoch: bigint;
  readonly sequence: number;
}

/** The name of a checkpoint. Names sort by epoch, then by sequence. */
export function checkpointName(epoch: bigint, sequence: number): string {
  return `${String(epoch).padStart(20, '0')}-${String(sequence).padStart(10, '0')}.ckpt`;
}

/** The checkpoint files of a directory, oldest first. */
export async function listCheckpoints(directory: string): Promise<CheckpointFile[]> {
  const names = (await readdir(directory)).filter((name) => /^\d{20}-\d{10}\.ckpt$/.test(name)).sort();
  return names.map((name) => ({
    path: join(directory, name),
    epoch: BigInt(name.slice(0, 20)),
    sequence: Number(name.slice(21, 31)),
  }));
}

/** The contents of a checkpoint file. */
export interface ScannedCheckpoint extends CheckpointFile {
  /** Null if the header is damaged or foreign. */
  readonly header: CheckpointHeader | null;
  /** Whether it belongs to another store or epoch, so that nothing of it is used. */
  readonly isForeign: boolean;
  /** A description of the damage; null if the file is whole. */
  readonly damage: string | null;
  /** Slots in sound pages. */
  readonly slots: number;
  readonly bytes: number;
  /** Bytes outside all sound parts. */
  readonly skippedBytes: number;
}

/** Takes a page: the slots from `firstSlot` on. `bytes` is null for a page of zeros. `bytes` is reused. */
type PageConsumer = (firstSlot: number, slots: number, bytes: Uint8Array | null) => void;

/** Reads a file from its start, a window at a time. */
class Window {
  readonly bytes: Buffer;
  at = 0;
  #end = 0;
  #position = 0;
  readonly #file: FileHandle;

  constructor(file: FileHandle, size: number) {
    this.#file = file;
    this.bytes = Buffer.allocUnsafe(Math.min(WINDOW, size + 1));
  }

  /** Loads `length` bytes from `at` on; false at the end of the file. */
  async has(length: number): Promise<boolean> {
    if (this.#end - this.at >= length) return true;
    this.bytes.copyWithin(0, this.at, this.#end);
    this.#end -= this.at;
    this.at = 0;
    while (this.#end < length) {
      const { bytesRead } = await this.#file.read(this.bytes, this.#end, this.bytes.length - this.#end, this.#position);
      if (bytesRead === 0) return false;
      this.#end += bytesRead;
      this.#position += bytesRead;
    }
    return true;
  }
}

/** Reads one file to its end. */
class Scan {
  readonly #named: CheckpointFile;
  readonly #geometry: StoreGeometry;
  readonly #sink: PageConsumer;
  readonly #window: Window;
  readonly #size: number;
  /** A description of the first damage found. */
  #damage: string | null = null;
  #position = 0;
  #sound = 0;
  #slots = 0;
  #pages = 0;
  #chain = 0;

  constructor(named: CheckpointFile, geometry: StoreGeometry, sink: PageConsumer, file: FileHandle, size: number) {
    this.#named = named;
    this.#geometry = geometry;
    this.#sink = sink;
    this.#window = new Window(file, size);
    this.#size = size;
  }

  async run(): Promise<ScannedCheckpoint> {
    const header = await this.#header();
    // Pages of another store or epoch may be sound, but do not belong here.
    const isForeign = header !== null && this.#damage !== null;
    const isCommitted = !isForeign && (await this.#body(header));
    const after = this.#size - this.#position;
    if (isCommitted && after > 0) this.#wrong(`${after} ${after === 1 ? 'byte follows' : 'bytes follow'} its end`);
    return {
      ...this.#named,
      header: isForeign ? null : header,
      isForeign,
      damage: this.#damage,
      slots: this.#slots,
      bytes: this.#size,
      skippedBytes: this.#size - this.#sound,
    };
  }

  /** Takes pages up to the commit record; false if there is none. */
  async #body(header: CheckpointHeader | null): Promise<boolean> {
    const window = this.#window;
    let isInStep = true;
    while (await window.has(1)) {
      if (await this.#page(isInStep)) isInStep = true;
      else if (await this.#commit(header)) return true;
      else {
        const bytes = await this.#recordBytes();
        const isCut = this.#position + bytes > this.#size;
        this.#wrong(
          isCut ? `it ends at byte ${this.#size}, too early` : `what begins at byte ${this.#position} is damaged`,
        );
        if (isCut) return false;
        await window.has(bytes);
        this.#skip(bytes);
        isInStep = false;
      }
    }
    this.#wrong(`it ends at byte ${this.#size}, too early`);
    return false;
  }

  #wrong(damage: string): void {
    this.#damage ??= damage;
  }

  #skip(bytes: number): void {
    this.#window.at += bytes;
    this.#position += bytes;
  }

  #take(bytes: number): void {
    this.#sound += bytes;
    this.#skip(bytes);
  }

  async #header(): Promise<CheckpointHeader | null> {
    const { slots, slotBytes } = this.#geometry;
    const window = this.#window;
    const header = (await window.has(HEADER_LENGTH))
      ? decodeHeader(window.bytes.subarray(window.at, window.at + HEADER_LENGTH))
      : null;
    if (header === null) {
      if (this.#size >= HEADER_LENGTH) this.#wrong('its header is damaged');
      this.#skip(Math.min(HEADER_LENGTH, this.#size));
      return null;
    }
    const { epoch, sequence } = header;
    if (epoch !== this.#named.epoch || sequence !== this.#named.sequence) {
      this.#wrong(`it is number ${sequence} of epoch ${epoch}, under another name`);
    } else if (header.slots !== slots || header.slotBytes !== slotBytes) {
      const made = `${header.slots} slots of ${header.slotBytes} bytes`;
      this.#wrong(`it is of a store of ${made}, not of ${slots} of ${slotBytes}`);
    } else this.#take(HEADER_LENGTH);
    return header;
  }

  /** Bytes of slots of the page that seems to be next; -1 if its header is invalid. */
  async #pageLength(): Promise<number> {
    const { slots, slotBytes } = this.#geometry;
    const window = this.#window;
    if (!(await window.has(PAGE_HEADER_LENGTH))) return -1;
    const first = window.bytes.readUInt32LE(window.at);
    const count = window.bytes.readUInt32LE(window.at + 4);
    const length = window.bytes.readUInt32LE(window.at + 8);
    const isSized = length === 0 || length === count * slotBytes;
    return isSized && length <= MOST_PAGE_BYTES && count > 0 && first + count <= slots ? length : -1;
  }

  /** The length of a damaged page's record, to find the next one: from its header, or from the usual length. */
  async #recordBytes(): Promise<number> {
    const { pageShift, slots, slotBytes } = this.#geometry;
    const length = await this.#pageLength();
    return PAGE_HEADER_LENGTH + (length < 0 ? Math.min(2 ** pageShift, slots) * slotBytes : length);
  }

  /**
   * Takes the next page; false if there is none.
   *
   * @param isInStep whether a page is known to begin here. Elsewhere, slots may contain bytes that look like a page
   *   without slots, because strangers write them.
   */
  async #page(isInStep: boolean): Promise<boolean> {
    const window = this.#window;
    const length = await this.#pageLength();
    if (length < 0 || (length === 0 && !isInStep)) return false;
    const whole = PAGE_HEADER_LENGTH + length;
    if (!(await window.has(whole)) || !isPageWhole(window.bytes, window.at, length)) return false;
    this.#chain = chainPage(this.#chain, window.bytes, window.at);
    const [first, count] = [window.bytes.readUInt32LE(window.at), window.bytes.readUInt32LE(window.at + 4)];
    const from = window.at + PAGE_HEADER_LENGTH;
    this.#sink(first, count, length === 0 ? null : window.bytes.subarray(from, from + length));
    this.#pages++;
    this.#slots += count;
    this.#take(whole);
    return true;
  }

  /** Takes the commit record; false if it is not next or does not match the pages. */
  async #commit(header: CheckpointHeader | null): Promise<boolean> {
    const window = this.#window;
    if (header === null || !(await window.has(COMMIT_LENGTH))) return false;
    const length = this.#position + COMMIT_LENGTH;
    const expected = encodeCommit(this.#pages, this.#chain, length, header.sequence);
    if (!window.bytes.subarray(window.at, window.at + COMMIT_LENGTH).equals(expected)) return false;
    this.#take(COMMIT_LENGTH);
    return true;
  }
}

/**
 * Reads a checkpoint to its end.
 *
 * @param geometry geometry of its store
 * @param sink receives the sound pages
 */
export async function readCheckpoint(
  file: CheckpointFile,
  geometry: StoreGeometry,
  sink: PageConsumer,
): Promise<ScannedCheckpoint> {
  const handle = await openRegular(file.path);
  if (handle === null) {
    const damage = 'it is no regular file';
    return { ...file, header: null, isForeign: true, damage, slots: 0, bytes: 0, skippedBytes: 0 };
  }
  try {
    return await new Scan(file, geometry, sink, handle, (await handle.stat()).size).run();
  } finally {
    await handle.close();
  }
}
