/** Option parsers of `int dart`. */
import type { DartStoreOptions, FamilyName, Policy } from '@int/dart';
import { FAMILIES, MAX_COPIES, MAX_VALUE_BYTES } from '@int/dart/internals';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { BYTES } from '../config/quantities.js';
import { given } from '../given.js';
import { wholeNumber } from '../options.js';

/** An option parser for `single`, `plurality` or `consensus:M`. */
function policy(text: string): Policy {
  if (text === 'single' || text === 'plurality') return text;
  const match = /^consensus:([1-9]\d{0,2})$/.exec(text);
  const slots = Number(match?.[1]);
  if (match === null || slots > MAX_COPIES) {
    throw new InvalidArgumentError(`Give single, plurality or consensus:M with M from 1 to ${MAX_COPIES}.`);
  }
  return { consensus: slots };
}

export function policyText(value: Policy): string {
  return typeof value === 'string' ? value : `consensus:${value.consensus}`;
}

const SIZE = /^(\d+(?:\.\d+)?)(|B|kB|MB|GB|TB|KiB|MiB|GiB|TiB)$/;
/** An option parser for bytes: `65536`, `64KiB`, `1.5GiB`, `2GB`. */
function byteSize(text: string): number {
  const match = SIZE.exec(text);
  const value = match === null ? Number.NaN : Math.floor(Number(match[1]) * (BYTES[match[2]!] ?? 1));
  if (!(value >= 1 && value <= 2 ** 48)) {
    throw new InvalidArgumentError('Give bytes, such as 65536, 64KiB, 1.5GiB or 2GB.');
  }
  return value;
}

/** An option parser for a fraction strictly between 0 and 1, also as a percentage: `0.999`, `99.9%`. */
export function fraction(text: string): number {
  const match = /^(\d*\.?\d+(?:[eE]-?\d+)?)(%?)$/.exec(text);
  const value = match === null ? Number.NaN : Number(match[1]) / (match[2] === '%' ? 100 : 1);
  if (!(value > 0 && value < 1)) throw new InvalidArgumentError('Give a fraction between 0 and 1, or a percentage.');
  return value;
}

/** An option parser for up to 64 bits, decimal or 0x hexadecimal. */
export function address64(text: string): bigint {
  const value = /^(0[xX][0-9a-fA-F]{1,16}|\d{1,20})$/.test(text) ? BigInt(text) : -1n;
  if (value < 0n || value >= 1n << 64n) throw new InvalidArgumentError('Give an address of 64 bits, such as 0x10000.');
  return value;
}

export function hexBytes(text: string): Uint8Array {
  const digits = /^(?:0[xX])?((?:[0-9a-fA-F]{2})+)$/.exec(text)?.[1];
  if (digits === undefined) throw new InvalidArgumentError('Give an even number of hexadecimal digits.');
  return Buffer.from(digits, 'hex');
}

/**
 * An option parser for a time: nanoseconds since 1970, or an ISO 8601 date and time. Returns nanoseconds since 1970.
 */
export function moment(text: string): bigint {
  if (/^\d{16,20}$/.test(text)) return BigInt(text);
  const match = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/.test(text);
  const ms = match ? Date.parse(text.replace(' ', 'T')) : Number.NaN;
  if (!(ms >= 0)) {
    throw new InvalidArgumentError('Give a time such as 2026-11-21T12:00:00Z, or nanoseconds since 1970.');
  }
  return BigInt(ms) * 1_000_000n;
}

/** Values of the options for a store's geometry, parsed by commander. */
export interface ShapeFlags {
  readonly valueBytes?: number;
  readonly checksumBits?: number;
  readonly copies?: number;
  readonly hash?: FamilyName;
  readonly seed?: number;
}

export function copiesOption(): Option {
  return new Option('--copies <N>', `N: slots of a key, 1 to ${MAX_COPIES} (2)`).argParser(
    wholeNumber('a number of copies', 1, MAX_COPIES),
  );
}

export function valueBytesOption(): Option {
  return new Option('--value-bytes <V>', 'bytes of a value (20: five switches)').argParser(
    wholeNumber('bytes of a value', 1, MAX_VALUE_BYTES),
  );
}

export function checksumBitsOption(): Option {
  return new Option('--checksum-bits <B>', 'bits of the checksum in a slot, 8 to 32 (32)').argParser(
    wholeNumber('bits of a checksum', 8, 32),
  );
}

export function policyOption(): Option {
  return new Option('--policy <P>', 'how slots decide: single, plurality or consensus:M (plurality)').argParser(policy);
}

export function addHashOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--hash <NAME>', 'xxhash for software writers; crc where P4 switches write (xxhash)').choices(
        FAMILIES,
      ),
    )
    .option('--seed <S>', 'chooses the hashes of xxhash, 32 bits (0)', wholeNumber('a seed', 0, 0xffff_ffff));
}

/** Values of the options that make a store, parsed by commander. */
export interface StoreFlags extends ShapeFlags {
  readonly store: string;
  readonly slots?: number;
  readonly memory?: number;
}

/** Adds the options that name a store and define a new one. */
export function addStoreOptions(command: Command): Command {
  command
    .requiredOption('--store <DIR>', 'folder of the store; made if it is not there')
    .addOption(
      new Option('--memory <SIZE>', 'of a new store: bytes of slots, such as 64MiB (64MiB)')
        .argParser(byteSize)
        .conflicts('slots'),
    )
    .option('--slots <M>', 'of a new store: slots', wholeNumber('slots', 1, 0xffff_ffff))
    .addOption(copiesOption())
    .addOption(valueBytesOption())
    .addOption(checksumBitsOption());
  return addHashOptions(command);
}

/** Options of a new store, which an existing one must match. Options that were not given are omitted. */
export function storeOptions(flags: StoreFlags): DartStoreOptions {
  const { slots, memory, valueBytes, checksumBits, copies, hash, seed } = flags;
  return given({ slots, memoryBytes: memory, valueBytes, checksumBits, copies, hash, seed });
}
