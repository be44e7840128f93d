import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Consumer } from './consumer.js';

/** What the compiler says of a file. */
export interface Message {
  /** Absolute; empty if it is of no file. */
  readonly file: string;
  /** 1-based; 0 if it is of no file. */
  readonly line: number;
  readonly text: string;
}

interface Configuration {
  readonly files: readonly string[];
  readonly compilerOptions: Readonly<Record<string, unknown>>;
}

/** By the name that the repository has them under: the compiler of its own sources, and the one that most users have. */
const COMPILERS = { native: 'typescript-7', classic: 'typescript' } as const;

/**
 * Compiles files of the consumer's project, strictly, against what is installed there.
 *
 * @param path of the tsconfig.json to write
 * @param configuration what is added to it
 * @throws Error if the compiler fails without saying why
 */
export function compile(
  consumer: Consumer,
  path: string,
  { files, compilerOptions }: Configuration,
  compiler: keyof typeof COMPILERS = 'native',
): Message[] {
  const options = {
    target: 'es2022',
    lib: ['es2023'],
    strict: true,
    types: ['node'],
    typeRoots: [join(consumer.folder, 'node_modules', '@types')],
    ...compilerOptions,
  };
  writeFileSync(path, JSON.stringify({ files, compilerOptions: options }));
  const manifest = fileURLToPath(import.meta.resolve(`${COMPILERS[compiler]}/package.json`));
  const program = join(manifest, '..', 'bin', 'tsc');
  const { status, stdout, stderr } = consumer.run(process.execPath, [program, '-p', path, '--pretty', 'false']);
  const messages: Message[] = [];
  for (const row of stdout.split('\n')) {
    const [, file, line, text] = /^(?:(.+?)\((\d+),\d+\): )?(error TS\d+: .*)$/.exec(row) ?? [];
    if (text !== undefined) {
      messages.push({ file: file === undefined ? '' : resolve(consumer.folder, file), line: Number(line ?? 0), text });
    } else if (row !== '') {
      const last = messages.pop();
      if (last === undefined) throw new Error(`${program}: ${stdout}`);
      messages.push({ ...last, text: `${last.text}\n${row}` });
    }
  }
  if ((status !== 0) !== messages.length > 0) throw new Error(`${program} ended with ${status}: ${stdout}${stderr}`);
  return messages;
}
