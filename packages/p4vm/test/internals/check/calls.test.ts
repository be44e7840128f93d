import { describe, expect, it } from 'vitest';
import type { CheckedProgram, ResolvedCall } from '../../../src/check/checked-program.js';
import { hasVariable } from '../../../src/types/compare.js';
import { describeType } from '../../../src/types/describe.js';
import { check, checkWell, typesOf, withApply, withControl, withParser, withTop } from './checking.js';

function callsOf<Kind extends ResolvedCall['kind']>(
  checked: CheckedProgram,
  kind: Kind,
): Extract<ResolvedCall, { kind: Kind }>[] {
  return [...checked.calls.values()].filter(
    (call): call is Extract<ResolvedCall, { kind: Kind }> => call.kind === kind,
  );
}

describe('calls', () => {
  it('take arguments by position and by name, in order of the parameters', () => {
    const checked = checkWell(
      withTop(
        'void f(in bit<8> x, out bit<16> y) { y = 1; }\nvoid g() { bit<16> z; f(71, z); f(y = z, x = 72); f(y = _, x = 73); }',
      ),
    );
    const calls = callsOf(checked, 'function');
    expect(calls.map((call) => call.arguments.map((each) => each.parameter.name.text))).toEqual(
      Array(3).fill(['x', 'y']),
    );
    expect(typesOf(checked, '72')).toEqual(['bit<8>']);
  });

  it('find overloads by number, by names and then by types', () => {
    const checked = checkWell(
      withTop(
        `extern void e(in bit<8> a);
extern void e(in bit<8> a, in bit<8> b);
extern void e(in bit<8> a, in bit<8> c);
bit<8> f(in bit<8> x) { return x; }
bit<16> f(in bit<16> y) { return y; }
void g(inout bit<8> x, inout bit<16> y) { e(1); e(a = 1, c = 2); x = f(x); y = f(y); y = f(y = 1); mark(); }
`.replace(' mark();', ''),
      ),
    );
    expect(
      callsOf(checked, 'extern-function').map((call) => call.arguments.map((each) => each.parameter.name.text)),
    ).toEqual([['a'], ['a', 'c']]);
    expect(callsOf(checked, 'function').map((call) => describeType(call.returnType))).toEqual([
      'bit<8>',
      'bit<16>',
      'bit<16>',
    ]);
  });

  it('of generic externs have the types that were inferred', () => {
    const checked = checkWell(
      withControl(
        'register<bit<16>>(8) r;',
        `hash(meta.m, HashAlgorithm.crc16, 8w0, { hdr.h.a, hdr.h.b }, 8w9); r.read(hdr.h.b, 3); random(meta.wide, 0, 10); digest<Pair>(1, meta.pair); digest(1, { x = meta.m, y = hdr.h.b });
        log_msg("x = {}", { meta.m });`,
      ),
    );
    expect(
      callsOf(checked, 'extern-function').map((call) => [call.name, ...call.typeArguments.map(describeType)]),
    ).toEqual([
      ['hash', 'bit<8>', 'bit<8>', 'tuple<bit<8>, bit<16>>', 'bit<8>'],
      ['random', 'bit<32>'],
      ['digest', 'Pair'],
      ['digest', '{x = bit<8>, y = bit<16>}'],
      ['log_msg', 'tuple<bit<8>>'],
    ]);
    const [read] = callsOf(checked, 'extern-method');
    expect(describeType(checked.types.get(read!.object)!)).toBe('register<bit<16>>');
    expect(read?.arguments.map((each) => describeType(each.type))).toEqual(['bit<16>', 'bit<32>']);
    expect(typesOf(checked, '10')).toEqual(['bit<32>']);
  });

  it('of generic functions call a copy for each list of type arguments', () => {
    const checked = checkWell(
      withTop(
        'T pick<T>(in bool b, in T x, in T y) { T z = x; if (b) { z = y; } return z; }\nvoid g(inout bit<8> a, inout bit<16> c, inout Pair p) { a = pick(true, a, 1); a = pick<bit<8>>(false, 3, a); c = pick(true, c, c); p = pick(true, p, { 1, 2 }); }',
      ),
    );
    const calls = callsOf(checked, 'function');
    expect(calls.map((call) => describeType(call.returnType))).toEqual(['bit<8>', 'bit<8>', 'bit<16>', 'Pair']);
    expect(calls[0]?.declaration).toBe(calls[1]?.declaration);
    expect(new Set(calls.map((call) => call.declaration)).size).toBe(3);
    for (const { declaration } of calls) expect(declaration.typeParameters).toEqual([]);
    for (const type of [...checked.types.values(), ...checked.typeNodes.values()])
      expect(hasVariable(type)).toBe(false);
    expect(typesOf(checked, 'z')).toEqual(['bit<8>', 'bit<16>', 'Pair']);
  });

  it('of generic functions are checked within themselves once, with variables', () => {
    const { found } = check(withTop('T f<T>(in T x) { return x + 1; }'));
    expect(found.map((each) => each.split(' ')[1])).toEqual(['operand-types']);
  });

  it('of packet methods have the types of headers', () => {
    const checked = checkWell(
      withParser(
        'state start { pkt.extract(hdr.h); pkt.extract(hdr.w, 32w16); meta.m = pkt.lookahead<bit<8>>(); pkt.advance(8); pkt.extract<H>(_); transition accept; }',
      ),
    );
    expect(
      callsOf(checked, 'extern-method').map((call) => [
        call.method.name.text,
        call.arguments.length,
        ...call.typeArguments.map(describeType),
      ]),
    ).toEqual([
      ['extract', 1, 'H'],
      ['extract', 2, 'W'],
      ['lookahead', 0, 'bit<8>'],
      ['advance', 1],
      ['extract', 1, 'H'],
    ]);
  });

  it('of actions take their data as well', () => {
    const checked = checkWell(withControl('action a(inout bit<8> x, bit<8> y) { x = y; }', 'a(meta.m, meta.pair.x);'));
    expect(callsOf(checked, 'action').map((call) => call.arguments.length)).toEqual([2]);
  });

  it('apply instances, types and constructor parameters', () => {
    const checked = checkWell(
      withTop(`control K(inout Meta m);
control D(inout Meta m) { apply { m.m = 1; } }
control E(inout Meta m)(K k) { D() d; apply { d.apply(m); D.apply(m); k.apply(m); } }
control F(inout Meta m) { D() d; E(d) e; apply { e.apply(m); } }`),
    );
    expect(callsOf(checked, 'apply').map((call) => [call.target.kind, call.target.name.text, call.isDirect])).toEqual([
      ['control', 'D', false],
      ['control', 'D', true],
      ['control-type', 'K', false],
      ['control', 'E', false],
    ]);
  });

  it('of generic controls apply a copy', () => {
    const checked = checkWell(
      withTop(
        'control D<T>(inout T x) { apply { T y = x; x = y; } }\ncontrol E(inout Meta m) { D<bit<8>>() d; apply { d.apply(m.m); D<Pair>.apply(m.pair); } }',
      ),
    );
    const targets = callsOf(checked, 'apply').map((call) => call.target);
    expect(targets.map((target) => target.typeParameters.length)).toEqual([0, 0]);
    expect(targets[0]).not.toBe(targets[1]);
    expect(typesOf(checked, 'y')).toEqual(['bit<8>', 'Pair']);
  });
});

