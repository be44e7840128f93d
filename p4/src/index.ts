/**
 * Paths of the P4 programs and their commands. Needs Node.js.
 *
 * @packageDocumentation
 */
import { fileURLToPath } from 'node:url';

/** The programs, by their file's name. */
export type ProgramName = 'dart' | 'flowcache' | 'gpint' | 'int' | 'intmon';

/** Path of a program: `p4/NAME.p4`. Its includes are in the folder beside it. */
export function programPath(name: ProgramName): string {
  return fileURLToPath(new URL(`../${name}.p4`, import.meta.url));
}

/** Path of the simple_switch_CLI commands of a role of a program: `p4/NAME/commands/ROLE.txt`. */
export function commandsPath(name: ProgramName, role: string): string {
  return fileURLToPath(new URL(`../${name}/commands/${role}.txt`, import.meta.url));
}
