import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { publicPackages, repository } from '../scripts/workspaces.mjs';
import { compile } from './compile.js';
import { type Consumer, installTarballs } from './consumer.js';
import { type Block, blocksOf, commandsOf, parseBlocks, readmes } from './readmes.js';

// All packages are packed and installed, and a program may take three minutes.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const blocks = readmes().flatMap(blocksOf);
const programs = blocks.filter(({ language }) => language === 'ts');
/** What needs a broker, a network card or a file to run: compiled only. */
const sketches = blocks.filter(({ language }) => language === 'typescript');
const scripts = blocks.filter((block) => commandsOf(block).length > 0);

const title = ({ file, line }: Block): string => `${file}:${line}`;
const stem = ({ file, line }: Block): string => `${file.replaceAll(/[/.]/g, '-')}-${line}`;

let consumer: Consumer;
/** Messages of the compiler by block title. */
const complaints = new Map<string, string[]>();

beforeAll(async () => {
  consumer = await installTarballs();
  compileAll();
});

/** One strict compiler run over all blocks writes the JavaScript that the tests run. */
function compileAll(): void {
  const source = join(consumer.folder, 'readme');
  mkdirSync(source);
  const files = new Map<string, Block>();
  for (const block of [...programs, ...sketches]) {
    const path = join(source, `${stem(block)}.ts`);
    // Empty lines in front, so that a message or a stack names the line of the README.
    writeFileSync(path, '\n'.repeat(block.line - 1) + block.code);
    files.set(path, block);
  }
  const messages = compile(consumer, join(source, 'tsconfig.json'), {
    files: [...files.keys()],
    compilerOptions: {
      module: 'nodenext',
      moduleResolution: 'nodenext',
      // Without this, two scripts that import nothing would share their names.
      moduleDetection: 'force',
      skipLibCheck: true,
      sourceMap: true,
      rootDir: source,
      outDir: join(consumer.folder, 'run'),
    },
  });
  for (const { file, line, text } of messages) {
    const block = files.get(file);
    if (block === undefined) throw new Error(`while compiling README examples: ${file}: ${text}`);
    const key = title(block);
    complaints.set(key, [...(complaints.get(key) ?? []), `${block.file}:${line}: ${text}`]);
  }
}

/** What became of the programs of a README. */
interface Run {
  /** `ok` or the error, by block title; none if the process ended before. */
  readonly outcomes: Readonly<Record<string, string>>;
  readonly status: number | null;
  readonly stderr: string;
}

const runs = new Map<string, Run>();

/** Runs the programs of a README one after the other, in one process: the packages are loaded once. */
function runAll(file: string): Run {
  const done = runs.get(file);
  if (done !== undefined) return done;
  const folder = join(consumer.folder, 'run');
  const results = join(folder, `${file.replaceAll(/[/.]/g, '-')}.json`);
  const own = programs.filter((block) => block.file === file);
  const list = own.map((block) => [title(block), pathToFileURL(join(folder, `${stem(block)}.js`)).href]);
  const code = `import { writeFileSync } from 'node:fs';
    const outcomes = {};
    for (const [name, program] of ${JSON.stringify(list)}) {
      outcomes[name] = await import(program).then(() => 'ok', (error) => String(error?.stack ?? error));
      writeFileSync(${JSON.stringify(results)}, JSON.stringify(outcomes));
    }`;
  writeFileSync(results, '{}');
  // A file, because a thread that a program starts inherits the options of Node, and has no text to evaluate.
  const runner = results.replace(/json$/, 'runner.mjs');
  writeFileSync(runner, code);
  const { status, stderr } = consumer.run(process.execPath, ['--enable-source-maps', runner]);
  const run = { outcomes: JSON.parse(readFileSync(results, 'utf8')) as Record<string, string>, status, stderr };
  runs.set(file, run);
  return run;
}

describe('READMEs', () => {
  it.each(programs.map((block) => [title(block), block] as const))('%s compiles and runs', (name, block) => {
    expect(complaints.get(name) ?? []).toEqual([]);
    const { outcomes, status, stderr } = runAll(block.file);
    expect(outcomes[name], stderr).toBe('ok');
    expect(status, stderr).toBe(0);
  });

  it.each(sketches.map((block) => [title(block), block] as const))('%s compiles', (name) => {
    expect(complaints.get(name) ?? []).toEqual([]);
  });

  it.each(scripts.map((block) => [title(block), block] as const))('%s runs', (_name, block) => {
    // Blocks of one README share a folder, so that a later one may read what an earlier one wrote.
    const folder = join(consumer.folder, 'shell', block.file.replaceAll('/', '-'));
    mkdirSync(folder, { recursive: true });
    // Commands take the example data by their paths from the root of a checkout.
    cpSync(join(repository, 'examples', 'data'), join(folder, 'examples', 'data'), { recursive: true });
    const { status, stderr } = consumer.run('sh', ['-euc', commandsOf(block).join('\n')], folder);
    expect(status, stderr).toBe(0);
  });

  const packages = publicPackages().filter(({ begun }) => begun);
  it.each(packages.map(({ folder }) => folder))('%s/README.md shows an example that is run', (folder) => {
    const inside = [...programs, ...scripts].filter(({ file }) => file === `${folder}/README.md`);
    expect(inside.length).toBeGreaterThan(0);
  });
});

describe('the README reader', () => {
  const text = [
    '# x',
    '```ts',
    'one();',
    '```',
    '- item',
    '  ~~~ sh test',
    '  npm ci',
    '  npx int help',
    '  ~~~',
    '',
  ].join('\n');

  it('finds blocks with their lines, also indented ones', () => {
    expect(parseBlocks('x.md', text)).toEqual([
      { file: 'x.md', line: 3, language: 'ts', code: 'one();\n' },
      { file: 'x.md', line: 7, language: 'sh test', code: 'npm ci\nnpx int help\n' },
    ]);
  });

  it('refuses a block that is never closed', () => {
    expect(() => parseBlocks('x.md', '```ts\nx')).toThrow('x.md:1: this block is never closed');
  });

  it('runs the commands of blocks tagged test, without those meant for hands', () => {
    const [, shell] = parseBlocks('x.md', text);
    expect(commandsOf(shell!)).toEqual(['int help']);
    const console = { file: 'x.md', line: 1, language: 'console test', code: '$ int --version | \\\n  cat\n0.0.0\n' };
    expect(commandsOf(console)).toEqual(['int --version |    cat']);
    expect(commandsOf({ ...console, language: 'console' })).toEqual([]);
  });
});
