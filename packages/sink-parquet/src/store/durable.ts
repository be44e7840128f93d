import { mkdir, open, rename, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Writes what the system holds of a file or folder to the disk. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } catch (error) {
    // Some file systems know no sync of folders.
    if ((error as NodeJS.ErrnoException).code !== 'EINVAL') throw error;
  } finally {
    await handle.close();
  }
}

/** Makes a folder and makes sure that it is there after a crash. */
async function durableFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true });
  if (first === undefined) return;
  for (let made = path; made.length >= first.length; made = dirname(made)) await syncPath(dirname(made));
}

/** Moves a file that is written to where it is seen: whole or not at all, also after a crash. */
export async function publish(from: string, folder: string, file: string): Promise<void> {
  await syncPath(from);
  await durableFolder(folder);
  await rename(from, join(folder, file));
  await syncPath(folder);
}

export async function remove(path: string): Promise<void> {
  await unlink(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
}
