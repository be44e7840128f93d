import { describe, expect, it } from 'vitest';
import { describeType } from '../../../src/types/describe.js';
import {
  check,
  checkWell,
  constantOf,
  typesOf,
  withApply,
  withControl,
  withParser,
  withTop,
  written,
} from './checking.js';

const integer = (value: bigint) => ({ kind: 'integer', value }) as const;

describe('types of expressions', () => {
  it('are those after implicit conversions', () => {
    const checked = checkWell(withApply('meta.m = meta.m + 17; meta.signed = 18 - meta.signed; meta.wide = 19;'));
    expect(typesOf(checked, '17')).toEqual(['bit<8>']);
    expect(typesOf(checked, '18')).toEqual(['int<16>']);
    expect(typesOf(checked, '19')).toEqual(['bit<32>']);
    expect(checked.implicitCasts.size).toBe(0);
  });

  it('of int stay int where both operands are, and the whole is converted', () => {
    const checked = checkWell(withApply('meta.m = 20 + 21;'));
    expect(typesOf(checked, '20')).toEqual(['int']);
    expect(typesOf(checked, '20 + 21')).toEqual(['bit<8>']);
    expect(constantOf(checked, '20 + 21')).toEqual(integer(41n));
  });

  it('cut numbers that do not fit, with a warning', () => {
    const text = withApply('meta.m = 257; meta.signed = 40000; meta.m = -2;');
    expect(check(text).found.map((each) => each.split(' ').slice(0, 2).join(' '))).toEqual(
      Array(3).fill('warning value-cut'),
    );
    const checked = checkWell(text);
    expect(constantOf(checked, '257')).toEqual(integer(1n));
    expect(constantOf(checked, '40000')).toEqual(integer(-25536n));
    expect(constantOf(checked, '-2')).toEqual(integer(254n));
  });

  it('give numbers without a width the types of a newtype, but not compare them', () => {
    const checked = checkWell(withApply('Port p = 24; p = 25;'));
    expect(typesOf(checked, '24')).toEqual(['Port']);
    expect(constantOf(checked, '25')).toEqual(integer(25n));
    const { found } = check(withApply('Port p = 600; if (p == 1) { } p = 9w1;'));
    expect(found.map((each) => each.split(' ')[1])).toEqual(['value-cut', 'operand-types', 'type-mismatch']);
  });

  it('turn serializable enums into numbers where numbers are needed, and say what they were', () => {
    const checked = checkWell(
      withApply('Kind k = Kind.two; meta.m = k; meta.m = Kind.one + 1; meta.flag = k == Kind.one;'),
    );
    const casts = [...checked.implicitCasts].map(([e, type]) => [
      e.kind,
      describeType(type),
      describeType(checked.types.get(e)!),
    ]);
    expect(casts).toEqual([
      ['path', 'Kind', 'bit<8>'],
      ['member', 'Kind', 'bit<8>'],
    ]);
    expect(constantOf(checked, 'Kind.one + 1')).toEqual(integer(2n));
  });

  it('of lists and fields by name are those of the struct they become', () => {
    const checked = checkWell(
      withApply(
        'meta.pair = { 31, 32 }; meta.pair = { y = 33, x = 34 }; hdr.h = { 1, 2, ... }; meta.flag = meta.pair == { 35, 36 };',
      ),
    );
    expect(typesOf(checked, '{ 31, 32 }')).toEqual(['Pair']);
    expect(typesOf(checked, '{ y = 33, x = 34 }')).toEqual(['Pair']);
    expect(typesOf(checked, '{ 1, 2, ... }')).toEqual(['H']);
    expect(typesOf(checked, '{ 35, 36 }')).toEqual(['Pair']);
    expect(typesOf(checked, '34')).toEqual(['bit<8>']);
    // In order of the fields, whatever the order they are written in.
    expect(constantOf(checked, '{ y = 33, x = 34 }')).toEqual({
      kind: 'aggregate',
      elements: [integer(34n), integer(33n)],
    });
    expect(constantOf(checked, '{ 1, 2, ... }')).toEqual({
      kind: 'aggregate',
      elements: [integer(1n), integer(2n), integer(0n)],
    });
  });

  it('of {#} and ... are those of their places', () => {
    const checked = checkWell(
      withApply(`hdr.h = {#}; meta.flag = hdr.h == {#}; hdr.stack = { {1, 2, 3}, {#}, ... }; Meta local = ...; hdr.u = {#};
        tuple<bit<8>, bool> t = { 1, ... }; H h = (H) {#}; Kind k = ...; Color c = ...; error e = ...;`),
    );
    expect(typesOf(checked, '{#}')).toEqual(['H', 'U']);
    expect(typesOf(checked, '...')).toEqual(['Meta', 'Kind', 'Color', 'error']);
    expect(typesOf(checked, '{ {1, 2, 3}, {#}, ... }')).toEqual(['H[4]']);
    expect(typesOf(checked, '{ 1, ... }')).toEqual(['tuple<bit<8>, bool>']);
  });

  it('of slices are unsigned, of concatenations as wide as both operands', () => {
    const checked = checkWell(
      withApply(
        'meta.m = (bit<8>) meta.signed[11:4]; meta.wide = meta.signed[15:0] ++ 16w1; int<24> x = meta.signed ++ meta.m; meta.m[3:0] = meta.wide[meta.m+:4]; meta.m = 0x1234[11:4];',
      ),
    );
    expect(typesOf(checked, 'meta.signed[11:4]')).toEqual(['bit<8>']);
    expect(typesOf(checked, 'meta.signed ++ meta.m')).toEqual(['int<24>']);
    expect(typesOf(checked, 'meta.wide[meta.m+:4]')).toEqual(['bit<4>']);
    expect(constantOf(checked, '0x1234[11:4]')).toEqual(integer(0x23n));
  });

  it('of tuple elements are found by a constant index', () => {
    const checked = checkWell(withApply('tuple<bit<8>, bool> t = { 1, true }; meta.flag = t[1]; meta.m = t[0];'));
    expect(typesOf(checked, 't[1]')).toEqual(['bool']);
    expect(typesOf(checked, 't[0]')).toEqual(['bit<8>']);
  });

  it('of conditionals are those of the branch that has one', () => {
    const checked = checkWell(
      withApply('meta.m = meta.flag ? 41 : meta.m; meta.m = true ? 42 : 43; hdr.h = meta.flag ? {1, 2, 3} : hdr.h;'),
    );
    expect(typesOf(checked, '41')).toEqual(['bit<8>']);
    expect(constantOf(checked, 'true ? 42 : 43')).toEqual(integer(42n));
    expect(typesOf(checked, '{1, 2, 3}')).toEqual(['H']);
  });
});

