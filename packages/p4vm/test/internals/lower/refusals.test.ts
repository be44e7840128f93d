import { buildProgram } from '@int/p4vm';
import { expect, test } from 'vitest';
import { errorsOf, type Parts, pointedAt } from './building.js';

/** What is refused, by a message and the text it points to. */
const REFUSED: readonly (readonly [what: string, parts: Parts, message: RegExp, at: string])[] = [
  [
    'extern functions of the program',
    { top: 'extern void magic(in bit<8> x);', apply: 'magic(m.x);' },
    /magic is not one of core\.p4 or v1model\.p4/,
    'magic(m.x)',
  ],
  [
    'extern objects of the program',
    { top: 'extern Box { Box(); }', locals: 'Box() box;' },
    /Box is not one of v1model\.p4/,
    'Box() box;',
  ],
  [
    'one instance applied with different objects',
    {
      top: 'control Use(register<bit<8>> r) { apply { r.write(0, 1); } }',
      locals: 'register<bit<8>>(1) r1; register<bit<8>>(1) r2; Use() use;',
      apply: 'use.apply(r1); use.apply(r2);',
    },
    /I\.use is applied with other extern objects elsewhere/,
    'use.apply(r2)',
  ],
  [
    'a direct meter that no table has',
    {
      locals:
        'direct_meter<bit<2>>(MeterType.bytes) d; action a() { bit<2> c; d.read(c); } table t { actions = { a; } }',
      apply: 't.apply();',
    },
    /I\.d is read, but no table has it/,
    'd.read(c)',
  ],
  [
    'a direct counter of two tables',
    {
      locals: `direct_counter(CounterType.bytes) d; table t { actions = { NoAction; } counters = d; }
        table u { actions = { NoAction; } counters = d; }`,
      apply: 't.apply(); u.apply();',
    },
    /I\.d belongs to the table I\.t already/,
    'd',
  ],
  ['arrays of what is no header', { metadata: 'bit<8>[4] array;' }, /bit<8>\[4\].*cannot be held/, 'M'],
  [
    'an assertion at compile time that does not hold',
    {
      top: 'control Even()(bit<8> n) { apply { static_assert(n[0:0] == 0, "not even"); } }',
      locals: 'Even(4) fine; Even(5) odd;',
      apply: 'fine.apply(); odd.apply();',
    },
    /static_assert does not hold: not even/,
    'static_assert(n[0:0] == 0, "not even")',
  ],
];

test.each(REFUSED)('%s are refused at their place', (_, parts, message, at) => {
  const errors = errorsOf(parts);
  const error = errors.find((each) => message.test(each.message));
  expect(errors.map((each) => each.message).join('\n')).toMatch(message);
  expect(error?.layer).toBe('target');
  if (error !== undefined) expect(pointedAt(error)).toBe(at);
});

test('Several refusals are reported at once', () => {
  const top = 'extern void one(in bit<8> x); extern void two(in bit<8> x);';
  expect(errorsOf({ top, apply: 'one(m.x); two(m.x);' })).toHaveLength(2);
});

test('Programs for other architectures are refused', () => {
  const text = '#include <core.p4>\ncontrol C(); package Top(C c); control A() { apply { } } Top(A()) main;';
  const { program, diagnostics } = buildProgram({ name: 'other.p4', text });
  expect(program).toBeUndefined();
  expect(diagnostics.list.map(({ code }) => code)).toContain('unsupported-architecture');
});

test('A program with errors of syntax or type is not lowered', () => {
  expect(errorsOf({ apply: 'm.x = ;' }).map(({ layer }) => layer)).toContain('parser');
  expect(errorsOf({ apply: 'm.x = m.y;' }).map(({ layer }) => layer)).toContain('types');
});
