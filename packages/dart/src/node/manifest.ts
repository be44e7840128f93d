/** `store.json`: the geometry and hashes of a directory. Without the hashes that chose them, slots mean nothing. */
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { type FamilyName, LAYOUT_VERSION } from '../layout.js';
import { type DartStoreOptions, resolveOptions } from '../store/options.js';
import { writeDurably } from './durable.js';
import { DartStoreError } from './errors.js';
import { readSmall } from './regular-file.js';

/** Version of the directory: the names and formats of all files in it. */
const DIRECTORY_VERSION = 1;
const FORMAT = 'dart-store';

/** The contents of `store.json`. */
interface Manifest {
  readonly format: typeof FORMAT;
  readonly version: number;
  /** Layout of the slots. */
  readonly layout: number;
  readonly slots: number;
  readonly valueBytes: number;
  readonly checksumBits: number;
  readonly copies: number;
  readonly collectors: number;
  readonly collector: number;
  /** The hash family and its parameters. A family with other parameters is another one. */
  readonly hash: {
    readonly family: FamilyName;
    readonly seed: number;
    readonly slots: readonly number[];
    readonly checksum: number;
    readonly collector: number;
  };
}

function manifestOf(options: DartStoreOptions): Manifest {
  const { geometry, parameters, collectors, collector } = resolveOptions(options);
  const { slots, valueBytes, checksumBits, copies } = geometry;
  const seed = parameters.family === 'xxhash' ? (options.seed ?? 0) : 0;
  const hash = { family: parameters.family, seed, slots: [...parameters.slots] };
  return {
    format: FORMAT,
    version: DIRECTORY_VERSION,
    layout: LAYOUT_VERSION,
    slots,
    valueBytes,
    checksumBits,
    copies,
    collectors,
    collector,
    hash: { ...hash, checksum: parameters.checksum, collector: parameters.collector },
  };
}

async function read(path: string): Promise<Manifest | null> {
  let text: string | null;
  try {
    text = await readSmall(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  if (text === null) throw new DartStoreError('ERR_DART_DAMAGED', `${path} is no regular file, or far too large`, path);
  let manifest: (Partial<Manifest> & { readonly sum?: number }) | null;
  try {
    manifest = JSON.parse(text) as typeof manifest;
  } catch (error) {
    throw new DartStoreError('ERR_DART_DAMAGED', `${path} is no JSON`, path, error);
  }
  if (manifest?.format !== FORMAT || typeof manifest.hash !== 'object' || manifest.hash === null) {
    throw new DartStoreError('ERR_DART_DAMAGED', `${path} describes no store`, path);
  }
  const { sum, ...body } = manifest;
  if (manifest.version !== DIRECTORY_VERSION || manifest.layout !== LAYOUT_VERSION) {
    const found = `version ${manifest.version}, layout ${manifest.layout}`;
    throw new DartStoreError(
      'ERR_DART_VERSION',
      `${path} has ${found}; known are ${DIRECTORY_VERSION}, ${LAYOUT_VERSION}`,
      path,
    );
  }
  // Early manifests have no sum.
  if (sum !== undefined && sum !== crc32(JSON.stringify(body))) {
    throw new DartStoreError('ERR_DART_DAMAGED', `${path} is not as it was written`, path);
  }
  return body as Manifest;
}

/** The options of the manifest, with those of the caller over them. */
function complete(options: DartStoreOptions, found: Manifest): DartStoreOptions {
  const sized = options.slots !== undefined || options.memoryBytes !== undefined;
  return {
    ...options,
    ...(sized ? {} : { slots: found.slots }),
    valueBytes: options.valueBytes ?? found.valueBytes,
    checksumBits: options.checksumBits ?? found.checksumBits,
    copies: options.copies ?? found.copies,
    collectors: options.collectors ?? found.collectors,
    collector: options.collector ?? found.collector,
    hash: options.hash ?? found.hash.family,
    seed: options.seed ?? found.hash.seed,
  };
}

/** A description of the first difference; null if there is none. */
function differenceOf(asked: Manifest, found: Manifest): string | null {
  for (const name of Object.keys(asked) as (keyof Manifest)[]) {
    const [one, other] = [JSON.stringify(found[name]), JSON.stringify(asked[name])];
    if (one !== other) return `${name} is ${one}, not ${other}`;
  }
  return null;
}

/** Folders of a store. */
const FOLDERS = ['live', 'history'] as const;

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/** @throws DartStoreError `ERR_DART_DAMAGED` if a store lacks one of its folders */
async function checkFolders(directory: string): Promise<void> {
  for (const name of FOLDERS) {
    const path = join(directory, name);
    if (!(await isFolder(path)))
      throw new DartStoreError('ERR_DART_DAMAGED', `${path}, a folder of the store, is gone`, path);
  }
}

/**
 * Makes the folders of a new store.
 *
 * @throws DartStoreError `ERR_DART_DAMAGED` if an existing store lacks one of them
 */
export async function makeFolders(directory: string): Promise<void> {
  if ((await read(join(directory, 'store.json'))) !== null) await checkFolders(directory);
  else for (const name of FOLDERS) await mkdir(join(directory, name), { recursive: true });
}

/** CRC-32 over a store's geometry and hashes. Stores with different sums interpret slots differently. */
export function storeSum(options: DartStoreOptions): number {
  return crc32(JSON.stringify(manifestOf(options)));
}

/**
 * The options that a directory was made with.
 *
 * @throws DartStoreError `ERR_DART_NO_STORE`, `ERR_DART_VERSION` or `ERR_DART_DAMAGED`
 */
export async function madeFor(directory: string): Promise<DartStoreOptions> {
  const path = join(directory, 'store.json');
  const found = await read(path);
  if (found === null) throw new DartStoreError('ERR_DART_NO_STORE', `there is no store in ${directory}`, path);
  const options = complete({}, found);
  let made: Manifest;
  try {
    made = manifestOf(options);
  } catch (error) {
    if (!(error instanceof RangeError || error instanceof TypeError)) throw error;
    throw new DartStoreError('ERR_DART_DAMAGED', `${path} describes no store: ${error.message}`, path, error);
  }
  const difference = differenceOf(made, found);
  if (difference !== null)
    throw new DartStoreError('ERR_DART_DAMAGED', `${path} contradicts itself: ${difference}`, path);
  await checkFolders(directory);
  return options;
}

/**
 * Reads the options that a directory was made with, or makes it with the given ones.
 *
 * @returns the options, completed from the directory
 * @throws DartStoreError `ERR_DART_MISMATCH`, `ERR_DART_VERSION` or `ERR_DART_DAMAGED`
 * @throws RangeError for an option out of range
 */
export async function agree(directory: string, options: DartStoreOptions): Promise<DartStoreOptions> {
  const path = join(directory, 'store.json');
  const found = await read(path);
  if (found === null) {
    const made = manifestOf(options);
    await writeDurably(path, `${JSON.stringify({ ...made, sum: crc32(JSON.stringify(made)) }, null, 2)}\n`);
    return options;
  }
  const completed = complete(options, found);
  const difference = differenceOf(manifestOf(completed), found);
  if (difference === null) return completed;
  throw new DartStoreError('ERR_DART_MISMATCH', `${directory} was made for another store: ${difference}`, path);
}
