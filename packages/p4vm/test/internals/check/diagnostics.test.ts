import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { check, withApply, withControl, withParser, withTop } from './checking.js';

/** Types of twice as many parts as the one before, up to the first that has too many, which gets the §. */
function doubled(declare: (mark: string, i: number) => string): string {
  return Array.from({ length: 17 }, (_, i) => `${declare(i === 16 ? '§' : '', i)}\n`).join('');
}

/** Programs that lead to a diagnostic, with a § where it has to point. */
const CASES: Readonly<Record<string, readonly string[]>> = {
  'abstract-method': [
    withTop('extern E { E(); abstract void f(in bit<8> x); }\n§E() e;'),
    withControl('TheCHECK() c = { §void f() { } };'),
  ],
  'action-binding': [
    withControl('action a(in bit<8> x) { }\ntable t { actions = { a(meta.m); } default_action = a(§meta.pair.x); }'),
  ],
  'action-data-type': [withControl('action a(Pair p) { }\ntable t { actions = { §a; } }')],
  'action-not-listed': [
    withControl('action a() { }\ntable t { actions = { NoAction; } default_action = §a; }'),
    withControl('action a() { }\ntable t { key = { meta.m : exact; } actions = { } entries = { 1 : §a(); } }'),
  ],
  'ambiguous-call': [withTop('void f(in bit<8> x) { }\nvoid f(in bit<16> y) { }\nvoid g() { §f(1); }')],
  'argument-any': [
    withTop('extern void f(in bit<8> x, inout bit<8> y);\nvoid g(inout bit<8> z) { f(§_, z); }'),
    withTop('extern void f(in bit<8> x, inout bit<8> y);\nvoid g() { f(1, §_); }'),
  ],
  'argument-count': [
    withTop('void f(in bit<8> x) { }\nvoid g() { §f(); }'),
    withTop('void f(in bit<8> x) { }\nvoid g() { f(1, §2); }'),
    withTop('void f(in bit<8> x, in bit<8> y) { }\nvoid g() { §f(y = 1); }'),
    withApply('hdr.h.setValid(§1);'),
    withApply('§hdr.stack.push_front();'),
    withTop('control D()(bit<8> n) { apply { } }\ncontrol E() { apply { §D.apply(); } }'),
    withControl('action a(bit<8> x) { }\ntable t { actions = { a(§1); } }'),
    withControl('action a(in bit<8> x) { }\ntable t { actions = { §a; } }'),
    withControl('action a(bit<8> x) { }\ntable t { actions = { a; } default_action = §a(); }'),
  ],
  'call-place': [
    withControl('action a() { }\ntable t { actions = { a; } }\naction b() { §t.apply(); }'),
    withTop('bit<8> f() { return 1; }\nconst bit<8> x = §f();'),
    withTop('void f(inout Headers h, inout Meta m) { §TheCHECK.apply(h, m); }'),
    withParser('state start { §TheCHECK.apply(hdr, meta); transition accept; }'),
    withTop(
      'control D(packet_in p, out Headers h, inout Meta m, inout standard_metadata_t s) { apply { §ThePARSER.apply(p, h, m, s); } }',
    ),
    withTop('action a() { }\nvoid f() { §a(); }'),
    withControl('action b() { §TheCHECK.apply(hdr, meta); }'),
  ],
  'cannot-infer': [withTop('extern T f<T>();\nvoid g() { §f(); }')],
  cast: [
    withApply('meta.m = §(bit<8>) meta.signed;'),
    withApply('meta.flag = §(bool) meta.m;'),
    withApply('meta.flag = §(bool) 2;'),
    withApply('meta.m = §(bit<8>) Color.red;'),
    withApply('meta.pair = §(Pair) hdr.h;'),
  ],
  'default-only': [
    withControl(
      'action a() { }\ntable t { key = { meta.m : exact; } actions = { @defaultonly a; } entries = { 1 : §a(); } }',
    ),
  ],
  'default-order': [withApply('switch (meta.m) { §default: { } 1: { } }')],
  'default-value': [withTop('void f(out bit<8> x = §1) { x = 1; }')],
  'division-by-zero': [withApply('meta.m = §meta.m / 0;'), withTop('const int x = §1 % 0;')],
  'duplicate-action': [withControl('table t { actions = { NoAction; §NoAction; } }')],
  'duplicate-argument': [withTop('void f(in bit<8> x) { }\nvoid g() { f(x = 1, §x = 2); }')],
  ERR_CONTROL_DUPLICATE_ENTRY: [
    withControl(
      'table t { key = { meta.m : exact; } actions = { NoAction; } entries = { 1 : NoAction(); §1 : NoAction(); } }',
    ),
  ],
  'duplicate-label': [
    withApply('switch (meta.m) { 1: { } §1: { } }'),
    withControl(
      'table t { actions = { NoAction; } }',
      'switch (t.apply().action_run) { NoAction: { } §NoAction: { } }',
    ),
  ],
  'duplicate-name': [
    withTop('struct S { bit<8> x; bit<8> §x; }'),
    withTop('const bit<8> x = 1;\nconst bit<8> §x = 2;'),
    withTop('enum E { a, §a }'),
    withTop('error { §NoError }'),
    withTop('match_kind { §exact }'),
    withTop('void f(in bit<8> x, in bit<8> §x) { }'),
    withTop('void f(in bit<8> x) { }\nvoid §f(in bit<8> x) { }'),
    withTop('extern void f<T, §T>(in T x);'),
    withTop('extern E { void f(in bit<8> x); void §f(in bit<16> x); }'),
    withParser('state start { transition accept; }\nstate §start { transition accept; }'),
    withApply('bit<8> x; bit<8> §x;'),
    withApply('meta.pair = { x = 1, y = 1, §x = 2 };'),
    withControl('action a() { }\nbit<8> §a;'),
  ],
  'element-count': [
    withApply('meta.pair = §{ 1 };'),
    withApply('meta.pair = §{ 1, 2, 3 };'),
    withApply('meta.pair = §{ 1, 2, 3, ... };'),
  ],
  'element-type': [
    withTop('typedef tuple<§packet_in> T;'),
    withTop('typedef §error[3] T;'),
    withTop('typedef list<§packet_in> T;'),
  ],
  'emit-type': [withTop('control D(packet_out p, in Meta m) { apply { §p.emit(m); } }')],
  'empty-range': [withParser('state start { transition select(meta.m) { §5 .. 3 : accept; } }')],
  'entries-without-key': [withControl('table t { actions = { NoAction; } §entries = { 1 : NoAction(); } }')],
  'entry-label': [
    withControl('table t { key = { meta.m : exact; } actions = { NoAction; } entries = { §1 &&& 1 : NoAction(); } }'),
    withControl('table t { key = { meta.m : exact; } actions = { NoAction; } entries = { §_ : NoAction(); } }'),
    withControl('table t { key = { meta.m : lpm; } actions = { NoAction; } entries = { §1 &&& 0x0f : NoAction(); } }'),
    withControl('table t { key = { meta.m : ternary; } actions = { NoAction; } entries = { §1 .. 2 : NoAction(); } }'),
    withControl('table t { key = { meta.m : range; } actions = { NoAction; } entries = { §1 &&& 2 : NoAction(); } }'),
    withControl('table t { key = { meta.m : selector; } actions = { NoAction; } entries = { §1 : NoAction(); } }'),
  ],
  'entry-priority': [
    withControl(
      'table t { key = { meta.m : ternary; } actions = { NoAction; } const entries = { priority = §1: 1 : NoAction(); } }',
    ),
    withControl(
      'table t { key = { meta.m : ternary; } actions = { NoAction; } entries = { §1 : NoAction(); priority = 9: 2 : NoAction(); } }',
    ),
    withControl(
      'table t { key = { meta.m : ternary; } actions = { NoAction; } entries = { priority = §(-1): 1 : NoAction(); } }',
    ),
    withControl(
      'table t { key = { meta.m : ternary; } actions = { NoAction; } entries = { priority = 0: 1 : NoAction(); §2 : NoAction(); } }',
    ),
  ],
  'enum-type': [withTop('enum §bool E { a = true }')],
  'exit-place': [withTop('void f() { §exit; }')],
  'extract-type': [
    withParser('state start { §pkt.extract(meta); transition accept; }'),
    withParser('state start { §pkt.extract(hdr.w); transition accept; }'),
    withParser('state start { §pkt.extract(hdr.h, 32w8); transition accept; }'),
    withParser('state start { W w = §pkt.lookahead<W>(); transition accept; }'),
  ],
  'field-type': [
    withTop('header G { §error e; }'),
    withTop('header G { §Color c; }'),
    withTop('struct S { §packet_in p; }'),
    withTop('header_union V { §bit<8> x; }'),
    withTop('header G<T> { T x; }\ntypedef §G<error> E;'),
  ],
  'indefinite-type': [withTop('struct G<T> { T x; }\nvoid f() { §G<_> g; }')],
  'index-range': [
    withApply('hdr.h = hdr.stack[§4];'),
    withApply('hdr.h = hdr.stack[§-1];'),
    withApply('tuple<bit<8>> t = { 1 }; meta.m = t[§1];'),
    withApply('hdr.stack.push_front(§-1);'),
  ],
  'index-type': [withApply('hdr.h = hdr.stack[§true];')],
  'instance-place': [
    withTop('§TheCHECK() c;'),
    withControl('§ThePARSER() p;'),
    withApply('§counter(1, CounterType.packets) c;'),
    withApply('mark_to_drop(§direct_counter(CounterType.packets));'),
  ],
  'key-name': [withControl('table t { key = { §meta.m + 1 : exact; } actions = { NoAction; } }')],
  'key-type': [
    withControl('table t { key = { §meta.pair : exact; } actions = { NoAction; } }'),
    withControl('table t { key = { §1 : exact; } actions = { NoAction; } }'),
    withControl('table t { key = { §meta.flag : lpm; } actions = { NoAction; } }'),
  ],
  'label-count': [withParser('state start { transition select(meta.m, meta.m) { §(1, 2, 3) : accept; } }')],
  'label-type': [
    withParser('state start { transition select(meta.flag) { §true &&& true : accept; } }'),
    withParser('state start { transition select(meta.m) { §vs : accept; } }', 'value_set<bit<16>>(4) vs;'),
  ],
  'large-shift': [withApply('meta.m = §meta.m << 8;')],
  'loop-place': [withApply('§break;'), withApply('if (meta.flag) §continue;')],
  'loop-type': [
    withApply('for (bit<8> x in §hdr.stack) { }'),
    withApply('for (bit<8> x in §meta.m) { }'),
    withApply('for (bool x in §true .. false) { }'),
  ],
  'loop-variable': [withApply('for (§meta.m in 1 .. 3) { }')],
  'method-name': [withTop('extern E { E(); void §E(in bit<8> x); }')],
  'missing-actions': [withControl('table §t { key = { meta.m : exact; } }')],
  'missing-field': [withApply('meta.pair = §{ x = 1 };')],
  'missing-return': [
    withTop('bit<8> §f(in bool b) { if (b) { return 1; } }'),
    withTop('bit<8> §f(in bit<8> b) { switch (b) { 1: { return 1; } } }'),
  ],
  'mixed-arguments': [withTop('void f(in bit<8> x, in bit<8> y) { }\nvoid g() { f(x = 1, §2); }')],
  'negative-division': [withTop('const int x = §-4 / 2;'), withApply('meta.m = §meta.m % -2;')],
  'negative-shift': [withApply('meta.m = meta.m << §-1;')],
  'no-constructor': [withControl('§packet_in() p;'), withControl('§Meta() m;'), withControl('§H() h;')],
  'no-default': [withTop('const list<bit<8>> x = §...;')],
  'no-main': ['§#include <core.p4>\nconst bit<8> x = 1;'],
  'no-members': [withApply('meta.m = meta.m.§x;'), withApply('meta.m = Port.§x;')],
  'no-overload': [withApply('§mark_to_drop(std, std);')],
  'no-size': [withTop('const int x = §Color.minSizeInBits();')],
  'no-start': [withTop('parser §P() { state begin { transition accept; } }')],
  'not-a-type': [withTop('const bit<8> x = 1;\nconst §x y = 1;')],
  'not-a-value': [withApply('meta.m = §Meta;'), withControl('action a() { }', 'meta.m = §a;')],
  'not-an-action': [
    withTop('void f() { }\ncontrol C() { table t { actions = { §f; } } apply { } }'),
    withControl('table t { actions = { NoAction; } default_action = §1; }'),
  ],
  'not-assignable': [
    withTop('void f(in bit<8> x) { §x = 1; }'),
    withTop('const bit<8> x = 1;\nvoid f() { §x = 2; }'),
    withControl('action a(bit<8> x) { §x = 1; }'),
    withTop('void f(out bit<8> x) { x = 1; }\nvoid g(in bit<8> y) { f(§y); }'),
    withTop('void f(out bit<8> x) { x = 1; }\nvoid g() { f(§1 + 8w1); }'),
    withParser('state start { §hdr.stack.last = hdr.h; transition accept; }'),
    withTop('void f(in H h) { §h.setValid(); }'),
  ],
  'not-callable': [withApply('§meta();')],
  'not-constant': [
    withTop('void f(in bit<8> x) { bit<8> y = x[§x:0][7:0]; }'),
    withTop('void f(in bit<8> x) { const bit<8> y = §x; }'),
    withApply('hdr.stack.push_front(§meta.m);'),
    withApply('switch (meta.m) { §meta.pair.x: { } }'),
    withApply('resubmit_preserving_field_list(§meta.m);'),
    withControl('action a(bit<8> x) { }\ntable t { actions = { a; } default_action = a(§meta.m); }'),
    withControl('table t { key = { meta.m : exact; } actions = { NoAction; } entries = { §meta.m : NoAction(); } }'),
    withControl('table t { actions = { NoAction; } size = §meta.m; }'),
  ],
  'not-indexable': [withApply('meta.m = §meta.m[0];')],
  'only-in-parser': [withApply('hdr.h = hdr.stack.§next;'), withApply('§verify(true, error.NoError);')],
  'operand-type': [
    withApply('meta.flag = §meta.flag + meta.flag;'),
    withApply('meta.flag = §!meta.m;'),
    withApply('meta.flag = §meta.m && true;'),
    withApply('meta.m = §~1;'),
    withApply('meta.flag = §Color.red < Color.green;'),
    withApply('meta.signed = §meta.signed / meta.signed;'),
  ],
  'operand-types': [
    withApply('meta.m = §meta.m + meta.wide;'),
    withApply('meta.flag = §meta.m == meta.signed;'),
    withApply('meta.flag = §Color.red == Kind.one;'),
    withApply('meta.m = §meta.flag ? 8w1 : 16w1;'),
  ],
  'optional-parameter': [
    withTop('void f(§@optional in bit<8> x) { }'),
    withTop('extern void f(§@optional in bit<8> x = 1);'),
  ],
  'parameter-direction': [withTop('control D()(§in bit<8> x) { apply { } }'), withTop('package Q(§in bit<8> x);')],
  'parameter-order': [withControl('action a(bit<8> x, §in bit<8> y) { }')],
  'parameter-type': [
    withTop('void f(in §packet_in p) { }'),
    withTop('void f(in §int x) { }'),
    withTop('control D(§TheCHECK c) { apply { } }'),
    withTop('action a(in §string s) { }'),
    withTop('extern void f<T>(in T x);\nvoid g() { f(§"x"); }'),
  ],
  'property-order': [
    withControl('table t { §entries = { 1 : NoAction(); } key = { meta.m : exact; } actions = { NoAction; } }'),
  ],
  'property-type': [
    withControl('table t { actions = { NoAction; } size = §true; }'),
    withControl('direct_counter(CounterType.packets) d;\ntable t { actions = { NoAction; } meters = §d; }'),
  ],
  'property-value': [withControl('table t { actions = { NoAction; } priority_delta = §0; }')],
  recursion: [
    withTop('void f() { §f(); }'),
    withControl('action a() { §a(); }'),
    withTop('control D() { apply { §D.apply(); } }'),
    withTop('control D() { §D() d; apply { } }'),
  ],
  'reserved-state': [withParser('state start { transition accept; }\nstate §accept { transition start; }')],
  'return-type': [withTop('extern §packet_in f();')],
  'return-value': [
    withTop('bit<8> f() { §return; }'),
    withTop('void f() { return §1; }'),
    withApply('return §1;'),
    withControl('action a() { return §meta.m; }'),
  ],
  'select-type': [withParser('state start { transition select(§meta.pair) { default: accept; } }')],
  'shadowed-parameter': [withTop('void f(in bit<8> x) { bit<8> §x; }'), withControl('bit<8> §meta;')],
  'shift-amount': [withApply('meta.m = meta.m << §meta.signed;'), withApply('meta.m = meta.m << §true;')],
  'slice-base': [withApply('meta.m = §meta.pair[7:0];')],
  'slice-bounds': [
    withApply('meta.m = §meta.m[8:1];'),
    withApply('meta.m[1:0] = §meta.m[0:1];'),
    withApply('meta.m = §meta.m[4+:8];'),
    withApply('meta.m = meta.wide[§meta.signed+:8];'),
  ],
  'stack-size': [withTop('typedef H[§0] T;'), withTop('typedef H[§-1] T;')],
  'static-assertion': [withTop('const bool x = §static_assert(1 > 2, "one is not more than two");')],
  'switch-label': [
    withControl('action a() { }\ntable t { actions = { NoAction; } }', 'switch (t.apply().action_run) { §a: { } }'),
    withControl('table t { actions = { NoAction; } }', 'switch (t.apply().action_run) { §1: { } }'),
  ],
  'switch-type': [withApply('switch (§meta.flag) { true: { } }')],
  'table-only': [withControl('table t { actions = { @tableonly NoAction; } default_action = §NoAction; }')],
  'type-argument-count': [
    withTop('typedef §register T;'),
    withTop('typedef §Meta<bit<8>> T;'),
    withTop('extern void f<T>(in T x);\nvoid g() { §f<bit<8>, bit<8>>(1); }'),
  ],
  'type-mismatch': [
    withApply('meta.m = §meta.wide;'),
    withApply('meta.m = §true;'),
    withApply('if (§meta.m) { }'),
    withApply('meta.pair = { 1, §true };'),
    withApply('meta.pair = { x = §true, y = 1 };'),
    withApply('std.egress_spec = §(Port) 1;'),
    withApply('meta.pair = §{#};'),
    withTop('void f(out bit<8> x) { x = 1; }\nvoid g() { bit<16> y; f(§y); }'),
    withTop('extern void f<T>(in T x, in T y);\nvoid g(in bit<8> a, in bit<16> b) { f(a, §b); }'),
    withTop('bit<8> f() { return §true; }'),
    withTop('typedef bit<§(true)> T;'),
    withParser('state start { transition select(meta.m) { §true: accept; } }'),
    withControl('action a(bit<8> x) { }\ntable t { actions = { a; } default_action = a(§true); }'),
    withTop('control D(inout Meta m) { apply { } }\npackage Q(D d);\nQ(§TheCHECK()) q;'),
  ],
  'type-width': [withTop('typedef bit<§(-1)> T;'), withTop('typedef int<§0> T;')],
  'typedef-type': [withTop('type §Meta T;'), withTop('type §varbit<8> T;')],
  'unknown-field': [withApply('meta.§n = 1;'), withApply('meta.pair = { x = 1, y = 1, §z = 1 };')],
  'unknown-match-kind': [withControl('table t { key = { meta.m : §exct; } actions = { NoAction; } }')],
  'unknown-member': [
    withTop('const Color c = Color.§blue;'),
    withTop('const error c = error.§Blue;'),
    withTop('const Kind c = Kind.§three;'),
    withApply('meta.m = hdr.stack.§first;'),
    withControl('table t { actions = { NoAction; } }', 'if (t.apply().§hits) { }'),
  ],
  'unknown-method': [
    withApply('meta.§setValid();'),
    withApply('§hdr.u.setValid();'),
    withControl('register<bit<8>>(1) r;', 'r.§reed(meta.m, 0);'),
    withTop('const int x = Meta.§size();'),
  ],
  'unknown-name': [
    withApply('§matta.m = 1;'),
    withTop('const §Metta m = 1;'),
    withTop('const bit<8> x = §y;\nconst bit<8> y = 1;'),
    withApply('§f();'),
    withControl('table t { actions = { §a; } }\naction a() { }'),
  ],
  ERR_CONTROL_UNKNOWN_PARAMETER: [withTop('void f(in bit<8> x) { }\nvoid g() { f(§y = 1); }')],
  'unknown-property': [withControl('table t { actions = { NoAction; } §psa_direct_counter = 1; }')],
  'unknown-state': [withParser('state start { transition §sart; }')],
  'unreachable-case': [withParser('state start { transition select(meta.m) { _ : accept; §1 : reject; } }')],
  'unsupported-abstract': [
    withTop('extern E { E(); abstract void f(in bit<8> x); }\nE() e = { §void f(in bit<8> x) { } };'),
  ],
  'unsupported-architecture': [
    '#include <core.p4>\ncontrol K(inout bit<8> x);\npackage S(K k);\ncontrol C(inout bit<8> x) { apply { } }\n§S(C()) main;',
  ],
  'unsupported-this': [withApply('§this.f();')],
  'value-cut': [
    withApply('meta.m = §256;'),
    withApply('meta.m = §-1;'),
    withApply('meta.m = §8w256;'),
    withApply('meta.m = meta.m | §0xfff;'),
  ],
  'value-set-type': [withParser('state start { transition accept; }', 'value_set<§H>(4) vs;')],
  'type-too-large': [
    withTop(`typedef tuple<bool, bool> T0;\n${doubled((mark, i) => `typedef ${mark}tuple<T${i}, T${i}> T${i + 1};`)}`),
    withTop(`struct T0 { bool x; }\n${doubled((mark, i) => `struct ${mark}T${i + 1} { T${i} x; T${i} y; }`)}`),
    withTop('typedef §H[1000000] T;'),
  ],
  'value-too-large': [
    withTop('const int x = §1 << 1000000;'),
    withTop('const int x = 1 << 6000;\nconst int y = §x * x;'),
    withTop(
      `const string s0 = "0123456789abcdef";\n${Array.from({ length: 10 }, (_, i) => `const string s${i + 1} = ${i === 9 ? '§' : ''}s${i} ++ s${i};\n`).join('')}`,
    ),
  ],
  'variable-type': [withApply('§int x = 1;'), withApply('§string x = "";'), withTop('const §packet_in p = 1;')],
  'width-unknown': [
    withApply('meta.m = §1 << meta.m;'),
    withApply('meta.m = §meta.flag ? 1 : 2;'),
    withApply('meta.wide = 16w1 ++ §1;'),
    withApply('hash(meta.m, HashAlgorithm.crc16, 8w0, §{ 1 }, 8w9);'),
  ],
};