describe('casts', () => {
  it('are those the language has', () => {
    expect(
      check(
        withApply(`meta.m = (bit<8>) meta.wide; meta.signed = (int<16>) (bit<16>) meta.wide; meta.flag = (bool) meta.m[0:0];
          meta.m[0:0] = (bit<1>) meta.flag; meta.m = (bit<8>) Kind.one; Kind k = (Kind) meta.m; std.egress_spec = (bit<9>) (Port) 5;
          Port p = (Port) std.ingress_port; meta.pair = (Pair) { 1, 2 }; meta.flag = (bool) 1; meta.wide = (bit<32>) (int) 8w5;
          bit<8> x = (bit<8>) -1; hdr.stack = (H[4]) { {1, 2, 3}, ... };`),
      ).found,
    ).toEqual([expect.stringMatching(/^warning value-cut/)]);
  });

  it('of constants have values', () => {
    const checked = checkWell(
      withTop(
        'const bit<8> a = (bit<8>) 16w0x1234;\nconst bool b = (bool) 1w1;\nconst int<8> c = (int<8>) 8w200;\nconst int d = (int) 8s0xff;'.replace(
          '8s0xff',
          '8s127',
        ),
      ),
    );
    expect(constantOf(checked, '(bit<8>) 16w0x1234')).toEqual(integer(0x34n));
    expect(constantOf(checked, '(bool) 1w1')).toEqual({ kind: 'boolean', value: true });
    expect(constantOf(checked, '(int<8>) 8w200')).toEqual(integer(-56n));
    expect(constantOf(checked, '(int) 8s127')).toEqual(integer(127n));
  });
});

