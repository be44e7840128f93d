/**
 * The files of one finished epoch: `<epoch>.parquet`, and its description `<epoch>.json`, with the length of the
 * Parquet file and the CRCs of its footer and of all its bytes. The Parquet file counts only if the description agrees.
 */
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { UNFINISHED } from './durable.js';
import { openRegular, readSmall } from './regular-file.js';

const SIDECAR_VERSION = 1;
const CHUNK = 1 << 20;
/** The length of the footer, then "PAR1". */
const TAIL = 8;

/** A finished epoch on disk. */
export interface HistoryFile extends Sums {
  readonly epoch: bigint;
  /** Time range in ns since 1970: `from` inclusive, `to` exclusive. */
  readonly from: bigint;
  readonly to: bigint;
  readonly keyWrites: number;
  readonly slotWrites: number;
  /** Non-empty slots. */
  readonly rows: number;
  readonly path: string;
  /** CRC-32 over geometry and hashes of the store; files of early versions lack it. */
  readonly storeCrc?: number;
}

export function historyName(epoch: bigint): string {
  return String(epoch).padStart(20, '0');
}

/** Length and CRCs of a Parquet file; null if it is not whole. */
interface Sums {
  readonly bytes: number;
  readonly footerCrc: number;
  readonly crc: number;
}

/** Length and footer CRC of a file; the footer's length is at the end of the file. */
async function footerSum(path: string): Promise<{ bytes: number; footerCrc: number } | null> {
  const file = await openRegular(path);
  if (file === null) return null;
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

async function wholeSum(path: string): Promise<number | null> {
  const file = await openRegular(path);
  if (file === null) return null;
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
  const crc = await wholeSum(path);
  return footer === null || crc === null ? null : { ...footer, crc };
}

/** The path of a Parquet file's description. */
export function sidecarOf(path: string): string {
  return path.replace(/parquet$/, 'json');
}

/** The contents of the description. */
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
  const text = await readSmall(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (text === null) return null;
  try {
    const { sum, ...body } = JSON.parse(text) as Sidecar;
    if (crc32(JSON.stringify(body)) !== sum || body.version !== SIDECAR_VERSION) return null;
    const { version: _, ...file } = body;
    return { ...file, epoch: BigInt(file.epoch), from: BigInt(file.from), to: BigInt(file.to) };
  } catch {
    return null;
  }
}

async function differenceOf(file: HistoryFile, isThorough: boolean): Promise<string | null> {
  const footer = await footerSum(file.path);
  if (footer === null) return 'it does not end as a Parquet file does';
  if (footer.bytes !== file.bytes) return `it has ${footer.bytes} bytes, and was written with ${file.bytes}`;
  if (footer.footerCrc !== file.footerCrc) return 'its footer is not as it was written';
  if (isThorough && (await wholeSum(file.path)) !== file.crc) return 'its contents are not as they were written';
  return null;
}

/** A damaged file of the history. `path` is that of the Parquet file, even if it is gone. */
export interface UnsoundFile {
  readonly path: string;
  readonly epoch: bigint;
  readonly reason: string;
}

export interface Listing {
  /** Finished epochs, oldest first. */
  readonly files: HistoryFile[];
  readonly damaged: UnsoundFile[];
  /** Descriptions without a Parquet file: it was never finished, or is about to be removed. */
  readonly unfinished: string[];
}

/**
 * The finished epochs of a directory.
 *
 * @param isThorough whether to read every byte of every file, not only the ends
 * @param storeCrc the store's, see {@link HistoryFile}
 * @param isHeld tells whether checkpoints hold an epoch
 */
export async function listHistory(
  directory: string,
  isThorough: boolean,
  storeCrc: number,
  isHeld: (epoch: bigint) => boolean,
): Promise<Listing> {
  const listing: Listing = { files: [], damaged: [], unfinished: [] };
  const names = new Set(await readdir(directory));
  const epochs = [...names].flatMap((name) => /^(\d{20})\.(?:parquet|json)$/.exec(name)?.[1] ?? []);
  for (const name of [...new Set(epochs)].sort()) {
    const path = join(directory, `${name}.parquet`);
    const epoch = BigInt(name);
    const refuse = (reason: string): void => void listing.damaged.push({ path, epoch, reason });
    if (!names.has(`${name}.parquet`)) {
      const isUnfinished = names.has(`${name}.parquet${UNFINISHED}`) || isHeld(epoch);
      if (isUnfinished) listing.unfinished.push(sidecarOf(path));
      else refuse(`it is gone, and ${name}.json says what was in it`);
      continue;
    }
    const sidecar = await readSidecar(sidecarOf(path));
    if (sidecar === null) {
      refuse(`there is no ${name}.json, as it was written, that says what is in it`);
      continue;
    }
    const file = { ...sidecar, path };
    if (file.epoch !== epoch) refuse(`it is epoch ${file.epoch}, under another name`);
    else if (file.storeCrc !== undefined && file.storeCrc !== storeCrc) refuse('it is of another store');
    else {
      const difference = await differenceOf(file, isThorough);
      if (difference === null) listing.files.push(file);
      else refuse(difference);
    }
  }
  return listing;
}

/** Reads every byte of a file. Returns a description of the damage, or null. */
export function faultOf(file: HistoryFile): Promise<string | null> {
  return differenceOf(file, true);
}

export async function removeHistoryFile({ path }: HistoryFile): Promise<void> {
  // The order matters: a crash between two steps must not look like a lost file.
  await rename(path, `${path}${UNFINISHED}`).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  await rm(sidecarOf(path), { force: true });
  await rm(`${path}${UNFINISHED}`, { force: true });
}