describe('generic types', () => {
  it('are one type per list of type arguments', () => {
    const checked = checkWell(
      withTop(
        'struct G<T> { T x; bit<8> y; }\nheader K<T> { T x; }\nvoid f(inout G<bit<8>> a, in G<bit<8>> b) { a = b; G<Pair> p = { { 1, 2 }, 3 }; K<bit<16>>[2] ks; ks[0] = { 5 }; a.x = p.x.y; }',
      ),
    );
    expect(typesOf(checked, 'b')).toEqual(['G<bit<8>>']);
    expect(typesOf(checked, '{ { 1, 2 }, 3 }')).toEqual(['G<Pair>']);
    expect(typesOf(checked, '5')).toContain('bit<16>');
  });

  it('do not mix', () => {
    const { found } = check(withTop('struct G<T> { T x; }\nvoid f(inout G<bit<8>> a, in G<bit<16>> b) { a = b; }'));
    expect(found.map((each) => each.split(' ')[1])).toEqual(['type-mismatch']);
  });

  it('of packages follow from the parsers and controls given', () => {
    const checked = checkWell(withTop(''));
    const main = checked.instances.get(checked.main);
    expect(main?.kind === 'package' && [main.name, ...main.typeArguments.map(describeType)]).toEqual([
      'V1Switch',
      'Headers',
      'Meta',
    ]);
    expect(main?.arguments.length).toBe(6);
    const kinds = main?.arguments.map(({ argument }) => {
      const call = argument?.value.kind === 'call' ? checked.calls.get(argument.value) : undefined;
      return call?.kind === 'constructor' ? call.constructor.kind : undefined;
    });
    expect(kinds).toEqual(['parser', 'control', 'control', 'control', 'control', 'control']);
  });

  it('of externs are inferred from their constructor, or come with a typedef', () => {
    const checked = checkWell(
      withTop(
        'extern Box<T> { Box(T x); T get(); }\ntypedef register<bit<16>> Sixteen;\ncontrol D(inout Meta m, inout bit<16> w) { Box(8w3) box; Sixteen(4) r; apply { m.m = box.get(); r.read(w, 0); } }',
      ),
    );
    const instances = [...checked.instances.values()].flatMap((each) =>
      each.kind === 'extern' ? [each.typeArguments.map(describeType)] : [],
    );
    expect(instances).toEqual([['bit<8>'], ['bit<16>']]);
  });
});

describe('places', () => {
  it('allow functions and externs among locals, and calls of functions in functions', () => {
    expect(check(withControl('register<bit<8>>(1) r;\nbit<8> x = 1;', 'r.write(0, x);')).found).toEqual([]);
    expect(
      check(withTop('bit<8> f(in bit<8> x) { return x; }\nbit<8> g(in bit<8> x) { return f(x) + f(1); }')).found,
    ).toEqual([]);
  });

  it('allow assertions at compile time that hold', () => {
    expect(check(withTop('const bool ok = static_assert(H.minSizeInBits() == 32, "size");')).found).toEqual([]);
  });

  it('allow a select on a constructor parameter', () => {
    expect(
      check(
        withTop(
          'parser Q(packet_in b, out Headers h)(bool deep) { state start { transition select(deep) { false: accept; true: more; } } state more { b.extract(h.h); transition accept; } }',
        ),
      ).found,
    ).toEqual([]);
  });

  it('do not allow instances of controls in parsers', () => {
    const { found } = check(withParser('state start { transition accept; }', 'TheCHECK() c;'));
    expect(found.map((each) => each.split(' ')[1])).toEqual(['instance-place']);
  });

  it('do not keep a program from being checked further', () => {
    const { found } = check(withApply('meta.m = true; meta.flag = 1; hdr.h.setValid(1); verify(true, error.NoError);'));
    expect(found.length).toBe(4);
  });
});
