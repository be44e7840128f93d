/** Writing files so that after a crash each is whole or absent. */
import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Suffix of a file that is not yet whole. */
export const UNFINISHED = '.tmp';

/** Makes the names in a directory durable. Some platforms cannot open one; they order the names themselves. */
export async function syncDirectory(path: string): Promise<void> {
  let directory: Awaited<ReturnType<typeof open>>;
  try {
    directory = await open(path, 'r');
  } catch {
    return;
  }
  try {
    await directory.sync();
  } catch {
    // As above: these platforms offer no way.
  } finally {
    await directory.close();
  }
}

/** Makes the bytes of a file durable. */
export async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Gives a durable file its final name, durably. */
export async function publish(unfinished: string, path: string): Promise<void> {
  await rename(unfinished, path);
  await syncDirectory(dirname(path));
}

/** Writes a small file durably. After a crash it is whole or absent. */
export async function writeDurably(path: string, contents: string): Promise<void> {
  const unfinished = `${path}${UNFINISHED}`;
  const file = await open(unfinished, 'w');
  try {
    await file.writeFile(contents);
    await file.sync();
  } finally {
    await file.close();
  }
  await publish(unfinished, path);
}
