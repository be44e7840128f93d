import { runStf } from '@int/p4vm';
import { formatStfResult } from '@int/p4vm/internals';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { build } from './building.js';

const seed = Number(process.env.INT_SEED ?? 20_261_121);

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');

interface Case {
  readonly a: number;
  readonly b: number;
}

/** Sends a header h_t with `a` and `b` per case, and expects `model` in `b` of what comes out. */
function runCases(apply: string, locals: string, model: (one: Case) => number, top = ''): void {
  const program = build({ apply: `sm.egress_spec = 1; ${apply}`, locals, top });
  fc.assert(
    fc.property(
      fc.array(fc.record({ a: fc.nat({ max: 40 }), b: fc.nat({ max: 0xffff }) }), { minLength: 5, maxLength: 30 }),
      (cases) => {
        const text = cases.map((one) => {
          const { a, b } = one;
          return `packet 0 ${hex(a, 2)}${hex(b, 4)}\nexpect 1 ${hex(a, 2)}${hex(model(one) & 0xffff, 4)} $\n`;
        });
        const result = runStf(program, text.join(''));
        expect(result.passed ? '' : formatStfResult(result)).toBe('');
      },
    ),
    { seed, numRuns: 25 },
  );
}

test('A slice at a position of run time is written without touching other bits, and not at all beyond the end', () => {
  const mask = (a: number): number => (a > 15 ? 0 : (0x3f << a) & 0xffff);
  runCases('hdr.h.b[hdr.h.a +: 6] = 6w0x2d;', '', ({ a, b }) => (b & ~mask(a)) | ((0x2d * 2 ** a) & mask(a)));
});

test('A slice at a position of run time can be added to', () => {
  runCases('hdr.h.b[hdr.h.a +: 4] += 3;', '', ({ a, b }) => {
    if (a > 15) return b;
    const mask = (0xf << a) & 0xffff;
    return (b & ~mask) | (((((b >> a) & 0xf) + 3) << a) & mask);
  });
});

test('An index with side effects is evaluated once, before the value', () => {
  const top = 'bit<8> next(inout bit<8> x) { x = x + 1; return x; }';
  const apply = `m.x = hdr.h.a & 1;
    hdr.s[0].a = 0; hdr.s[1].a = 10; hdr.s[2].a = 20;
    hdr.s[next(m.x)].a += next(m.x);
    hdr.h.b = (bit<16>)(hdr.s[0].a ++ 8w0) + (bit<16>)(hdr.s[1].a << 1) + (bit<16>)(hdr.s[2].a << 2);
    hdr.h.b = (hdr.h.b << 4) + (bit<16>)m.x;`;
  runCases(
    apply,
    '',
    ({ a }) => {
      const cells = [0, 10, 20];
      const index = (a & 1) + 1;
      cells[index] = (cells[index] ?? 0) + index + 1;
      const [first = 0, second = 0, third = 0] = cells;
      return (((first << 8) + (second << 1) + (third << 2)) << 4) + index + 1;
    },
    top,
  );
});

test('A loop over a list takes its elements in order, as they were before it', () => {
  const apply = `bit<16> sum = 0;
    for (bit<16> v in { 16w5, hdr.h.b, (bit<16>)hdr.h.a }) {
      hdr.h.b = 0;
      if (v == 5) continue;
      sum = sum * 3 + v;
      if (v == 7) break;
    }
    hdr.h.b = sum;`;
  runCases(apply, '', ({ a, b }) => {
    let sum = 0;
    for (const v of [5, b, a]) {
      if (v === 5) continue;
      sum = sum * 3 + v;
      if (v === 7) break;
    }
    return sum;
  });
});

test('Instances of one control keep their values and objects apart', () => {
  const top = `control Add(inout bit<16> x, register<bit<16>> r)(bit<16> k, bool twice) {
      bit<16> step = k + 1;
      apply { x = x + step; if (twice) { x = x + (k << 2); } r.write(0, k); }
    }`;
  const locals = 'register<bit<16>>(1) r1; register<bit<16>>(1) r2; Add(5, false) one; Add(7, true) two;';
  const apply = `one.apply(hdr.h.b, r1); two.apply(hdr.h.b, r2);
    bit<16> v; r1.read(v, 0); hdr.h.b = hdr.h.b + v; r2.read(v, 0); hdr.h.b = hdr.h.b + v;`;
  runCases(apply, locals, ({ b }) => b + 6 + 8 + 28 + 5 + 7, top);
});
