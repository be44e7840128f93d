/** Opening the folder of a store, with messages for errors. */
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { DartStoreError, type DartStoreErrorCode, EpochStore, type EpochStoreOptions } from '@int/dart/node';
import { CliError, EXIT, MOST_TOLD, openFailure } from '../io.js';
import { type StoreFlags, storeOptions } from './options.js';

/** Default bytes of slots of a new store. */
const DEFAULT_MEMORY = 64 * 2 ** 20;

const EXIT_OF: Partial<Record<DartStoreErrorCode, number>> = {
  // The store is valid; the options do not match it.
  ERR_DART_MISMATCH: EXIT.USAGE,
  ERR_DART_DAMAGED: EXIT.INPUT,
  ERR_DART_VERSION: EXIT.INPUT,
};

const HINTS: Partial<Record<DartStoreErrorCode, string>> = {
  ERR_DART_NO_STORE: 'int dart write or int dart listen makes one',
};

async function hasStore(directory: string): Promise<boolean> {
  try {
    await access(join(directory, 'store.json'));
    return true;
  } catch {
    return false;
  }
}

/** Converts an error of a store into one of the command. */
export function storeFailure(error: unknown, directory: string): CliError {
  if (DartStoreError.is(error)) {
    const hint = HINTS[error.code];
    const message = hint === undefined ? error.message : `${error.message}: ${hint}`;
    return new CliError(message, EXIT_OF[error.code] ?? EXIT.OPEN, error);
  }
  if (error instanceof RangeError) {
    return new CliError(`cannot make the store ${directory}: ${error.message}`, EXIT.USAGE, error);
  }
  if (error instanceof CliError) return error;
  return new CliError(`cannot use ${directory}: ${openFailure(error)}`, EXIT.OPEN, error);
}

/** Reports problems of an open store: only the first ones, because a full disk causes one every second. */
export class StoreTrouble {
  count = 0;
  readonly #tell: (message: string) => void;

  constructor(tell: (message: string) => void) {
    this.#tell = tell;
  }

  readonly onError = ({ message }: Error): void => {
    this.count++;
    if (this.count <= MOST_TOLD) this.#tell(message);
    if (this.count === MOST_TOLD) this.#tell('what else goes wrong with the store is only counted');
  };
}

/** Opens a store for writing, or makes it. @throws CliError */
export async function openStore(flags: StoreFlags, options: EpochStoreOptions = {}): Promise<EpochStore> {
  const { store: directory } = flags;
  try {
    const shape = storeOptions(flags);
    const isSized = shape.slots !== undefined || shape.memoryBytes !== undefined;
    const size = isSized || (await hasStore(directory)) ? {} : { memoryBytes: DEFAULT_MEMORY };
    return await EpochStore.open(directory, { ...size, ...shape, ...options });
  } catch (error) {
    throw storeFailure(error, directory);
  }
}
