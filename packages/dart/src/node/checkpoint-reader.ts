/** Checkpoint files of a directory, read back: whole ones only. */
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
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

const WINDOW = 2 * (MOST_PAGE_BYTES + PAGE_HEADER_LENGTH);

/** A checkpoint file by its name. */
export interface CheckpointFile {
  readonly path: string;
  readonly epoch: bigint;
  readonly sequence: number;
}

/** The name of a checkpoint: sorts by epoch, then by sequence. */
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

/** A checkpoint that is whole. */
export interface WholeCheckpoint extends CheckpointFile {
  readonly header: CheckpointHeader;
  readonly bytes: number;
}

/** Takes a page: the slots from `firstSlot` on; null for `bytes` where all are zeros. `bytes` is reused. */
type PageSink = (firstSlot: number, slots: number, bytes: Uint8Array | null) => void;

/** Reads a file from its start, a window at a time. */
class Window {
  readonly bytes = Buffer.allocUnsafe(WINDOW);
  at = 0;
  #end = 0;
  #position = 0;
  readonly #file: FileHandle;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Makes sure that `length` bytes from `at` on are there; false at the end of the file. */
  async has(length: number): Promise<boolean> {
    if (this.#end - this.at >= length) return true;
    this.bytes.copyWithin(0, this.at, this.#end);
    this.#end -= this.at;
    this.at = 0;
    while (this.#end < length) {
      const { bytesRead } = await this.#file.read(this.bytes, this.#end, WINDOW - this.#end, this.#position);
      if (bytesRead === 0) return false;
      this.#end += bytesRead;
      this.#position += bytesRead;
    }
    return true;
  }
}

async function scan(
  file: FileHandle,
  named: CheckpointFile,
  slots: number,
  slotBytes: number,
  sink: PageSink,
): Promise<CheckpointHeader | null> {
  const { size } = await file.stat();
  const window = new Window(file);
  if (size < HEADER_LENGTH + COMMIT_LENGTH || !(await window.has(HEADER_LENGTH))) return null;
  const header = decodeHeader(window.bytes.subarray(window.at, window.at + HEADER_LENGTH));
  if (header === null || header.epoch !== named.epoch || header.sequence !== named.sequence) return null;
  if (header.slots !== slots || header.slotBytes !== slotBytes) return null;
  window.at += HEADER_LENGTH;
  let left = size - HEADER_LENGTH - COMMIT_LENGTH;
  let pages = 0;
  let chain = 0;
  while (left > 0) {
    if (left < PAGE_HEADER_LENGTH || !(await window.has(PAGE_HEADER_LENGTH))) return null;
    const first = window.bytes.readUInt32LE(window.at);
    const count = window.bytes.readUInt32LE(window.at + 4);
    const length = window.bytes.readUInt32LE(window.at + 8);
    const isSized = length === 0 || length === count * slotBytes;
    if (!isSized || length > MOST_PAGE_BYTES || count === 0 || first + count > slots) return null;
    const whole = PAGE_HEADER_LENGTH + length;
    if (whole > left || !(await window.has(whole)) || !isPageWhole(window.bytes, window.at, length)) return null;
    chain = chainPage(chain, window.bytes, window.at);
    const from = window.at + PAGE_HEADER_LENGTH;
    sink(first, count, length === 0 ? null : window.bytes.subarray(from, from + length));
    window.at += whole;
    left -= whole;
    pages++;
  }
  if (!(await window.has(COMMIT_LENGTH))) return null;
  const commit = window.bytes.subarray(window.at, window.at + COMMIT_LENGTH);
  return commit.equals(encodeCommit(pages, chain, size, header.sequence)) ? header : null;
}

async function read(
  file: CheckpointFile,
  slots: number,
  slotBytes: number,
  sink: PageSink,
): Promise<WholeCheckpoint | null> {
  const handle = await open(file.path, 'r');
  try {
    const header = await scan(handle, file, slots, slotBytes, sink);
    return header === null ? null : { ...file, header, bytes: (await handle.stat()).size };
  } finally {
    await handle.close();
  }
}

/** Reads a checkpoint through. @returns null unless it is whole, and of a store of this geometry */
export function verifyCheckpoint(
  file: CheckpointFile,
  slots: number,
  slotBytes: number,
): Promise<WholeCheckpoint | null> {
  return read(file, slots, slotBytes, () => {});
}

/** Hands on the pages of a checkpoint that {@link verifyCheckpoint} has found whole. */
export async function loadCheckpoint(file: WholeCheckpoint, sink: PageSink): Promise<void> {
  await read(file, file.header.slots, file.header.slotBytes, sink);
}
