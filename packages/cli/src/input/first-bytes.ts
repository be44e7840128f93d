/** Looking at the beginning of an input to see what it is. */

const BLANK = new Set([0x09, 0x0a, 0x0d, 0x20]);

/** Reads up to the first character that is not blank. @returns null if there is none */
export async function firstBytes(
  chunks: AsyncIterator<Uint8Array>,
): Promise<{ readonly byte: number; readonly chunks: Uint8Array[] } | null> {
  const read: Uint8Array[] = [];
  for (;;) {
    const { done, value } = await chunks.next();
    if (done === true) return null;
    read.push(value);
    const byte = value.find((each) => !BLANK.has(each));
    if (byte !== undefined) return { byte, chunks: read };
  }
}

/** The chunks that were read to see the first byte, and the rest. */
export async function* replay(
  read: readonly Uint8Array[],
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* read;
  for (;;) {
    const { done, value } = await rest.next();
    if (done === true) return;
    yield value;
  }
}
