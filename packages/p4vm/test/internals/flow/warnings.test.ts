import { findWarnings, type WarningOptions } from '@int/p4vm';
import { lineColumn } from '@int/p4vm/internals';
import { describe, expect, it } from 'vitest';
import { build, type Parts, pointedAt } from '../lower/building.js';

/** The parser of most tests: `h`, and behind it `w` if `h.a` is 1. */
const PARSER = `state start { p.extract(hdr.h); transition select(hdr.h.a) { 1: more; default: accept; } }
  state more { p.extract(hdr.w); m.f = true; transition accept; }`;
const WRITTEN = 'm.x = 0; m.y = 0; m.f = false;';

/** Warnings as `KIND what it points at`. */
function warnings(parts: Parts, options: WarningOptions = { without: ['uninitialized_metadata'] }): string[] {
  const found = findWarnings(build({ parser: PARSER, ...parts }), options);
  return found.list.map((each) => `${each.code} ${pointedAt(each)}`);
}

function messages(parts: Parts): string[] {
  return findWarnings(build({ parser: PARSER, ...parts }), { without: ['uninitialized_metadata'] }).list.map(
    ({ message }) => message,
  );
}

const W = 'invalid_header hdr.w';

describe('fields of headers that may be invalid', () => {
  it.each<[string, string, string[]]>([
    ['read without asking', 'm.y = (bit<16>)hdr.w.x;', [W]],
    ['read where it is valid', 'if (hdr.w.isValid()) { m.y = (bit<16>)hdr.w.x; }', []],
    ['read where it is not', 'if (!hdr.w.isValid()) { m.y = (bit<16>)hdr.w.x; }', [W]],
    ['read behind &&', 'if (hdr.w.isValid() && hdr.w.y == 1) { m.x = 1; }', []],
    ['read behind ||', 'if (!hdr.w.isValid() || hdr.w.y == 1) { m.x = 1; }', []],
    ['read before &&', 'if (hdr.w.y == 1 && hdr.w.isValid()) { m.x = 1; }', [W]],
    ['read in an else', 'if (!hdr.w.isValid()) { m.x = 1; } else { m.y = (bit<16>)hdr.w.x; }', []],
    ['read after an early return', 'if (!hdr.w.isValid()) { return; } m.y = (bit<16>)hdr.w.x;', []],
    ['read after an early exit', 'if (!hdr.w.isValid()) { exit; } m.y = (bit<16>)hdr.w.x;', []],
    ['read after setInvalid', 'if (hdr.w.isValid()) { hdr.w.setInvalid(); m.y = (bit<16>)hdr.w.x; }', [W]],
    ['written', 'hdr.w.y = 3;', [W]],
    ['read where a note of the parser says so', 'if (m.f) { m.y = (bit<16>)hdr.w.x; }', []],
    ['read where a field that the parser chose by says so', 'if (hdr.h.a == 1) { m.y = (bit<16>)hdr.w.x; }', [W]],
    [
      'the same, where the packet is whole',
      'if (sm.parser_error == error.NoError && hdr.h.a == 1) { m.y = (bit<16>)hdr.w.x; }',
      [],
    ],
    ['read where a variable says so', 'bool there = hdr.w.isValid(); if (there) { m.y = (bit<16>)hdr.w.x; }', []],
    ['read in a copy of it', 'w_t w = hdr.w; if (hdr.w.isValid()) { m.y = (bit<16>)w.x; }', []],
    ['read in a switch', 'switch (hdr.h.a) { 1: { if (m.f) { hdr.w.y = 1; } } default: { hdr.w.y = 2; } }', [W]],
    ['read in a loop', 'for (bit<8> i = 0; i < 3; i = i + 1) { hdr.w.y = hdr.w.y + 1; hdr.w.setInvalid(); }', [W, W]],
  ])('%s', (_, apply, expected) => {
    expect(warnings({ apply })).toEqual(expected);
  });

  it('says whether it is invalid in all packets or in some, and if only where packets are too short', () => {
    expect(messages({ apply: 'm.y = (bit<16>)hdr.w.x;' })).toEqual([
      'accessing a field of a potentially invalid header hdr.w',
    ]);
    expect(messages({ apply: 'if (!hdr.w.isValid()) { m.y = (bit<16>)hdr.w.x; }' })).toEqual([
      'accessing a field of an invalid header hdr.w',
    ]);
    expect(messages({ apply: 'if (hdr.h.a == 1) { m.y = (bit<16>)hdr.w.x; }' })).toEqual([
      'accessing a field of a potentially invalid header hdr.w, where the packet ends before the parser does',
    ]);
  });

  it('finds them in keys of tables, in actions, in controls, and in what functions of the switch are given', () => {
    const locals = `action a() { hdr.w.y = 1; }
      table t { key = { hdr.w.x: exact; } actions = { a; NoAction; } default_action = NoAction(); }`;
    expect(warnings({ locals, apply: 't.apply();' })).toEqual(['invalid_header hdr.w', 'invalid_header hdr.w']);
    expect(warnings({ locals, apply: 'if (hdr.w.isValid()) { t.apply(); }' })).toEqual([]);
    const sub = 'control S(inout H hdr) { apply { hdr.w.y = 1; } }';
    expect(warnings({ top: sub, locals: 'S() s;', apply: 's.apply(hdr);' })).toEqual([W]);
    expect(warnings({ top: sub, locals: 'S() s;', apply: 'if (hdr.w.isValid()) { s.apply(hdr); }' })).toEqual([]);
    const hash = 'hash(m.y, HashAlgorithm.crc16, 16w0, { hdr.h.a, hdr.w.x }, 32w65536);';
    expect(warnings({ apply: hash })).toEqual([W]);
    // Checksums leave out what is not valid.
    const sum = 'update_checksum(true, { hdr.h.a, hdr.w.x }, m.y, HashAlgorithm.csum16);';
    expect(warnings({ apply: sum })).toEqual([]);
  });

  it('follows hit, miss and the action that ran', () => {
    const locals = `action fill() { hdr.w.setValid(); hdr.w.x = 0; hdr.w.y = 0; } action leave() { }
      table t { key = { hdr.h.a: exact; } actions = { fill; @defaultonly leave; } const default_action = leave(); }`;
    const parser = 'state start { p.extract(hdr.h); transition accept; }';
    expect(warnings({ parser, locals, apply: 'if (t.apply().hit) { hdr.w.y = 1; }' })).toEqual([]);
    expect(warnings({ parser, locals, apply: 'if (t.apply().miss) { hdr.w.y = 1; }' })).toEqual([W]);
    expect(warnings({ parser, locals, apply: 'switch (t.apply().action_run) { fill: { hdr.w.y = 1; } }' })).toEqual([]);
    expect(warnings({ parser, locals, apply: 't.apply(); hdr.w.y = 1;' })).toEqual([W]);
  });

  it('knows the numbers that a program gives to its stages', () => {
    const stages = [0, 1, 2, 3, 4, 6];
    const parser = `state start { m.x = 0; p.extract(hdr.h);
        transition select(hdr.h.a) { ${stages.map((each) => `${each}: s${each};`).join(' ')} default: more; } }
      ${stages.map((each) => `state s${each} { m.x = ${each}; transition accept; }`).join('\n')}
      state more { p.extract(hdr.w); m.x = 5; transition accept; }`;
    expect(warnings({ parser, apply: 'if (m.x == 5) { hdr.w.y = 1; }' })).toEqual([]);
    expect(warnings({ parser, apply: 'if (m.x == 6) { hdr.w.y = 1; }' })).toEqual([W]);
  });

  it('knows elements of stacks one by one where indices are known, and takes any where they are not', () => {
    const parser = `state start { p.extract(hdr.s.next); transition select(hdr.s.last.a) { 1: start; default: accept; } }`;
    expect(warnings({ parser, apply: 'm.x = hdr.s[0].a;' })).toEqual([]);
    expect(warnings({ parser, apply: 'm.x = hdr.s[1].a;' })).toEqual(['invalid_header hdr.s[1]']);
    expect(warnings({ parser, apply: 'if (hdr.s[1].isValid()) { m.x = hdr.s[1].a; }' })).toEqual([]);
    expect(warnings({ parser, apply: 'm.x = hdr.s[m.x].a;' })).toEqual([]);
    const one = 'state start { p.extract(hdr.s.next); transition accept; }';
    const pushed = 'hdr.s.push_front(1); m.x = hdr.s[1].a; m.x = hdr.s[0].a;';
    expect(warnings({ parser: one, apply: pushed })).toEqual(['invalid_header hdr.s[0]']);
  });

  it('knows that of a union one member is valid', () => {
    const defines = 'header one_t { bit<8> a; } header two_t { bit<16> a; } header_union u_t { one_t one; two_t two; }';
    const parts = { defines, headers: 'u_t u;' };
    const parser = `state start { transition select(p.lookahead<bit<8>>()) { 1: one; default: two; } }
      state one { p.extract(hdr.u.one); transition accept; } state two { p.extract(hdr.u.two); transition accept; }`;
    expect(warnings({ ...parts, parser, apply: 'm.x = hdr.u.one.a;' })).toEqual(['invalid_header hdr.u.one']);
    expect(warnings({ ...parts, parser, apply: 'if (!hdr.u.two.isValid()) { m.x = hdr.u.one.a; }' })).toEqual([]);
  });

  it('follows clones: one of egress has the headers of the end of egress', () => {
    const egress = (body: string): Parts => ({
      parser: 'state start { p.extract(hdr.h); transition accept; }',
      egress: body,
    });
    const clone = 'clone(CloneType.E2E, 1); hdr.h.setInvalid();';
    expect(warnings(egress(`if (sm.instance_type == 2) { m.x = hdr.h.a; } else { ${clone} }`))).toEqual([
      'invalid_header hdr.h',
    ]);
    expect(warnings(egress(`if (sm.instance_type != 2) { m.x = hdr.h.a; ${clone} }`))).toEqual([]);
  });
});

