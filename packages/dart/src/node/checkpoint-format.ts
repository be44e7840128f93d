/**
 * A checkpoint file, to the byte; all numbers little-endian, CRCs those of Ethernet.
 *
 * | Part | Bytes |
 * |---|---|
 * | header | 128: "DARTCKPT", version, flags, epoch (64 bits), sequence, bytes of a slot, slots of the store, 0, start of the epoch and time of the checkpoint (ns, 64 bits each), keys and slots written so far (64 bits each), zeros, CRC-32 of the 124 bytes before |
 * | pages | each 16 bytes: number of the first slot, slots, bytes that follow, CRC-32 of these 12 and the bytes; then the slots, or nothing where all of them are zeros |
 * | commit | 32: "DARTDONE", pages, CRC-32 of the pages' 16 bytes, length of the file (64 bits), sequence, CRC-32 of the 28 bytes before |
 *
 * A file counts if every CRC and every length is right, and the commit record is at its end.
 */
import { crc32 } from 'node:zlib';

const CHECKPOINT_VERSION = 1;
export const HEADER_LENGTH = 128;
export const PAGE_HEADER_LENGTH = 16;
export const COMMIT_LENGTH = 32;
/** Most bytes of a page record: no geometry has larger pages. */
export const MOST_PAGE_BYTES = 1 << 20;

const FLAG_BASE = 1;
const FLAG_FINAL = 2;
const HEADER_MAGIC = /* @__PURE__ */ Buffer.from('DARTCKPT', 'latin1');
const COMMIT_MAGIC = /* @__PURE__ */ Buffer.from('DARTDONE', 'latin1');

/** The header of a checkpoint file. */
export interface CheckpointHeader {
  /** Whether the file has every page that is not empty; otherwise it has only the changed ones. */
  readonly isBase: boolean;
  /** Whether it is the last file of its epoch. */
  readonly isFinal: boolean;
  readonly epoch: bigint;
  readonly sequence: number;
  readonly slotBytes: number;
  readonly slots: number;
  /** Start of the epoch, ns. */
  readonly from: bigint;
  /** Start of the checkpoint, ns; for the final one, the end of the epoch. */
  readonly taken: bigint;
  readonly keyWrites: number;
  readonly slotWrites: number;
}

export function encodeHeader(header: CheckpointHeader): Buffer {
  const bytes = Buffer.alloc(HEADER_LENGTH);
  HEADER_MAGIC.copy(bytes);
  bytes.writeUInt32LE(CHECKPOINT_VERSION, 8);
  bytes.writeUInt32LE((header.isBase ? FLAG_BASE : 0) | (header.isFinal ? FLAG_FINAL : 0), 12);
  bytes.writeBigUInt64LE(header.epoch, 16);
  bytes.writeUInt32LE(header.sequence, 24);
  bytes.writeUInt32LE(header.slotBytes, 28);
  bytes.writeUInt32LE(header.slots, 32);
  bytes.writeBigInt64LE(header.from, 40);
  bytes.writeBigInt64LE(header.taken, 48);
  bytes.writeBigUInt64LE(BigInt(header.keyWrites), 56);
  bytes.writeBigUInt64LE(BigInt(header.slotWrites), 64);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, HEADER_LENGTH - 4)), HEADER_LENGTH - 4);
  return bytes;
}

/** @returns null unless the bytes are a whole header of a known version */
export function decodeHeader(bytes: Buffer): CheckpointHeader | null {
  if (bytes.length < HEADER_LENGTH || !bytes.subarray(0, 8).equals(HEADER_MAGIC)) return null;
  if (bytes.readUInt32LE(HEADER_LENGTH - 4) !== crc32(bytes.subarray(0, HEADER_LENGTH - 4))) return null;
  if (bytes.readUInt32LE(8) !== CHECKPOINT_VERSION) return null;
  const flags = bytes.readUInt32LE(12);
  return {
    isBase: (flags & FLAG_BASE) !== 0,
    isFinal: (flags & FLAG_FINAL) !== 0,
    epoch: bytes.readBigUInt64LE(16),
    sequence: bytes.readUInt32LE(24),
    slotBytes: bytes.readUInt32LE(28),
    slots: bytes.readUInt32LE(32),
    from: bytes.readBigInt64LE(40),
    taken: bytes.readBigInt64LE(48),
    keyWrites: Number(bytes.readBigUInt64LE(56)),
    slotWrites: Number(bytes.readBigUInt64LE(64)),
  };
}

function pageCrc(bytes: Buffer, at: number, length: number): number {
  const head = crc32(bytes.subarray(at, at + PAGE_HEADER_LENGTH - 4));
  return length === 0 ? head : crc32(bytes.subarray(at + PAGE_HEADER_LENGTH, at + PAGE_HEADER_LENGTH + length), head);
}

/** Writes the 16 bytes of a page's header at `at`. Its slots must already follow: `length` bytes. */
export function sealPage(bytes: Buffer, at: number, firstSlot: number, slots: number, length: number): void {
  bytes.writeUInt32LE(firstSlot, at);
  bytes.writeUInt32LE(slots, at + 4);
  bytes.writeUInt32LE(length, at + 8);
  bytes.writeUInt32LE(pageCrc(bytes, at, length), at + 12);
}

/** Whether the page at `at`, with `length` bytes of slots, is unchanged since it was sealed. */
export function isPageWhole(bytes: Buffer, at: number, length: number): boolean {
  return bytes.readUInt32LE(at + 12) === pageCrc(bytes, at, length);
}

/** The CRC-32 over the 16 bytes of all pages, carried from page to page. */
export function chainPage(chain: number, bytes: Buffer, at: number): number {
  return crc32(bytes.subarray(at, at + PAGE_HEADER_LENGTH), chain);
}

export function encodeCommit(pages: number, chain: number, length: number, sequence: number): Buffer {
  const bytes = Buffer.alloc(COMMIT_LENGTH);
  COMMIT_MAGIC.copy(bytes);
  bytes.writeUInt32LE(pages, 8);
  bytes.writeUInt32LE(chain, 12);
  bytes.writeBigUInt64LE(BigInt(length), 16);
  bytes.writeUInt32LE(sequence, 24);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, COMMIT_LENGTH - 4)), COMMIT_LENGTH - 4);
  return bytes;
}
