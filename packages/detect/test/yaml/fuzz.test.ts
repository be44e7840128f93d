import { RulesError } from '@int/detect';
import { readRules } from '@int/detect/yaml';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LENGTH, runs } from '../../../../.ci/test/length.js';
import { SEED } from '../seed.js';
import { EXAMPLE } from './example.js';

/** Characters that mean something to YAML or to rules. */
const soup = fc.constantFrom(
  ...'\n\t\r -:,[]{}#&*!|>\'"%@`?<.0a/\\\0\u00a0\u0085\u2028\ufeff\ud800\u{1f600}'.split(''),
  ...[
    '\n  ',
    '- ',
    ': ',
    '? ',
    '<<: ',
    '*tcp',
    '&tcp ',
    '---\n',
    '...\n',
    '%YAML 1.1\n',
    '!!str ',
    '!!binary ',
    '!x ',
    '|2\n',
    '>-\n',
  ],
  ...[
    'version: 1\n',
    'rules:\n',
    'name: ',
    'any',
    'complex: ',
    '10us',
    '5KiB',
    '90%',
    '-1',
    '1e999',
    '.nan',
    '0x',
    'null',
    '__proto__: ',
  ],
);
const pieces = fc.array(soup, { maxLength: 6 }).map((parts) => parts.join(''));

/** Reads a text; whatever is wrong with it, the error is a RulesError whose problems lie within the text. */
function read(text: string): boolean {
  try {
    readRules(text);
    return true;
  } catch (error) {
    if (!RulesError.is(error)) throw error;
    const lines = text.split('\n');
    expect(error.problems.length).toBeGreaterThan(0);
    for (const { line = 0, column = 0, message } of error.problems) {
      expect(message).not.toBe('');
      expect(line).toBeGreaterThanOrEqual(1);
      expect(line).toBeLessThanOrEqual(lines.length);
      expect(column).toBeGreaterThanOrEqual(1);
      expect(column).toBeLessThanOrEqual(lines[line - 1]!.length + 1);
    }
    return false;
  }
}

describe('text that may be no rules', () => {
  // Thousands of files of rules.
  it('is read or refused with a RulesError: a file with a few changes', () => {
    let accepted = 0;
    const edits = fc.array(fc.tuple(fc.nat(EXAMPLE.length), fc.oneof(fc.constant(0), fc.nat(30)), pieces), {
      minLength: 1,
      maxLength: 4,
    });
    fc.assert(
      fc.property(edits, (list) => {
        let text = EXAMPLE;
        for (const [at, length, insert] of list) text = text.slice(0, at) + insert + text.slice(at + length);
        if (read(text)) accepted++;
      }),
      { seed: SEED, numRuns: runs(1000) },
    );
    expect(accepted).toBeGreaterThan(30 * LENGTH);
  }, 180_000);

  it('is read or refused with a RulesError: a file whose lines were moved', () => {
    const lines = EXAMPLE.split('\n');
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(lines.length), fc.nat(lines.length), fc.nat(4)), { minLength: 1, maxLength: 5 }),
        (moves) => {
          const copy = [...lines];
          for (const [from, to, indent] of moves) {
            const [line = ''] = copy.splice(from, 1);
            copy.splice(to, 0, ' '.repeat(indent) + line);
          }
          read(copy.join('\n'));
        },
      ),
      { seed: SEED, numRuns: runs(1000) },
    );
  });

  it('is read or refused with a RulesError: a file that is cut anywhere', () => {
    for (let end = 0; end < EXAMPLE.length; end += 3) read(EXAMPLE.slice(0, end));
  });

  it('is read or refused with a RulesError: any text', () => {
    const soups = fc.array(soup, { maxLength: 60 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' }), soups), (text) => {
        read(text);
      }),
      { seed: SEED, numRuns: runs(1000) },
    );
  });
});
