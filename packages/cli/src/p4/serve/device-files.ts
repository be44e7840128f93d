import type { DeviceProgram } from '@int/p4runtime/internals';
import type { IrProgram } from '@int/p4vm';
import type { Io } from '../../io.js';
import { type ProgramFlags, readProgram } from '../program.js';

/** A program with the files that it was read from, as a device config holds them. */
export interface ReadDevice {
  readonly program: IrProgram;
  readonly device: DeviceProgram;
}

/**
 * Reads a program and keeps its files. Writes its errors to standard error.
 *
 * @returns undefined if it has errors
 * @throws CliError if the file cannot be read
 */
export function readDevice(path: string, flags: ProgramFlags, io: Io): ReadDevice | undefined {
  const files = new Map<string, string>();
  const includes: (readonly [from: string, path: string, file: string])[] = [];
  const program = readProgram(path, flags, io, (file, include) => {
    files.set(file.name, file.text);
    if (include !== undefined) includes.push([include.from.name, include.path, file.name]);
  });
  if (program === undefined) return undefined;
  const device = { main: path, files: Object.fromEntries(files), includes, defines: flags.define ?? {} };
  return { program, device };
}
