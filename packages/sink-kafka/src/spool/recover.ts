import { closeSync, fstatSync, openSync, readdirSync, readFileSync, renameSync, statSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { perKind } from '../parcel.js';
import { ASIDE, type Damage, isForeign, newSegment, noteGap, readName, type Segment, scanSegment } from './segment.js';

/** What an earlier process has left. */
export interface Found {
  /** Oldest first. */
  readonly segments: Segment[];
  /** The number of the next segment. */
  readonly next: number;
  /** Messages of all chunks so far, by number of the kind. */
  readonly counts: readonly number[];
  readonly damage: Damage;
  /** Whether the file that says what was consumed cannot be read: what was sent may be sent again. */
  readonly isPositionDamaged: boolean;
}

/** The name of the file that says how far the segments are consumed: number of a segment and offset in it. */
export const POSITION = 'position';

/**
 * Finds the chunks in a folder, in which nothing is changed but that segments that were consumed are removed, and those that
 * cannot be read as their name is not understood are set aside.
 * @throws the system's errors
 */
export function recover(folder: string): Found {
  const position = readPosition(folder);
  const damage: Damage = { bytes: 0, messages: perKind(), cutBytes: 0 };
  const segments: Segment[] = [];
  const files = readdirSync(folder);
  for (const file of files) if (isForeign(file)) damage.bytes += setAside(folder, file);
  const names = files.flatMap((name) => readName(name) ?? []).sort((a, b) => a.number - b.number);
  let counts: readonly number[] | null = null;
  let base = 0;
  for (const { before, number } of names) {
    const segment = newSegment(folder, number, before, base);
    if (number < position.segment) {
      unlinkSync(segment.path);
      continue;
    }
    const file = openSync(segment.path, 'r');
    try {
      if (number === position.segment) segment.at = Math.min(position.offset, fstatSync(file).size);
      if (counts !== null) noteGap(counts, before, damage);
      counts = scanSegment(segment, file, number === names.at(-1)!.number, damage);
    } finally {
      closeSync(file);
    }
    if (segment.at >= segment.size) {
      unlinkSync(segment.path);
      continue;
    }
    base += segment.size;
    segments.push(segment);
  }
  return {
    segments,
    next: Math.max(position.segment, names.at(-1)?.number ?? 0) + 1,
    counts: counts ?? [...perKind()],
    damage,
    isPositionDamaged: position.isDamaged,
  };
}

/** Sets a file aside that is named as a segment of another version. @returns its bytes */
function setAside(folder: string, file: string): number {
  const path = join(folder, file);
  const { size } = statSync(path);
  renameSync(path, `${path}${ASIDE}`);
  return size;
}

function readPosition(folder: string): { segment: number; offset: number; isDamaged: boolean } {
  let text: string;
  try {
    text = readFileSync(join(folder, POSITION), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return { segment: 0, offset: 0, isDamaged: false };
  }
  const match = /^(\d{1,15}) (\d{1,15})\n$/.exec(text);
  if (match === null) return { segment: 0, offset: 0, isDamaged: true };
  return { segment: Number(match[1]), offset: Number(match[2]), isDamaged: false };
}
