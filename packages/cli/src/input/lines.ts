import { StringDecoder } from 'node:string_decoder';

/** Most characters of a line. */
const MAX_LINE = 1 << 26;

/**
 * Splits a stream of UTF-8 text into lines, without line ends. The last line may lack its end.
 * @throws RangeError for a line beyond 2^26 characters
 */
export async function* readLines(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string[], void, undefined> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const chunk of stream) {
    const lines = decoder.write(chunk as Buffer).split('\n');
    lines[0] = rest + lines[0]!;
    rest = lines.pop()!;
    if (rest.length > MAX_LINE) throw new RangeError('a line is longer than 64 Mi characters: this is no NDJSON');
    yield lines;
  }
  rest += decoder.end();
  if (rest !== '') yield [rest];
}