describe('values that are not written', () => {
  it.each<[string, string, string[]]>([
    ['a variable', 'bit<8> v; m.x = v;', ['uninitialized_use v']],
    ['one written on one way', 'bit<8> v; if (hdr.h.a == 1) { v = 1; } m.x = v;', ['uninitialized_use v']],
    ['one written on both ways', 'bit<8> v; if (hdr.h.a == 1) { v = 1; } else { v = 2; } m.x = v;', []],
    ['one field of a struct', 'M v; v.x = 1; m.x = v.x; m.y = v.y;', ['uninitialized_use v.y']],
    [
      'a field of a header made valid',
      'hdr.w.setValid(); hdr.w.x = 1; m.y = (bit<16>)hdr.w.y;',
      ['uninitialized_use hdr.w', 'uninitialized_use hdr.w.y'],
    ],
    ['one that leaves', 'if (!hdr.w.isValid()) { hdr.w.setValid(); hdr.w.x = 1; }', ['uninitialized_use hdr.w']],
    ['one written as a whole', 'hdr.w = { 1, 2 };', []],
    ['one that was valid before', 'if (hdr.w.isValid()) { hdr.w.setValid(); }', []],
  ])('%s', (_, apply, expected) => {
    expect(warnings({ apply })).toEqual(expected);
  });

  it('finds out parameters, and what callers do with them', () => {
    const top = 'void f(in bit<8> a, out bit<8> b) { if (a == 1) { b = 1; } }';
    const apply = 'bit<8> v; f(hdr.h.a, v); m.x = v;';
    expect(warnings({ top, apply }).map((each) => each.split(' ')[0])).toEqual([
      'uninitialized_out_param',
      'uninitialized_use',
    ]);
    expect(warnings({ top: top.replace('if (a == 1)', ''), apply })).toEqual([]);
  });

  it('counts metadata that nothing has written as a kind of its own: simple_switch makes it 0', () => {
    const apply = 'if (m.x == 1) { hdr.h.a = 2; }';
    expect(warnings({ apply }, {})).toEqual(['uninitialized_metadata m.x']);
    expect(warnings({ apply })).toEqual([]);
    expect(warnings({ parser: `state start { p.extract(hdr.h); ${WRITTEN} transition accept; }`, apply }, {})).toEqual(
      [],
    );
  });
});

