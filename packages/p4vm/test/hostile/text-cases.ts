import { type HostileCase, times, v1model } from './hostile-case.js';

/** Macros M0 to Mn, each of which uses the one before twice. */
function doubling(levels: number, first: string, twice: (name: string) => string): string {
  return `#define M0${first}\n${times(levels, (i) => `#define M${i + 1}${twice(`M${i}`)}`)}\n`;
}

const nestedCalls = (name: string, count: number, inner: string): string =>
  `${`${name}(`.repeat(count)}${inner}${')'.repeat(count)}`;

const DIGITS = '7'.repeat(1_000_000);
const LONG_NAME = 'n'.repeat(1_000_000);

/** What preprocessor and lexer meet. */
export const TEXT_CASES: readonly HostileCase[] = [
  {
    name: 'macros that double 40 times',
    text: () => `${doubling(40, ' 1 +', (m) => ` ${m} ${m}`)}const int x = M40 1;`,
    ends: 'limit-tokens',
  },
  {
    name: 'macros whose arguments double 40 times',
    text: () => `${doubling(40, '(x) x', (m) => `(x) ${m}(x x)`)}const int x = M40(1 +) 1;`,
    ends: 'limit-tokens',
  },
  {
    name: 'a string of a string of a string',
    text: () => `#define S(x) #x\n#define T(x) S(x)\nconst string s = ${nestedCalls('T', 60, '"\\\\"')};`,
    ends: 'string-too-long',
  },
  {
    name: 'strings made of arguments that double',
    text: () => `#define S(x) #x\n${doubling(30, '(x) S(x)', (m) => `(x) ${m}(x x)`)}const string s = M30(a);`,
    ends: 'limit-tokens',
  },
  {
    name: 'names pasted to twice their length 40 times',
    text: () =>
      `#define J(a, b) a##b\n#define K(a, b) J(a, b)\n${doubling(40, ' x', (m) => ` K(${m}, ${m})`)}const int M40 = 1;`,
    ends: 'limit-tokens',
  },
  {
    name: 'numbers pasted to a million digits',
    text: () =>
      `#define J(a, b) a##b\n#define K(a, b) J(a, b)\n${doubling(20, ' 9', (m) => ` K(${m}, ${m})`)}const int x = M20;`,
    ends: 'name-too-long',
  },
  {
    name: 'macros with 10,000 parameters, each used',
    text: () =>
      `#define F(${times(10_000, (i) => `a${i}`, ',')}) ${times(10_000, (i) => `a${i}`, ' ')}\n${`F(${'1,'.repeat(9_999)}1)\n`.repeat(20)}`,
    limits: { tokens: 100_000 },
    ends: 'limit-tokens',
  },
  {
    name: 'macro calls within macro calls',
    text: () => `#define F(x) x x\nconst int x = ${nestedCalls('F', 5_000, '1')};`,
    ends: 'nesting-too-deep',
  },
  {
    name: 'a macro call without end',
    text: () => `#define F(x) x\nF(${'a '.repeat(200_000)}`,
    limits: { tokens: 100_000 },
    ends: 'limit-tokens',
  },
  {
    name: 'a directive of half a million tokens',
    text: () => `#define A ${'1 '.repeat(500_000)}\nconst int x = 1;`,
    limits: { tokens: 100_000 },
    ends: 'limit-tokens',
  },
  {
    name: '30,000 macros',
    text: () => `${times(30_000, (i) => `#define A${i} A${i + 1}`)}\nconst bit<8> x = A0;`,
    ends: 'unknown-name',
  },
  {
    name: 'macros in a circle, ten thousand uses',
    text: () => `#define A B\n#define B A\n${'A B '.repeat(10_000)}`,
    limits: { tokens: 100_000 },
    ends: 'limit-tokens',
  },
  {
    name: '30,000 conditions that never end',
    text: () => '#if 1\n'.repeat(30_000),
    limits: { tokens: 100_000 },
    ends: 'limit-tokens',
  },
  {
    name: 'a million quotes in a group that is skipped',
    text: () => `#if 0\n${'"a'.repeat(500_000)}\n#endif\nconst int x = y;`,
    ends: 'unknown-name',
  },
  {
    name: 'escaped quotes in a group that is skipped',
    text: () => `#if 0\n"${'\\"'.repeat(500_000)}\n#endif\nconst int x = y;`,
    ends: 'unknown-name',
  },
  {
    name: 'a million line continuations',
    text: () => `const bit<8> x = ${'\\\n'.repeat(1_000_000)} y;`,
    ends: 'unknown-name',
  },
  {
    name: 'a condition of a million digits',
    text: () => `#if ${DIGITS}\n#endif\nconst int x = y;`,
    ends: 'number-too-large',
  },
  {
    name: 'a condition that shifts, divides and nests',
    text: () => `#if ${'(1 << 62) + '.repeat(50_000)} 1\n#endif\nconst int x = y;`,
    ends: 'unknown-name',
  },
  {
    name: 'questions within questions in a condition',
    text: () => `#if ${'1 ? '.repeat(50_000)}\n#endif`,
    ends: 'nesting-too-deep',
  },
  {
    name: 'a file that includes itself',
    text: () => '#include "self"\n',
    files: () => ({ self: '#include "self"\n' }),
    ends: 'include-cycle',
  },
  {
    name: 'a file that includes itself twice',
    text: () => '#include "self"\n',
    files: () => ({ self: '#include "self"\n#include "self"\n' }),
    ends: 'include-cycle',
  },
  {
    name: 'a large file, included again and again',
    text: () => '#include "large"\n'.repeat(5_000),
    files: () => ({ large: `/* ${'x'.repeat(1_000_000)} */\n` }),
    ends: 'limit-characters',
  },
  {
    name: 'files that include the next twice',
    text: () => '#include "0"\n',
    files: () =>
      Object.fromEntries(
        Array.from({ length: 40 }, (_, i) => [`${i}`, i < 39 ? `#include "${i + 1}"\n`.repeat(2) : '']),
      ),
    ends: 'limit-files',
  },
  {
    name: 'an include whose name is a megabyte',
    text: () => `#include "${'a/'.repeat(500_000)}"\n`,
    ends: 'missing-include',
  },
  { name: 'a program of forty million characters', text: () => ' '.repeat(40_000_000), ends: 'limit-characters' },
  { name: 'three million tokens', text: () => ';'.repeat(3_000_000), ends: 'limit-tokens' },
  {
    name: 'a name of a million letters',
    text: () => v1model({ apply: `bit<8> ${LONG_NAME} = 1;` }),
    ends: 'name-too-long',
  },
  {
    name: 'unknown names of a thousand letters',
    text: () =>
      v1model({
        apply: `${times(1_000, (i) => `bit<8> ${'a'.repeat(990)}${i};`)} ${times(1_000, (i) => `m.seen = ${'a'.repeat(990)}x${i};`)}`,
      }),
    ends: 'unknown-name',
  },
  { name: 'a number of a million digits', text: () => `const int x = ${DIGITS};`, ends: 'number-too-large' },
  {
    name: 'hexadecimal digits that are none at the end',
    text: () => `const int x = 0x${'f'.repeat(16_000)}g;`,
    ends: 'bad-number',
  },
  { name: 'a width of a million digits', text: () => `const int x = ${DIGITS}w1;`, ends: 'number-too-large' },
  {
    name: 'a thousand numbers of 20,000 digits',
    text: () => v1model({ top: times(800, (i) => `const int N${i} = ${'7'.repeat(19_999)};`) }),
    ends: 'number-too-large',
  },
  {
    name: 'a string of eight million characters',
    text: () => `const string s = "${'x'.repeat(8_000_000)}";`,
    ends: 'string-too-long',
  },
  {
    name: 'a line of eight million characters with an error',
    text: () => `${' '.repeat(8_000_000)}const bit<8> x = y;${' '.repeat(1_000_000)}`,
    ends: 'unknown-name',
  },
  {
    name: 'errors without end',
    text: () => times(20_000, (i) => `const bit<8> c${i} = z${i};`),
    ends: 'unknown-name',
  },
  { name: 'characters that are no tokens', text: () => '\u0001\u0002$`'.repeat(30_000), ends: 'unexpected-character' },
  { name: 'annotations without end', text: () => '@a('.repeat(100_000), ends: 'unexpected-token' },
  {
    name: 'annotations that are left open, each in its own statement',
    text: () => '@a( ; '.repeat(50_000),
    ends: 'unexpected-token',
  },
  {
    name: 'an annotation of a million tokens',
    text: () => `@a(${'( ) '.repeat(50_000)}) const int x = y;`,
    ends: 'unknown-name',
  },
  {
    name: 'brackets, 100,000 deep',
    text: () => `const int x = ${'('.repeat(100_000)}1${')'.repeat(100_000)};`,
    ends: 'nesting-too-deep',
  },
  {
    name: 'a sum of 100,000 numbers',
    text: () => `const int x = 1${' + 1'.repeat(100_000)};`,
    ends: 'nesting-too-deep',
  },
  {
    name: 'blocks, 100,000 deep',
    text: () => v1model({ apply: `${'{'.repeat(100_000)}${'}'.repeat(100_000)}` }),
    ends: 'nesting-too-deep',
  },
  {
    name: 'a chain of 20,000 branches',
    text: () => v1model({ apply: `${'if (m.seen == 1) { } else '.repeat(20_000)} { }` }),
    ends: 'nesting-too-deep',
  },
  {
    name: '500 branches, each with an error, on one line',
    text: () => v1model({ apply: `${times(500, (i) => `if (x${i} == 1) { y${i} = 1; }`, ' else ')}` }),
    ends: 'unknown-name',
  },
  {
    name: 'types within types, 100,000 deep',
    text: () => `const ${'tuple<'.repeat(100_000)} x = 1;`,
    ends: 'nesting-too-deep',
  },
  {
    name: 'arrays of arrays',
    text: () => v1model({ top: `typedef bit<8>${'[2]'.repeat(40)} T;` }),
    ends: 'type-too-large',
  },
];
