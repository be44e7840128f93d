import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository, workspaces } from '../scripts/workspaces.mjs';

/** A fenced block of code in a README. */
export interface Block {
  /** The README's path from the repository's root, with forward slashes. */
  readonly file: string;
  /** 1-based line of the first line of code. */
  readonly line: number;
  /** What follows the opening fence, such as `ts` or `sh test`. */
  readonly language: string;
  readonly code: string;
}

/** The root's README, those of all workspaces, and pages beside them, as paths from the root; those not written yet are left out. */
export function readmes(): string[] {
  const folders = workspaces().map(({ folder }) => `${folder}/README.md`);
  return ['README.md', 'examples/README.md', 'packages/cli/SWITCHES.md', ...folders].filter((file) =>
    existsSync(join(repository, file)),
  );
}

/** All fenced blocks of a README, in order. */
export function blocksOf(file: string): Block[] {
  return parseBlocks(file, readFileSync(join(repository, file), 'utf8'));
}

/** @throws Error for a block that is never closed */
export function parseBlocks(file: string, text: string): Block[] {
  const blocks: Block[] = [];
  let open: { fence: string; indent: string; language: string; line: number; code: string[] } | undefined;
  for (const [index, row] of text.split(/\r?\n/).entries()) {
    if (open === undefined) {
      const [, indent = '', fence, language = ''] = /^(\s*)(`{3,}|~{3,})\s*([^`]*)$/.exec(row) ?? [];
      if (fence !== undefined) open = { fence, indent, language: language.trim(), line: index + 2, code: [] };
    } else if (row.trim() === open.fence) {
      blocks.push({ file, line: open.line, language: open.language, code: `${open.code.join('\n')}\n` });
      open = undefined;
    } else {
      open.code.push(row.startsWith(open.indent) ? row.slice(open.indent.length) : row);
    }
  }
  if (open !== undefined) throw new Error(`${file}:${open.line - 1}: this block is never closed`);
  return blocks;
}

/**
 * What a README says that a command prints: the lines behind `$ COMMAND` in a block tagged `console`, up to the next command.
 *
 * @throws Error if no block has the command
 */
export function transcriptOf(file: string, command: string): string[] {
  for (const { language, code } of blocksOf(file)) {
    const rows = code.trimEnd().split('\n');
    const at = rows.indexOf(`$ ${command}`);
    if (!language.startsWith('console') || at < 0) continue;
    const behind = rows.slice(at + 1);
    const next = behind.findIndex((row) => row.startsWith('$ '));
    return next < 0 ? behind : behind.slice(0, next);
  }
  throw new Error(`${file} has no block in which somebody types ${command}`);
}

/** What one sets up, starts or measures by hand, and would not do inside a test. */
const BY_HAND = /^(npm (ci|i|install|start|test|t|run|exec)\b|git clone\b|cd\b|#|$)/;

/**
 * The commands of a shell block that is meant to be run: one tagged `sh test` or `console test`. In `sh` each line is a
 * command, in `console` those after `$ `. Lines with npm, git and cd are left out, and `npx int` becomes the installed `int`.
 */
export function commandsOf(block: Block): string[] {
  const [language = '', tag] = block.language.split(/\s+/);
  if (tag !== 'test') return [];
  return block.code
    .replaceAll('\\\n', ' ')
    .split('\n')
    .map((row) => row.trim())
    .filter((row) => language !== 'console' || row.startsWith('$ '))
    .map((row) => row.replace(/^\$ /, '').replaceAll(/\bnpx int\b/g, 'int'))
    .filter((row) => !BY_HAND.test(row));
}
