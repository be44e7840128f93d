import { StreamError } from '../errors.js';
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

/** A writer behind the version of a piece of state. */
export function stateWriter(): ByteWriter {
  const writer = new ByteWriter();
  writer.byte(STATE_VERSION);
  return writer;
}
