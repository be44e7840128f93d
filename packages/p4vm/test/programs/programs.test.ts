import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runStf } from '@int/p4vm';
import { formatStfResult } from '@int/p4vm/internals';
import { loadProgram } from '@int/p4vm/node';
import { describe, expect, test } from 'vitest';

const folder = fileURLToPath(new URL('.', import.meta.url));
const names = readdirSync(folder)
  .filter((name) => name.endsWith('.p4'))
  .map((name) => name.slice(0, -'.p4'.length))
  .sort();

/**
 * Programs that do as the language says where simple_switch does not, or where p4c does not compile them for it.
 * The comment at the head of each says what simple_switch does; the README of this folder lists them.
 */
const DIFFERENT: readonly string[] = [
  'for-loop',
  'hash-of-nested-lists',
  'header-from-own-fields',
  'loop-in-apply',
  'loop-over-range',
  'loop-over-stack',
  'loop-return',
  'parser-last-index',
  'parser-select-signed',
  'parser-value-set-filled',
  'register-signed',
  'slice-of-signed-written',
  'table-key-error',
  'table-lpm-odd-width',
  'union-set-invalid',
];

function source(name: string): string {
  return readFileSync(join(folder, `${name}.p4`), 'utf8');
}

describe('programs, each of one feature, with the packets they are to send', () => {
  test.each(names)('%s', (name) => {
    const result = runStf(loadProgram(join(folder, `${name}.p4`)), readFileSync(join(folder, `${name}.stf`), 'utf8'));
    expect(formatStfResult(result)).toMatch(/^passed/);
    expect(result.refused).toEqual([]);
    expect(result.packetsIn).toBeGreaterThan(0);
    expect(result.expectations).toBeGreaterThan(0);
  });

  test('are many', () => {
    expect(names.length).toBeGreaterThanOrEqual(300);
  });

  test('say so where the reference switch does otherwise', () => {
    const saying = names.filter((name) => /^\/\/ .*(simple_switch|p4c)/m.test(source(name)));
    expect(saying).toEqual(DIFFERENT);
  });

  test('begin with a sentence about what they show', () => {
    const silent = names.filter((name) => !/^(\/\/ .+\n)+/.test(source(name)));
    expect(silent).toEqual([]);
  });
});
