import fc from 'fast-check';
import { expect, test } from 'vitest';
import { applied, build, printed } from './building.js';

const seed = Number(process.env.INT_SEED ?? 20_261_121);

/** Expressions of bit<8> over two names, without division. */
const expression = fc.letrec<{ tree: string }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('p', 'q'),
    fc.nat({ max: 255 }).map((value) => `8w${value}`),
    fc
      .tuple(tie('tree'), fc.constantFrom('+', '-', '*', '&', '|', '^', '|+|', '|-|'), tie('tree'))
      .map(([left, operator, right]) => `(${left} ${operator} ${right})`),
    fc.tuple(tie('tree'), fc.nat({ max: 9 })).map(([operand, by]) => `(${operand} >> ${by})`),
    fc.tuple(tie('tree'), fc.nat({ max: 9 })).map(([operand, by]) => `(${operand} << ${by})`),
    tie('tree').map((operand) => `(~${operand})`),
    tie('tree').map((operand) => `(${operand}[3:0] ++ ${operand}[7:4])`),
    fc
      .tuple(tie('tree'), tie('tree'), tie('tree'))
      .map(([left, yes, no]) => `(${left} > 8w100 ? ${yes} : (bit<8>)(int<8>)${no})`),
  ),
})).tree;

const byte = fc.nat({ max: 255 });

test('What depends on constructor parameters is computed as what is written in numbers', () => {
  fc.assert(
    fc.property(fc.array(expression, { minLength: 1, maxLength: 12 }), byte, byte, (expressions, p, q) => {
      const values: Readonly<Record<string, string>> = { p: `8w${p}`, q: `8w${q}` };
      const written = expressions.map((each) => each.replace(/\b[pq]\b/g, (name) => values[name] ?? name));
      const expected = applied({ apply: written.map((each) => `m.x = ${each};`).join('\n') });
      for (const line of expected) expect(line).toMatch(/^m\.x = 8w\d+;$/);

      const statements = expressions.map((each) => `x = ${each};`).join('\n');
      const top = `control Sub(inout bit<8> x)(bit<8> p, bit<8> q) { apply { ${statements} } }`;
      const program = build({ top, locals: `Sub(${p}, ${q}) sub;`, apply: 'sub.apply(m.x);' });
      expect(printed(program, 'control I.sub').slice(2, -2)).toEqual(
        expected.map((line) => line.replace('m.x', '    x')),
      );
    }),
    { seed, numRuns: 25 },
  );
});