/** Reported only beside another error: a mask or range in the place of several labels. */
const NEVER_ALONE = new Set(['set-as-value']);

function codesInSources(): string[] {
  const folder = new URL('../../../src/check/', import.meta.url);
  const codes = new Set<string>();
  for (const name of readdirSync(folder)) {
    const text = readFileSync(new URL(name, folder), 'utf8');
    for (const [, code] of text.matchAll(
      /\b(?:c\.(?:error|wrong|warn|report)\(|wrongCall\(c, e, )\s*(?:'target',\s*)?'([a-z-]+)'/g,
    ))
      codes.add(code!);
    for (const [, code] of text.matchAll(/\bcode: '([a-z-]+)',/g)) codes.add(code!);
  }
  return [...codes].sort();
}

describe('diagnostics of the checker', () => {
  it('are all in this table', () => {
    const listed = Object.keys(CASES).concat([...NEVER_ALONE]);
    expect(codesInSources().filter((code) => !listed.includes(code))).toEqual([]);
  });

  for (const [code, programs] of Object.entries(CASES)) {
    programs.forEach((program, i) => {
      it(`reports ${code} where it belongs (${i + 1})`, () => {
        const at = program.indexOf('§');
        const before = program.slice(0, at).split('\n');
        const place = `${before.length}:${before.at(-1)!.length + 1}`;
        const { found, checked } = check(program.replace('§', ''));
        const own = found.filter((each) => each.endsWith(` ${code} ${place}`));
        expect(found.length > 0 && own.length === 1 ? found : [...found, `missing: ${code} ${place}`]).toEqual(own);
        expect(checked === undefined).toBe(own[0]!.startsWith('error'));
      });
    });
  }
});
