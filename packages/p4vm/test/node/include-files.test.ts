import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatDiagnostic } from '@int/p4vm';
import { checkProgramFile, loadProgram, UnreadableFile } from '@int/p4vm/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limit } from '../../../../.ci/test/requires.js';

const SECRET = 'root:x:0:0:a secret of this machine';

let base = '';
const at = (name: string): string => join(base, name);

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'int-p4vm-'));
  await mkdir(at('program/lib'), { recursive: true });
  await mkdir(at('shared'));
  await mkdir(at('program-of-another'));
  await writeFile(at('secret'), SECRET);
  await writeFile(at('program-of-another/x.p4'), SECRET);
  await writeFile(at('shared/port.p4'), 'const bit<8> PORT = 1;\n');
  await writeFile(at('program/lib/inner.p4'), 'const bit<8> INNER = 1;\n');
  await symlink(at('secret'), at('program/link.p4'));
  await symlink(at('shared'), at('program/shared-link'));
  await symlink('lib/inner.p4', at('program/within.p4'));
  await symlink('circle.p4', at('program/circle.p4'));
  await writeFile(at('program/sparse.p4'), '');
  await truncate(at('program/sparse.p4'), 2 ** 40);
  execFileSync('mkfifo', [at('program/fifo.p4')]);
});

afterAll(async () => {
  await rm(base, { recursive: true });
});

/** What is said of a program that includes something. */
async function said(include: string, includePaths: readonly string[] = []): Promise<string> {
  await writeFile(at('program/main.p4'), `#include ${include}\n`);
  const { diagnostics } = checkProgramFile(at('program/main.p4'), { includePaths });
  return diagnostics.list.map(formatDiagnostic).join('\n');
}

describe('includes of a program', () => {
  it.each([
    '"/etc/passwd"',
    '"/proc/self/environ"',
    '"/dev/zero"',
    '"../secret"',
    '"../program-of-another/x.p4"',
    '"lib/../../secret"',
    '"shared-link/port.p4"',
    '"link.p4"',
    '</etc/passwd>',
  ])('are not read from elsewhere: %s', async (include) => {
    const text = await said(include);
    expect(text).toContain('[refused-include]');
    expect(text).toContain("it lies outside of the program's folder and the include paths");
    expect(text).not.toContain('root:x:0:0');
  });

  it('do not tell what is there elsewhere, and what is not', async () => {
    const [there, not] = [await said('"../secret"'), await said('"../nothing"')];
    expect(not.replaceAll('nothing', 'secret').replace(/\^+/, '')).toBe(there.replace(/\^+/, ''));
  });

  it('are no pipes, devices, folders or circles of links, and no giants', async () => {
    expect(await said('"fifo.p4"')).toContain('it is no regular file');
    expect(await said('"lib"')).toContain('EISDIR');
    expect(await said('"sparse.p4"')).toContain('it is longer than 16777216 bytes');
    expect(await said('"circle.p4"')).toContain('[missing-include]');
    expect(await said(`"${'d/'.repeat(5000)}x"`)).toContain('[missing-include]');
    expect(await said('"a\0b"')).toContain('[refused-include]');
  });

  it('are read below the program, also by links, and from include paths', async () => {
    expect(await said('"lib/inner.p4"')).not.toContain('include]');
    expect(await said('"within.p4"')).not.toContain('include]');
    expect(await said('"../shared/port.p4"', [at('shared')])).not.toContain('include]');
    expect(await said('"shared-link/port.p4"', [at('shared')])).not.toContain('include]');
    expect(await said('<port.p4>', [at('shared')])).not.toContain('include]');
  });

  it('may be found behind one that is refused', async () => {
    await symlink(at('secret'), at('program/port.p4'));
    expect(await said('"port.p4"', [at('shared')])).not.toContain('include]');
  });
});

describe('a program', () => {
  it('that is a pipe or device is not waited for', () => {
    expect(() => loadProgram(at('program/fifo.p4'))).toThrow(UnreadableFile);
    expect(() => loadProgram('/dev/zero')).toThrow('/dev/zero: it is no regular file');
  });

  it('is no longer than its characters may be', () => {
    expect(() => loadProgram(at('program/sparse.p4'))).toThrow('it is longer than 16777216 bytes');
    expect(() => loadProgram(at('shared/port.p4'), { limits: { characters: 10 } })).toThrow('longer than 10 bytes');
  });

  it('that claims to be empty is bounded by what there is', () => {
    if (!existsSync('/proc/self/environ')) limit('this system has no /proc');
    expect(() => loadProgram('/proc/self/environ', { limits: { characters: 1 } })).toThrow('longer than 1 bytes');
  });
});