describe('constants', () => {
  it('may be used before and within types', () => {
    const checked = checkWell(
      withTop(
        'const int N = 3;\nconst bit<8> M = 1 << N;\ntypedef bit<(N * 4)> T;\nstruct S { T t; H[N] hs; }\nconst T x = 5;\nconst bit<32> size = M == 8 ? 32w7 : 9;',
      ),
    );
    expect(constantOf(checked, '1 << N')).toEqual(integer(8n));
    expect(typesOf(checked, '5')).toContain('bit<12>');
    expect(constantOf(checked, 'M == 8 ? 32w7 : 9')).toEqual(integer(7n));
  });

  it('have fields and elements', () => {
    const checked = checkWell(
      withTop(
        'const Pair p = { 3, 4 };\nconst tuple<bit<8>, bool> t = { 5, true };\nconst bit<8> y = p.y;\nconst bool b = t[1];\nconst list<bit<8>> l = { 1, 2 };',
      ),
    );
    expect(constantOf(checked, 'p.y')).toEqual(integer(4n));
    expect(constantOf(checked, 't[1]')).toEqual({ kind: 'boolean', value: true });
    expect(constantOf(checked, '{ 1, 2 }')).toEqual({ kind: 'aggregate', elements: [integer(1n), integer(2n)] });
  });

  it('are members of enums and errors, by position', () => {
    const checked = checkWell(
      withTop(
        'error { First, Second }\nconst error e = error.Second;\nconst Color c = Color.green;\nconst Kind k = Kind.two;',
      ),
    );
    expect(constantOf(checked, 'Color.green')).toEqual({ kind: 'enum', member: 'green', position: 1 });
    expect(constantOf(checked, 'Kind.two')).toEqual(integer(2n));
    const position = checked.errors.indexOf('Second');
    expect(checked.errors.slice(0, 2)).toEqual(['NoError', 'PacketTooShort']);
    expect(constantOf(checked, 'error.Second')).toEqual({ kind: 'error', name: 'Second', position });
  });

  it('are sizes of types and values', () => {
    const checked = checkWell(
      withTop(
        'const int a = H.minSizeInBits();\nconst int b = W.maxSizeInBytes();\nconst int c = W.minSizeInBits();\nconst int d = Headers.maxSizeInBits();\nvoid f(in H[3] s) { bit<32> n = s.size; int<8> x = (int<8>) s.minSizeInBytes(); }',
      ),
    );
    expect(constantOf(checked, 'H.minSizeInBits()')).toEqual(integer(32n));
    expect(constantOf(checked, 'W.maxSizeInBytes()')).toEqual(integer(5n));
    expect(constantOf(checked, 'W.minSizeInBits()')).toEqual(integer(8n));
    expect(constantOf(checked, 'Headers.maxSizeInBits()')).toEqual(integer(32n + 4n * 32n + 40n + 40n));
    expect(constantOf(checked, 's.size')).toEqual(integer(3n));
    expect(constantOf(checked, 's.minSizeInBytes()')).toEqual(integer(12n));
  });

  it('do not include what depends on a constructor parameter, which is known all the same', () => {
    const checked = checkWell(
      withTop(
        'control D(inout Meta m)(int n, bool b) { const bit<8> k = n + 1; apply { m.m = n; if (b) { m.m = k << n; } resubmit_preserving_field_list(k); } }\ncontrol E(inout Meta m) { D(3, true) d; apply { d.apply(m); } }',
      ),
    );
    expect(constantOf(checked, 'n + 1')).toBeUndefined();
    expect(typesOf(checked, 'n + 1')).toEqual(['bit<8>']);
    expect(
      [...checked.implicitCasts].map(([e, type]) => [e.span.file.text.slice(e.span.start, e.span.end), type.kind]),
    ).toEqual([
      ['n + 1', 'integer'],
      ['n', 'integer'],
    ]);
  });

  it('include default values of parameters', () => {
    const checked = checkWell(withTop('void f(in bit<8> a, in bit<16> b = 300) { }\nvoid g() { f(1); }'));
    expect(typesOf(checked, '300')).toEqual(['bit<16>']);
    const call = [...checked.calls.values()].find((each) => each.kind === 'function');
    expect(call?.kind === 'function' && call.arguments.map((each) => each.argument === undefined)).toEqual([
      false,
      true,
    ]);
  });
});

