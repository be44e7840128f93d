/** Opening files that others may have replaced: reading a pipe would wait, and a device has no end. */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** Size limit. Descriptions of stores and epochs have less than 2 KiB. */
const SMALL = 64 * 1024;

/** Opens a file for reading without waiting. @returns null if it is not a regular file */
export async function openRegular(path: string): Promise<FileHandle | null> {
  // Windows lacks O_NONBLOCK. There, a path does not name a pipe by accident.
  const { O_RDONLY, O_NONBLOCK = 0 } = constants;
  let file: FileHandle;
  try {
    file = await open(path, O_RDONLY | O_NONBLOCK);
  } catch (error) {
    // A socket.
    if ((error as NodeJS.ErrnoException).code === 'ENXIO') return null;
    throw error;
  }
  let isRegular = false;
  try {
    isRegular = (await file.stat()).isFile();
  } finally {
    if (!isRegular) await file.close();
  }
  return isRegular ? file : null;
}

/** The text of a small file. @returns null if it is not a regular file or not small */
export async function readSmall(path: string): Promise<string | null> {
  const file = await openRegular(path);
  if (file === null) return null;
  try {
    return (await file.stat()).size > SMALL ? null : await file.readFile('utf8');
  } finally {
    await file.close();
  }
}
