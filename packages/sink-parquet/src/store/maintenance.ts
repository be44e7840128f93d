import { rename, rmdir, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { FileWriter } from '../engine/file-writer.js';
import { TABLE_NAMES } from '../table/table.js';
import { SCHEMA_TABLES } from '../table/tables.js';
import { checksumOf, faultOf, sealedName, sumInName } from './checksum.js';
import { publish, remove, syncPath } from './durable.js';
import { damagedName, type Partition, readPartitions, replacesName } from './layout.js';
import type { Workplace } from './workplace.js';

const HOUR_MS = 3_600_000;

/** What maintenance did. */
export interface MaintenanceResult {
  /** Files that were merged into others. */
  readonly merged: number;
  /** Files that were made of them. */
  readonly made: number;
  /** Files removed because they are too old or too many. */
  readonly expired: number;
  /** Files that were not as they had been written, and were set aside. */
  readonly damaged: number;
}

/** What is to be done, and when. */
export interface MaintenanceOptions {
  readonly compaction: { readonly targetBytes: number; readonly afterMs: number; readonly graceMs: number } | null;
  readonly retention: { readonly ageMs?: number; readonly bytes?: number };
  readonly now: () => number;
  /** Gives the name of a new file, without kind and ending. */
  readonly nextName: () => string;
  /** The hour that is written to now: where a clock was set back, it is not the newest one. */
  readonly currentHour: () => number | null;
  /** Told of a file that was set aside, by its new path. */
  readonly onDamaged: (path: string, reason: string) => void;
}

interface SizedFile {
  readonly name: string;
  readonly bytes: number;
}

async function sizes({ path, files }: Partition): Promise<SizedFile[]> {
  const sized: SizedFile[] = [];
  for (const name of files) {
    const found = await stat(join(path, name)).catch(() => null);
    if (found !== null) sized.push({ name, bytes: found.size });
  }
  return sized;
}

/** Neighbours that fit into one file of `targetBytes`; files above half of that stay alone. */
export function groupsToMerge(files: readonly SizedFile[], targetBytes: number): SizedFile[][] {
  const groups: SizedFile[][] = [];
  let group: SizedFile[] = [];
  let bytes = 0;
  for (const file of files) {
    if (file.bytes > targetBytes / 2) continue;
    if (bytes + file.bytes > targetBytes) {
      groups.push(group);
      group = [];
      bytes = 0;
    }
    group.push(file);
    bytes += file.bytes;
  }
  groups.push(group);
  return groups.filter((each) => each.length > 1);
}

/** Merges small files of hours that are over, and removes hours that are too old or too many. */
export class Maintenance {
  readonly #directory: string;
  readonly #writer: FileWriter;
  readonly #workplace: Workplace;
  readonly #options: MaintenanceOptions;
  #isStopped = false;

  constructor(directory: string, writer: FileWriter, workplace: Workplace, options: MaintenanceOptions) {
    this.#directory = directory;
    this.#writer = writer;
    this.#workplace = workplace;
    this.#options = options;
  }

  /** Begins nothing more. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Does what is due. Nothing, if another sink maintains this store. */
  async run(): Promise<MaintenanceResult> {
    const result = { merged: 0, made: 0, expired: 0, damaged: 0 };
    if (!(await this.#workplace.maintains())) return result;
    result.expired = await this.#retain();
    for (const table of TABLE_NAMES) {
      for (const partition of await readPartitions(this.#directory, table)) {
        await this.#finish(partition);
        await this.#compact(partition, result);
      }
    }
    return result;
  }

  /** Removes what earlier merges have left. */
  async #finish({ path, replaced, stale }: Partition): Promise<void> {
    for (const name of stale) await remove(join(path, name));
    const graceMs = this.#options.compaction?.graceMs ?? 0;
    for (const [file, olds] of replaced) {
      const list = join(path, replacesName(file));
      const age = Date.now() - (await stat(list)).mtimeMs;
      // The clock was set back: the time begins anew, instead of when the clock is there again.
      if (age < 0) await utimes(list, new Date(), new Date());
      if (age < graceMs) continue;
      for (const old of olds) await remove(join(path, old));
      // The list goes last: until then nobody reads a row twice.
      await syncPath(path);
      await remove(list);
    }
  }

  /** Merges files of an hour, and adds what it did to `result`. */
  async #compact(partition: Partition, result: { merged: number; made: number; damaged: number }): Promise<void> {
    const { compaction, now } = this.#options;
    if (compaction === null || (partition.hour + 1) * HOUR_MS + compaction.afterMs > now()) return;
    // A file that has just replaced others waits until they are gone: else a crash could bring them back.
    const files = (await sizes(partition)).filter(({ name }) => !partition.replaced.has(name));
    for (const group of groupsToMerge(files, compaction.targetBytes)) {
      const sound: SizedFile[] = [];
      for (const file of group) {
        if (this.#isStopped) return;
        if (await this.#isSound(partition, file.name)) sound.push(file);
        else result.damaged++;
      }
      for (const [units, alike] of await this.#byUnits(partition, sound)) {
        if (alike.length < 2) continue;
        await this.#merge(partition, alike, units);
        result.merged += alike.length;
        result.made++;
      }
    }
  }

  /** The files by the units of their numbers: those of one file are in the same. */
  async #byUnits({ path }: Partition, files: readonly SizedFile[]): Promise<Map<string | null, SizedFile[]>> {
    const byUnits = new Map<string | null, SizedFile[]>();
    if (files.length < 2) return byUnits;
    const units = await this.#writer.unitsOf(files.map(({ name }) => join(path, name)));
    files.forEach((file, index) => {
      const alike = byUnits.get(units[index]!);
      if (alike === undefined) byUnits.set(units[index]!, [file]);
      else alike.push(file);
    });
    return byUnits;
  }

  /** Whether a file is as it was written; one that is not gets another name: it would become part of a good one. */
  async #isSound({ path }: Partition, name: string): Promise<boolean> {
    const reason = await faultOf(join(path, name), sumInName(name));
    if (reason === null) return true;
    await rename(join(path, name), join(path, damagedName(name)));
    await syncPath(path);
    this.#options.onDamaged(join(path, damagedName(name)), reason);
    return false;
  }

  async #merge({ table, path }: Partition, files: readonly SizedFile[], units: string | null): Promise<void> {
    const stem = `pack-${this.#options.nextName()}`;
    const written = this.#workplace.file(`${stem}.parquet`);
    const list = this.#workplace.file(`${stem}.replaces`);
    let name: string;
    try {
      await this.#writer.merge(
        SCHEMA_TABLES[table],
        files.map((file) => join(path, file.name)),
        written,
        units,
      );
      name = sealedName(stem, await checksumOf(written));
      await writeFile(list, files.map((file) => `${file.name}\n`).join(''));
      // The list comes first: it counts from the moment in which the file is there.
      await publish(list, path, replacesName(name));
      await publish(written, path, name);
    } finally {
      await remove(written);
      await remove(list);
    }
    if (this.#options.compaction?.graceMs === 0) {
      for (const file of files) await remove(join(path, file.name));
      await syncPath(path);
      await remove(join(path, replacesName(name)));
    }
  }

  async #retain(): Promise<number> {
    const { ageMs, bytes } = this.#options.retention;
    if (ageMs === undefined && bytes === undefined) return 0;
    const hours = new Map<number, { readonly partition: Partition; readonly bytes: number }[]>();
    for (const table of TABLE_NAMES) {
      for (const partition of await readPartitions(this.#directory, table)) {
        const held = (await sizes(partition)).reduce((sum, file) => sum + file.bytes, 0);
        hours.set(partition.hour, [...(hours.get(partition.hour) ?? []), { partition, bytes: held }]);
      }
    }
    const oldestFirst = [...hours].sort(([a], [b]) => a - b);
    let total = oldestFirst.reduce((sum, [, parts]) => sum + parts.reduce((each, part) => each + part.bytes, 0), 0);
    let removed = 0;
    const now = this.#options.now();
    const current = this.#options.currentHour();
    for (const [hour, parts] of oldestFirst.slice(0, -1)) {
      if (hour === current) continue;
      const isOld = ageMs !== undefined && (hour + 1) * HOUR_MS + ageMs <= now;
      const isMany = bytes !== undefined && total > bytes;
      if (!isOld && !isMany) continue;
      for (const part of parts) {
        removed += await this.#removePartition(part.partition);
        total -= part.bytes;
      }
    }
    return removed;
  }

  async #removePartition({ path, files, replaced, stale, damaged }: Partition): Promise<number> {
    for (const olds of replaced.values()) for (const old of olds) await remove(join(path, old));
    const lists = [...replaced.keys()].map(replacesName);
    for (const file of [...files, ...stale, ...damaged, ...lists]) await remove(join(path, file));
    // Folders that something has been written to meanwhile stay.
    await rmdir(path).catch(() => undefined);
    await rmdir(dirname(path)).catch(() => undefined);
    return files.length + damaged.length;
  }
}
