/** `store.json`: what a directory was made for. Slots mean nothing without the hashes that chose them. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type FamilyName, LAYOUT_VERSION } from '../layout.js';
import { type DartStoreOptions, resolveOptions } from '../store/options.js';
import { writeDurably } from './durable.js';
import { DartStoreError } from './errors.js';

/** Number of this form of directory: names and forms of all files in it. */
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
  /** By name and by number: a family whose parameters change is another one. */
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
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  let manifest: Partial<Manifest> | null;
  try {
    manifest = JSON.parse(text) as Partial<Manifest> | null;
  } catch (error) {
    throw new DartStoreError('DAMAGED', `${path} is no JSON`, path, error);
  }
  if (manifest?.format !== FORMAT || typeof manifest.hash !== 'object' || manifest.hash === null) {
    throw new DartStoreError('DAMAGED', `${path} describes no store`, path);
  }
  if (manifest.version !== DIRECTORY_VERSION || manifest.layout !== LAYOUT_VERSION) {
    const found = `version ${manifest.version}, layout ${manifest.layout}`;
    throw new DartStoreError(
      'VERSION',
      `${path} has ${found}; known are ${DIRECTORY_VERSION}, ${LAYOUT_VERSION}`,
      path,
    );
  }
  return manifest as Manifest;
}

/** Options that are in the manifest; those the caller left out are taken from there. */
function complete(options: DartStoreOptions, found: Manifest): DartStoreOptions {
  const sized = options.slots !== undefined || options.memory !== undefined;
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

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/**
 * Finds out what a directory was made for, or makes it for what is asked.
 *
 * @returns the options with all that was left out taken from the directory
 * @throws DartStoreError `MISMATCH`, `VERSION` or `DAMAGED`
 * @throws RangeError for an option out of range
 */
export async function agree(directory: string, options: DartStoreOptions): Promise<DartStoreOptions> {
  const path = join(directory, 'store.json');
  const found = await read(path);
  if (found === null) {
    await writeDurably(path, `${JSON.stringify(manifestOf(options), null, 2)}\n`);
    return options;
  }
  const completed = complete(options, found);
  const asked = manifestOf(completed);
  for (const name of Object.keys(asked) as (keyof Manifest)[]) {
    if (isSame(asked[name], found[name])) continue;
    const difference = `${name} is ${JSON.stringify(found[name])}, not ${JSON.stringify(asked[name])}`;
    throw new DartStoreError('MISMATCH', `${directory} was made for another store: ${difference}`, path);
  }
  return completed;
}
