import { gunzipIfNeeded } from '@int/pcap/node';
import { CliError, EXIT, type Io, openFailure } from '../io.js';
import { openInput } from './capture-frames.js';
import { firstBytes, replay } from './first-bytes.js';

type Read = (input: AsyncIterable<Uint8Array>) => Promise<void>;

/**
 * Reads a file that has lines or is a capture, also gzip, or standard input for `-`. An empty one has neither.
 *
 * @param beginsLines whether lines begin with this byte
 * @throws CliError if it cannot be opened or read; what the readers throw of that kind
 */
export async function readLinesOrCapture(
  path: string,
  io: Io,
  beginsLines: (byte: number) => boolean,
  readers: { readonly lines: Read; readonly capture: Read },
): Promise<void> {
  const input = await openInput(path, io);
  const chunks = gunzipIfNeeded(input)[Symbol.asyncIterator]();
  try {
    const first = await firstBytes(chunks);
    if (first === null) return;
    await (beginsLines(first.byte) ? readers.lines : readers.capture)(replay(first.chunks, chunks));
  } catch (error) {
    if (error instanceof CliError) throw error;
    if (io.signal.aborted) return;
    throw new CliError(`cannot read ${path}: ${openFailure(error)}`, EXIT.OPEN, error);
  } finally {
    input.destroy();
  }
}
