import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';

/** Size of a block; headers and contents of a tar archive start at multiples of it. POSIX.1-2017, pax, ustar format. */
const BLOCK = 512;

/**
 * Unpacks a tarball that `npm pack` wrote: its files, without the folder `package/` around them. No program is needed
 * for it, so that the tests run on a machine with only Node.
 *
 * @throws Error for an entry that is neither a file nor a pax header, as npm writes no other
 */
export function unpack(tarball: Uint8Array, folder: string): void {
  const archive = gunzipSync(tarball);
  const text = (start: number, length: number): string =>
    archive.toString('utf8', start, start + length).replace(/\0.*$/s, '');

  /** A path too long for a header comes in an entry before it. */
  let longPath: string | undefined;
  for (let at = 0; at < archive.length && archive[at] !== 0; ) {
    const size = Number.parseInt(text(at + 124, 12), 8);
    const type = text(at + 156, 1);
    const prefix = text(at + 345, 155);
    const path = longPath ?? (prefix === '' ? '' : `${prefix}/`) + text(at, 100);
    const start = at + BLOCK;
    at = start + Math.ceil(size / BLOCK) * BLOCK;

    if (type === 'x') {
      longPath = /^\d+ path=(.*)$/m.exec(archive.toString('utf8', start, start + size))?.[1];
    } else if (type === '0' || type === '') {
      const file = join(folder, path.slice(path.indexOf('/') + 1));
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, archive.subarray(start, start + size));
      longPath = undefined;
    } else if (type !== 'g') {
      throw new Error(`${path}: a tar entry of type ${type}`);
    }
  }
}
