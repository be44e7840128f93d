import { formatDiagnostic } from '@int/p4vm';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../../.ci/test/length.js';
import { PROGRAMS } from '../../syntax/programs.js';
import { parse, SEED } from './parsing.js';

const WORDS = `abstract action actions apply bit bool break const continue control default else entries enum error exit
  extern false for header header_union if in inout int key list match_kind out package parser priority return select
  state string struct switch table this transition true tuple type typedef value_set varbit void _ a b T H 1 8w2 0x3 "s"
  ( ) [ ] { } < > << >= <= == = ; : , . .. ... &&& & | ^ ~ ! ? @ + - * / % ++ |+| += +: {#} $ " \\ # ## /* */ //`
  .split(/\s+/)
  .concat(
    '\n',
    '\n#define F(x) x x\n',
    '\n#define a F(a)\n',
    'F(',
    '\n#if 1\n',
    '\n#if a\n',
    '\n#else\n',
    '\n#endif\n',
  );

/** What holds for any text: positions lie in their files, diagnostics can be shown, the number of them is bounded. */
function check(text: string): number {
  const { program, diagnostics } = parse(text, { files: { a: '#define b a\n' } });
  expect(diagnostics.list.length).toBeLessThanOrEqual(diagnostics.limit);
  for (const diagnostic of diagnostics.list) {
    const { file, start, end } = diagnostic.span;
    expect(0 <= start && start <= end && end <= file.text.length).toBe(true);
    expect(formatDiagnostic(diagnostic)).toContain(diagnostic.code);
  }
  for (const { span } of program.declarations) expect(span.start <= span.end).toBe(true);
  return diagnostics.errors;
}

describe('any input is parsed or diagnosed', () => {
  it('if it is a soup of tokens', () => {
    const soup = fc.array(fc.tuple(fc.constantFrom(...WORDS), fc.constantFrom(' ', ' ', ' ', '')), { maxLength: 120 });
    fc.assert(
      fc.property(soup, (parts) => {
        check(parts.flat().join(''));
      }),
      { seed: SEED, numRuns: runs(800) },
    );
  });

  it('if it is a soup of characters', () => {
    // Control characters, letters, and halves of pairs.
    const unit = fc.oneof(fc.integer({ min: 0, max: 0x17f }), fc.integer({ min: 0xd800, max: 0xdfff }));
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 80 }), (units) => {
        check(String.fromCharCode(...units));
      }),
      { seed: SEED, numRuns: runs(250) },
    );
  });

  it('if it is a program with pieces changed, mostly with few diagnostics', () => {
    const pieces = Object.values(PROGRAMS).map((text) =>
      text.split(/(\s+|[A-Za-z0-9_]+|[^\sA-Za-z0-9_])/).filter((piece) => piece !== ''),
    );
    let errors = 0;
    let texts = 0;
    const mutation = fc.tuple(
      fc.nat(),
      fc.nat(),
      fc.constantFrom('delete', 'insert', 'replace'),
      fc.constantFrom(...WORDS),
    );
    fc.assert(
      fc.property(mutation, ([which, where, how, word]) => {
        const program = pieces[which % pieces.length] ?? [];
        const at = where % program.length;
        const before = program.slice(0, at).join('');
        const behind = program.slice(how === 'insert' ? at : at + 1).join('');
        errors += Math.min(10, check(`${before}${how === 'delete' ? '' : ` ${word} `}${behind}`));
        texts++;
      }),
      { seed: SEED, numRuns: runs(150) },
    );
    expect(errors / texts).toBeLessThan(2);
  });

  const deep = 10_000;
  it.each([
    ['parentheses', `const int x = ${'('.repeat(deep)}`],
    ['signs', `const int x = ${'-'.repeat(deep)}1;`],
    ['sums', `const int x = 1${'+1'.repeat(deep)};`],
    ['conditions', `const int x = ${'a?'.repeat(deep)}`],
    ['members', `const int x = a${'.b'.repeat(deep)};`],
    ['calls', `const int x = a${'()'.repeat(deep)};`],
    ['casts', `const int x = ${'(bit<8>)'.repeat(deep)}1;`],
    ['comparisons', `struct T { } const int x = ${'a<T<'.repeat(deep)}1;`],
    ['lists', `const int x = ${'{'.repeat(deep)}`],
    ['types', `const ${'tuple<'.repeat(deep)}`],
    ['widths', `const ${'bit<f<'.repeat(deep)}`],
    ['blocks', `action a() ${'{'.repeat(deep)}`],
    ['ifs', `action a() { ${'if (a) '.repeat(deep)}`],
    ['branches', `action a() { ${'if (a) ; else '.repeat(deep)} ; }`],
    ['targets', `action a() { ${'('.repeat(deep)}`],
    ['instances', 'E() e = {'.repeat(deep)],
    ['annotations', `${'@a('.repeat(deep)}`],
    ['keys', `parser p() { state s { transition select(x) { ${'('.repeat(deep)}`],
    ['quotes', '"\\"\n'.repeat(deep)],
    ['comments', '/*'.repeat(deep)],
    ['closing braces', '}'.repeat(deep)],
    ['macro calls', `#define F(x) x x\n${'F('.repeat(deep)}`],
    ['conditionals', '#if 1\n'.repeat(deep)],
    ['negations in a condition', `#if ${'!'.repeat(deep)}1\n#endif`],
  ])('if it nests %s without end', (_, text) => {
    expect(check(text)).toBeGreaterThan(0);
  });
});
