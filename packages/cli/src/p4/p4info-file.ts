import { fromBinary } from '@bufbuild/protobuf';
import { p4config, parseText, TextFormatError } from '@int/p4runtime';
import { readRegular } from '../input/text-file.js';
import { CliError, EXIT, type Io } from '../io.js';

const P4INFO = { name: 'P4Info', mostBytes: 1 << 26 } as const;

/**
 * Reads P4Info from a file: text, or binary with the ending `.bin`.
 *
 * @throws CliError 3 if the file cannot be read, 1 if it is no P4Info
 */
export async function readP4Info(path: string, io: Io): Promise<p4config.P4Info> {
  const bytes = await readRegular(path, P4INFO, io.signal);
  try {
    if (path.endsWith('.bin')) return fromBinary(p4config.P4InfoSchema, bytes);
  } catch (error) {
    throw new CliError(`${path}: this is no binary P4Info`, EXIT.INPUT, error);
  }
  try {
    return parseText(p4config.P4InfoSchema, bytes.toString('utf8'));
  } catch (error) {
    if (!TextFormatError.is(error)) throw error;
    throw new CliError(`${path}:${error.message}`, EXIT.INPUT, error);
  }
}
