import { StreamError } from '../errors.js';
import type { ByteFields } from './fields.js';
import { ByteReader } from './reader.js';
import { ByteWriter } from './writer.js';

/** First byte of each piece of state: the version of its layout. */
const STATE_VERSION = 1;

/**
 * A reader behind the version of a piece of state.
 * @throws StreamError for another version
 */
export function stateReader(value: Uint8Array): ByteReader {
  const reader = new ByteReader(value);
  const version = reader.byte();
  if (version !== STATE_VERSION)
    throw new StreamError('ERR_STREAM_VERSION', 0, `state ${version}, not ${STATE_VERSION}`);
  return reader;
}

/** Puts an empty writer behind the version of a piece of state. */
export function stateWriter(writer: ByteWriter = new ByteWriter()): ByteWriter {
  writer.byte(STATE_VERSION);
  return writer;
}

/**
 * Passes options of a side.
 * @throws StreamError if the side that has written the state had others
 */
export function passOptions(fields: ByteFields, options: Readonly<Record<string, number>>): void {
  for (const [name, own] of Object.entries(options)) {
    const { offset } = fields;
    const other = fields.number(own);
    if (other !== own) throw new StreamError('ERR_STREAM_MISMATCH', offset, `${name} was ${other}, and is ${own}`);
  }
}
