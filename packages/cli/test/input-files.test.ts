import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { pcap, reportFrame } from './captures.js';
import { run, temporaryFolder } from './run.js';

const files = temporaryFolder();
const OPTIONS = { env: {} };
let capture = '';
let pipe = '';

beforeAll(async () => {
  capture = await files.write('one.pcap', pcap([reportFrame()]));
  pipe = files.path('pipe');
  execFileSync('mkfifo', [pipe]);
});

/** Every option and argument that names a text: what it is called, and the command with a file in its place. */
const TEXTS: readonly [kind: string, args: (file: string) => string[]][] = [
  ['rules file', (file) => ['detect', capture, '--rules', file]],
  ['rules file', (file) => ['collect', '--pcap', capture, '--rules', file]],
  ['configuration', (file) => ['collect', '--config', file, '--check']],
  ['topology', (file) => ['plan', file, '--paths', '2']],
];

describe('a text that is given to a command', () => {
  test.each(TEXTS)('has to be a regular file: a %s that is a pipe is refused at once', async (_, args) => {
    const { code, stdout, stderr } = await run(args(pipe), OPTIONS);
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toBe(`int: cannot open ${pipe}: it is a pipe: give a regular file, or - for standard input\n`);
  });

  test.each(TEXTS)('is no folder and no device, and has an end: %s', async (kind, args) => {
    for (const [path, what] of [
      ['/dev/zero', 'it is a device: give'],
      [files.path('.'), 'it is a folder: give'],
      [files.path('nothing'), 'no such file or folder'],
    ]) {
      const { code, stderr } = await run(args(path!), OPTIONS);
      expect(code).toBe(3);
      expect(stderr).toContain(`cannot open ${path!}: ${what!}`);
    }
    expect(kind).not.toBe('');
  });

  test.each([
    ['rules file', 1 << 24, 1],
    ['configuration', 1 << 20, 2],
  ])('has a limit: a %s has %i bytes at most', async (kind, most, exitCode) => {
    const path = files.path('large');
    writeFileSync(path, Buffer.alloc(most + 1, '#'));
    const args = TEXTS.find(([name]) => name === kind)![1](path);
    const { code, stderr } = await run(args, OPTIONS);
    expect({ code, stderr }).toEqual({
      code: exitCode,
      stderr: `int: ${path}: more than ${most} bytes: this is no ${kind}\n`,
    });
  });

  test('that comes by standard input has the same limit', async () => {
    const input = Buffer.alloc((1 << 24) + 1, '#');
    const { code, stderr } = await run(['detect', capture, '--rules', '-'], { ...OPTIONS, input });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `int: standard input: more than ${1 << 24} bytes: this is no rules file\n`,
    });
  });
});

describe('what is wrong with a text', () => {
  /** Lines of messages about a configuration. */
  async function linesFor(text: string): Promise<{ code: number | null; lines: string[] }> {
    const path = await files.write('wrong.yaml', text);
    const { code, stdout, stderr } = await run(['collect', '--config', path, '--check'], OPTIONS);
    expect(stdout).toBe('');
    return { code, lines: stderr.trimEnd().split('\n') };
  }

  test.each([
    ['100 kB of [', '['.repeat(100_000)],
    ['100 kB of {', '{'.repeat(100_000)],
    ['50,000 lists in a line', '- '.repeat(50_000)],
    ['50,000 keys of keys', '? '.repeat(50_000)],
    ['3000 lists that never end', 'a: [\n'.repeat(3000)],
  ])('is told in a few lines where it is %s, and does not end the process', async (_, text) => {
    const { code, lines } = await linesFor(text);
    expect(code).toBe(2);
    expect(lines.length).toBeLessThanOrEqual(21);
    expect(lines[0]).toMatch(/wrong\.yaml:\d+:\d+: /);
    const rules = await files.write('wrong-rules.yaml', text);
    const detected = await run(['detect', capture, '--rules', rules], OPTIONS);
    expect(detected.code).toBe(1);
    expect(detected.stderr.split('\n').length).toBeLessThanOrEqual(22);
  });

  test('is told soon, however long the text is: lists that never end, and more words than there may be', async () => {
    for (const piece of ['- [\n', '- }\n']) {
      const rules = await files.write('long-rules.yaml', piece.repeat((1 << 24) / piece.length));
      const { code, stderr } = await run(['detect', capture, '--rules', rules], OPTIONS);
      expect(code).toBe(1);
      expect(stderr).toMatch(/long-rules\.yaml:\d+:\d+: /);
      expect(stderr.split('\n').length).toBeLessThanOrEqual(22);
      const configuration = await linesFor(piece.repeat((1 << 20) / piece.length));
      expect(configuration.code).toBe(2);
      expect(configuration.lines).toEqual([expect.stringMatching(/wrong\.yaml:\d+:\d+: more than 100000 words/)]);
    }
  });

  test('is told up to the twentieth, and then counted: keys that do not exist', async () => {
    const keys = Array.from({ length: 4000 }, (_, key) => `key${key}: 1\n`).join('');
    const { code, lines } = await linesFor(`version: 1\nsources: [{ udp: { listen: "127.0.0.1:0" } }]\n${keys}`);
    expect(code).toBe(2);
    expect(lines).toHaveLength(21);
    expect(lines[0]).toContain("wrong.yaml:3:1: no such key, 'key0'");
    expect(lines.at(-1)).toBe('and 3980 more problems');
  });

  test('is told up to the twentieth, and then counted: rules', async () => {
    const rules = Array.from({ length: 2000 }, (_, rule) => `  - namex: r${rule}\n`).join('');
    const path = await files.write('many.yaml', `version: 1\nrules:\n${rules}`);
    const { code, stderr } = await run(['detect', capture, '--rules', path], OPTIONS);
    expect(code).toBe(1);
    const lines = stderr.trimEnd().split('\n');
    expect(lines).toHaveLength(21);
    expect(lines.at(-1)).toMatch(/^and \d+ more problems$/);
  });

  test('finds keys that stand twice', async () => {
    const { code, lines } = await linesFor('version: 1\nsources: []\nsources: []\n');
    expect(code).toBe(2);
    expect(lines[0]).toMatch(/wrong\.yaml:3:1: the key 'sources' stands here twice/);
  });

  test('moves no cursor and has lines of bounded length, whatever is quoted', async () => {
    const { lines } = await linesFor('version: 1\nsources: []\n"\\e[2Jx": 1\n');
    expect(lines.join('\n')).toContain("no such key, '\ufffd[2Jx'");
    expect(lines.join('')).not.toMatch(/\p{Cc}/u);
    // A name that the command line gives is quoted whole.
    const { stderr } = await run(['plan', `./${'x'.repeat(3000)}`, '--paths', '2'], OPTIONS);
    expect(stderr).toMatch(/x\.\.\. \(\d+ characters more\)\n$/);
    expect(stderr.length).toBeLessThan(2100);
  });
});