describe('what is declared', () => {
  it('finds states and tables that nothing reaches, and parsers that never accept', () => {
    const parser = `state start { p.extract(hdr.h); transition accept; } state lost { transition accept; }`;
    const locals = 'table t { actions = { NoAction; } } table u { actions = { NoAction; } }';
    expect(messages({ parser, locals, apply: 'u.apply(); exit; t.apply();' })).toEqual([
      'state lost of parser P is never reached',
      'table I.t is never applied',
    ]);
    expect(messages({ parser: 'state start { p.extract(hdr.h); transition reject; }' })).toEqual([
      'parser P never accepts: no way leads to accept',
    ]);
  });

  it('finds what BMv2 does not take, and names that the control plane cannot tell apart', () => {
    const locals = `direct_meter<bit<8>>(MeterType.packets) unread;
      action a(bit<8> x) { m.x = x; }
      table t { key = { hdr.h.a: lpm; hdr.h.b: lpm; } actions = { a; NoAction; } meters = unread; }`;
    expect(messages({ locals, apply: 't.apply(); a(3);' })).toEqual([
      'direct meter I.unread is never read',
      'table I.t has 2 lpm keys: BMv2 takes one',
      'action I.a is called here and by the table I.t: p4c makes two actions of it, which the control plane cannot tell apart',
    ]);
    const parser = `state start { p.extract(hdr.h); transition select(hdr.h.b) { 1..(bit<16>)hdr.h.a: accept; default: accept; } }`;
    expect(messages({ parser })).toEqual(['the bounds of a range in a select must be constants for BMv2']);
    const named = 'table t { key = { hdr.h.a: exact @name("k"); hdr.h.b: exact @name("k"); } actions = { NoAction; } }';
    expect(messages({ locals: named, apply: 't.apply();' })).toEqual(['two keys of table I.t have the name k']);
  });

  it('gives the line and the column', () => {
    const [warning] = findWarnings(build({ parser: PARSER, apply: '\n\n    m.y = (bit<16>)hdr.w.x;' })).list;
    const { span } = warning!;
    expect(span.file.text.split('\n')[lineColumn(span.file, span.start).line - 1]).toBe(
      '    m.y = (bit<16>)hdr.w.x; }',
    );
    expect(lineColumn(span.file, span.start).column).toBe(20);
  });
});

it('gives up on a program with too many ways through it, and says so', () => {
  const depth = 24;
  const functions = Array.from({ length: depth }, (_, i) =>
    i === 0
      ? 'bit<8> f0(in bit<8> a) { return a + 1; }'
      : `bit<8> f${i}(in bit<8> a) { return f${i - 1}(a) + f${i - 1}(a); }`,
  );
  const parts = { top: functions.join('\n'), apply: `m.x = f${depth - 1}(hdr.h.a);` };
  expect(warnings(parts).map((each) => each.split(' ')[0])).toContain('incomplete');
});
