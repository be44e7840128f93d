/**
 * The files of one finished epoch: `<epoch>.parquet`, and `<epoch>.json`, which says how long the first has to be and
 * what its footer and its whole have to add up to. The first counts only if the second agrees.
 */
import { open, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';

const SIDECAR_VERSION = 1;
const CHUNK = 1 << 20;
/** The length of the footer, then "PAR1". */
const TAIL = 8;

/** A finished epoch on disk. */
export interface HistoryFile {
  readonly epoch: bigint;
  /** Time range in ns: `from` is in it, `to` is not. */
  readonly from: bigint;
  readonly to: bigint;
  readonly keyWrites: number;
  readonly slotWrites: number;
  /** Slots that were not empty. */
  readonly rows: number;
  readonly bytes: number;
  readonly path: string;
  readonly footerCrc: number;
  readonly crc: number;
}

export function historyName(epoch: bigint): string {
  return String(epoch).padStart(20, '0');
}

/** What a Parquet file adds up to; null if it is no whole one. */
interface Sums {
  readonly bytes: number;
  readonly footerCrc: number;
  readonly crc: number;
}

/** The footer: from its length at the end. */
async function footerSum(path: string): Promise<{ bytes: number; footerCrc: number } | null> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    if (size < TAIL + 4) return null;
    const tail = Buffer.alloc(TAIL);
    await file.read(tail, 0, TAIL, size - TAIL);
    const length = tail.readUInt32LE(0);
    if (tail.toString('latin1', 4) !== 'PAR1' || length + TAIL + 4 > size) return null;
    const footer = Buffer.alloc(length + TAIL);
    await file.read(footer, 0, footer.length, size - footer.length);
    return { bytes: size, footerCrc: crc32(footer) };
  } finally {
    await file.close();
  }
}

async function wholeSum(path: string): Promise<number> {
  const file = await open(path, 'r');
  try {
    const chunk = Buffer.allocUnsafe(CHUNK);
    let crc = 0;
    for (;;) {
      const { bytesRead } = await file.read(chunk, 0, CHUNK);
      if (bytesRead === 0) return crc;
      crc = crc32(chunk.subarray(0, bytesRead), crc);
    }
  } finally {
    await file.close();
  }
}

export async function sumsOf(path: string): Promise<Sums | null> {
  const footer = await footerSum(path);
  return footer === null ? null : { ...footer, crc: await wholeSum(path) };
}

/** The contents of the second file. */
export function encodeSidecar({ path: _, ...file }: HistoryFile): string {
  const plain = { ...file, epoch: String(file.epoch), from: String(file.from), to: String(file.to) };
  const body = { version: SIDECAR_VERSION, ...plain };
  return `${JSON.stringify({ ...body, sum: crc32(JSON.stringify(body)) }, null, 2)}\n`;
}

type Sidecar = Omit<HistoryFile, 'epoch' | 'from' | 'to' | 'path'> & {
  readonly version: number;
  readonly epoch: string;
  readonly from: string;
  readonly to: string;
  readonly sum: number;
};

async function readSidecar(path: string): Promise<Omit<HistoryFile, 'path'> | null> {
  try {
    const { sum, ...body } = JSON.parse(await readFile(path, 'utf8')) as Sidecar;
    if (crc32(JSON.stringify(body)) !== sum || body.version !== SIDECAR_VERSION) return null;
    const { version: _, ...file } = body;
    return { ...file, epoch: BigInt(file.epoch), from: BigInt(file.from), to: BigInt(file.to) };
  } catch {
    return null;
  }
}

async function isWhole(file: HistoryFile, thoroughly: boolean): Promise<boolean> {
  const footer = await footerSum(file.path);
  if (footer?.bytes !== file.bytes || footer.footerCrc !== file.footerCrc) return false;
  return !thoroughly || (await wholeSum(file.path)) === file.crc;
}

/**
 * The finished epochs of a directory, oldest first.
 *
 * @param thoroughly whether to read every byte of every file, or only the ends
 */
export async function listHistory(
  directory: string,
  thoroughly: boolean,
): Promise<{ files: HistoryFile[]; damaged: string[] }> {
  const files: HistoryFile[] = [];
  const damaged: string[] = [];
  const names = (await readdir(directory)).filter((name) => /^\d{20}\.parquet$/.test(name)).sort();
  for (const name of names) {
    const path = join(directory, name);
    const sidecar = await readSidecar(path.replace(/parquet$/, 'json'));
    const file = sidecar === null ? null : { ...sidecar, path };
    const isNamed = file !== null && `${historyName(file.epoch)}.parquet` === name;
    if (isNamed && (await isWhole(file, thoroughly))) files.push(file);
    else damaged.push(path);
  }
  return { files, damaged };
}

/** Whether every byte of a file is as it was written. */
export async function verifyHistoryFile(file: HistoryFile): Promise<boolean> {
  try {
    return await isWhole(file, true);
  } catch {
    return false;
  }
}

export async function removeHistoryFile({ path }: HistoryFile): Promise<void> {
  await rm(path, { force: true });
  await rm(path.replace(/parquet$/, 'json'), { force: true });
}