describe('names', () => {
  it('are those of the innermost block, and of the top with a dot', () => {
    const checked = checkWell(
      withTop(
        'const bit<8> x = 1;\ncontrol D(inout Meta m) { const bit<16> x = 2; apply { m.m = .x; bit<32> y = (bit<32>) x; { bool x = true; m.flag = x; } } }',
      ),
    );
    expect(typesOf(checked, '.x')).toEqual(['bit<8>']);
    expect(typesOf(checked, 'x')).toEqual(['bit<16>', 'bool']);
  });

  it('are not in view before they are declared, and suggest one that is like them', () => {
    const { found, checked } = check(withApply('meta.m = later; bit<8> later = 1; meta.flga = true;'));
    expect(checked).toBeUndefined();
    expect(found.map((each) => each.split(' ')[1])).toEqual(['unknown-name', 'unknown-field']);
  });

  it('that are wrong are reported once, and what follows from them is not', () => {
    const { found } = check(
      withApply(
        'bit<8> x = nothing + 1; x = x + (nothing << 3); if (nothing == x) { } hash(x, HashAlgorithm.crc16, nothing, { nothing, x }, 8w1);',
      ),
    );
    expect(found.map((each) => each.split(' ')[1])).toEqual(Array(5).fill('unknown-name'));
  });
});

describe('header stacks', () => {
  it('have next, last and lastIndex in parsers', () => {
    const checked = checkWell(
      withParser(
        'state start { pkt.extract(hdr.stack.next); meta.wide = hdr.stack.lastIndex; meta.m = hdr.stack.last.a; transition accept; }',
      ),
    );
    expect(typesOf(checked, 'hdr.stack.next')).toEqual(['H']);
    expect(typesOf(checked, 'hdr.stack.lastIndex')).toEqual(['bit<32>']);
    const [next] = written(checked, 'hdr.stack.next');
    expect(checked.members.get(next!)).toEqual({ kind: 'stack', property: 'next' });
  });

  it('have numbers as indices, constant or not', () => {
    const checked = checkWell(
      withApply('hdr.stack[meta.m].a = 1; hdr.stack[2] = hdr.h; hdr.stack.push_front(2); hdr.stack.pop_front(8w1);'),
    );
    expect(typesOf(checked, '2')).toContain('bit<32>');
    const counts = [...checked.calls.values()].flatMap((call) =>
      call.kind === 'builtin' ? [[call.method, call.count]] : [],
    );
    expect(counts).toEqual([
      ['push_front', 2],
      ['pop_front', 1],
    ]);
  });
});

describe('statements', () => {
  it('with loops have the type of the loop variable', () => {
    const checked = checkWell(
      withApply(
        'for (bit<8> i in 1 .. 5) { meta.m = i; if (i == 3) break; } for (H h in hdr.stack) { meta.m = h.a; } for (bit<8> i = 0; i < 9; i = i + 1) { continue; } for (bit<8> k in { 1, 2, meta.m }) { }',
      ),
    );
    expect([...checked.loops.values()].map(describeType)).toEqual(['bit<8>', 'H', 'bit<8>']);
  });

  it('with operators take what the operator takes', () => {
    const checked = checkWell(withApply('meta.m += 51; meta.m <<= 52; meta.m |+|= 53; meta.m[3:0] |= 5;'));
    expect(typesOf(checked, '51')).toEqual(['bit<8>']);
    expect(typesOf(checked, '52')).toEqual(['int']);
    expect(typesOf(checked, '53')).toEqual(['bit<8>']);
    expect(typesOf(checked, 'meta.m')).toEqual(['bit<8>']);
  });

  it('switch on values and on actions', () => {
    const checked = checkWell(
      withControl(
        'action a() { } action b() { }\ntable t { actions = { a; b; } }',
        'switch (meta.m) { 61: 62: { } default: { } } switch (Color.red) { Color.red: { } Color.green: { } } switch (t.apply().action_run) { a: b: { return; } } if (t.apply().hit) { exit; }',
      ),
    );
    expect(typesOf(checked, '61')).toEqual(['bit<8>']);
    const labels = [...checked.references].filter(
      ([path, symbol]) => symbol.kind === 'action' && path.name.text === 'b',
    );
    expect(labels.length).toBe(2);
  });
});
