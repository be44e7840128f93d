/**
 * Undefined reads that are planted into the programs, one at a time, by an edit of a file: an initialisation or an assignment
 * behind setValid() that is gone, a guard that always holds. For whatever is to find them.
 */
import { readFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { type ProgramName, programPath } from '@int/p4';
import { buildProgram, type IrProgram, P4Error, type SourceFile } from '@int/p4vm';
import { fileResolver } from '@int/p4vm/node';

export interface Mutant {
  /** The program that is to run with the edit. */
  readonly program: ProgramName;
  /** Below `p4/`. */
  readonly file: string;
  /** Stands in the file once. */
  readonly find: string;
  readonly replace: string;
}

export const mutants = JSON.parse(
  readFileSync(new URL('./mutants.json', import.meta.url), 'utf8'),
) as readonly Mutant[];

/** The text of a mutant's file, with its edit. */
export function edited(text: string, { file, find, replace }: Mutant): string {
  const parts = text.split(find);
  if (parts.length !== 2) throw new Error(`${file} has this ${parts.length - 1} times: ${find}`);
  return parts.join(replace);
}

/** The program with the edit. @throws P4Error if it is none any more */
export function loadMutant(mutant: Mutant): IrProgram {
  const path = programPath(mutant.program);
  const folder = dirname(path);
  const find = fileResolver([folder]);
  let isEdited = false;
  const file: SourceFile = { name: path, text: readFileSync(path, 'utf8') };
  const { program, diagnostics } = buildProgram(file, {
    resolve: (name, request) => {
      const found = find(name, request);
      if (found === undefined || !('text' in found) || relative(folder, found.name) !== mutant.file) return found;
      isEdited = true;
      return { ...found, text: edited(found.text, mutant) };
    },
  });
  if (program === undefined) throw new P4Error(diagnostics.list);
  if (!isEdited) throw new Error(`${mutant.program}.p4 does not include ${mutant.file}`);
  return program;
}
