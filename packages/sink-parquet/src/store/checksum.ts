/**
 * The CRC-32 of a file is in its name: it is there from the moment in which the file is, moves with it, and needs no second
 * file that could be lost. The engine neither writes nor checks checksums of its own: it reads flipped bits as other values.
 */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';

const SEALED = /^(?:part|pack)-[0-9a-f]{16}-\d{8,}-([0-9a-f]{8})\.parquet$/;
/** Bytes read at once, and between two turns of the event loop. */
const PIECE = 1 << 20;

/** The name of a file with its checksum in it. @param stem kind, instance and number */
export function sealedName(stem: string, crc: number): string {
  return `${stem}-${crc.toString(16).padStart(8, '0')}.parquet`;
}

/** The checksum in the name of a file; null if there is none. */
export function sumInName(name: string): number | null {
  const digits = SEALED.exec(name)?.[1];
  return digits === undefined ? null : Number.parseInt(digits, 16);
}

/** Opens a file without waiting for anybody, whatever it is. */
function openFile(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
}

/** Reads one piece while the one before is added up. */
async function sumOf(file: FileHandle, onBytes: (bytes: number) => void): Promise<number> {
  const buffers = [Buffer.allocUnsafe(PIECE), Buffer.allocUnsafe(PIECE)] as const;
  let crc = 0;
  let next = file.read(buffers[0], 0, PIECE, 0);
  for (let piece = 0, position = 0; ; piece++) {
    const { bytesRead, buffer } = await next;
    if (bytesRead === 0) return crc;
    position += bytesRead;
    next = file.read(buffers[(piece + 1) % 2]!, 0, PIECE, position);
    // Where what follows throws, nobody waits for it.
    next.catch(() => undefined);
    crc = crc32(buffer.subarray(0, bytesRead), crc);
    onBytes(bytesRead);
  }
}

/** The checksum of a file that has just been written. */
export async function checksumOf(path: string): Promise<number> {
  const file = await openFile(path);
  try {
    return await sumOf(file, () => {});
  } finally {
    await file.close();
  }
}

/**
 * Reads a file through.
 *
 * @param expected what it has to add up to; null: not known
 * @param onBytes called for each piece; what it throws ends the reading
 * @returns what is wrong with it, in words; null if nothing is
 * @throws errors of the file system as Node gives them
 */
export async function faultOf(
  path: string,
  expected: number | null,
  onBytes: (bytes: number) => void = () => {},
): Promise<string | null> {
  const file = await openFile(path);
  try {
    if (!(await file.stat()).isFile()) return 'it is no regular file';
    if (expected === null) return null;
    return (await sumOf(file, onBytes)) === expected ? null : 'its bytes are not those that were written';
  } finally {
    await file.close();
  }
}
