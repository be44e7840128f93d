import { describe, expect, test } from 'vitest';
import { applied, build, printed } from './building.js';

describe('assignments', () => {
  test('write constants in the type of their place', () => {
    expect(applied({ apply: 'm.x = 3; m.y = 5 + 6; m.f = 3 > 2; sm.parser_error = error.NoMatch;' })).toEqual([
      'm.x = 8w3;',
      'm.y = 16w11;',
      'm.f = true;',
      'sm.parser_error = error.NoMatch;',
    ]);
  });

  test('with an operator read and write the same place', () => {
    expect(applied({ apply: 'm.x += 2; m.y[7:0] |= m.x; m.x <<= 3;' })).toEqual([
      'm.x = (m.x + 8w2);',
      'm.y[7:0] = (m.y[7:0] | m.x);',
      'm.x = (m.x << 32w3);',
    ]);
  });

  test('with an operator evaluate an index once', () => {
    expect(applied({ apply: 'hdr.s[m.x].b += 1; hdr.s[2].b += 1;' })).toEqual([
      '{',
      '  bit<8> index = m.x;',
      '  hdr.s[index].b = (hdr.s[index].b + 16w1);',
      '}',
      'hdr.s[32w2].b = (hdr.s[32w2].b + 16w1);',
    ]);
  });

  test('to a slice at a position of run time put the bits in by masks', () => {
    expect(applied({ apply: 'm.y[m.x +: 4] = 3; m.y[8 +: 4] = 3;' })).toEqual([
      '{',
      '  bit<8> low = m.x;',
      '  m.y = ((m.y & ~(16w15 << low)) | ((bit<16>)4w3 << low));',
      '}',
      'm.y[11:8] = 4w3;',
    ]);
  });

  test('of lists give the values in the order of the fields, and defaults for dots', () => {
    const top = 'struct pair { bit<8> left; bit<16> right; } struct deep { pair p; h_t h; bool b; }';
    const apply = `pair p = { right = 2, left = m.x };
      deep d = { p, ... };
      hdr.h = { 1, m.y };
      hdr.h = {#};
      d = ...;`;
    expect(applied({ top, apply })).toEqual([
      'pair p = (pair){m.x, 16w2};',
      'deep d = (deep){p, (h_t){#}, false};',
      'hdr.h = (h_t){8w1, m.y};',
      'hdr.h = (h_t){#};',
      'd = (deep){...};',
    ]);
  });

  test('of a tuple to a struct take it apart', () => {
    const top = 'struct pair { bit<8> left; bit<16> right; }';
    expect(applied({ top, apply: 'tuple<bit<8>, bit<16>> t = { 1, m.y }; m.x = t[0];' })).toEqual([
      'tuple<bit<8>, bit<16>> t = (tuple<bit<8>, bit<16>>){8w1, m.y};',
      'm.x = t.f0;',
    ]);
  });
});

describe('expressions', () => {
  test('have explicit casts, and newtypes and serializable enums are their bits', () => {
    const top = 'type bit<16> Id; enum bit<8> Proto { tcp = 6, udp = 17 }';
    const apply =
      'Id i = (Id)m.y; m.y = (bit<16>)i; Proto p = Proto.udp; m.x = p; m.y = (bit<16>)m.x; m.f = (bool)m.x[0:0];';
    expect(applied({ top, apply })).toEqual([
      'bit<16> i = m.y;',
      'm.y = i;',
      'Proto p = 8w17;',
      'm.x = p;',
      'm.y = (bit<16>)m.x;',
      'm.f = (bool)m.x[0:0];',
    ]);
  });

  test('of stacks and headers keep what they ask for', () => {
    const apply =
      'm.f = hdr.h.isValid(); m.f = hdr.h == hdr.s[0]; hdr.s.pop_front(2); hdr.s[1].setValid(); m.f = hdr.h == {#};';
    expect(applied({ apply })).toEqual([
      'm.f = hdr.h.isValid();',
      'm.f = (hdr.h == hdr.s[32w0]);',
      'hdr.s.pop_front(2);',
      'hdr.s[32w1].setValid();',
      'm.f = (hdr.h == (h_t){#});',
    ]);
  });

  test('in conditions keep their side effects where they are', () => {
    const locals = 'table t { actions = { NoAction; } }';
    const top = 'bit<8> next(inout bit<8> x) { x = x + 1; return x; }';
    expect(
      applied({ top, locals, apply: 'if (next(m.x) == 2 && t.apply().hit) { m.x = next(m.x) - next(m.x); }' }),
    ).toEqual(['if (((next(m.x) == 8w2) && I.t.apply().hit)) {', '  m.x = (next(m.x) - next(m.x));', '}']);
  });
});

describe('calls', () => {
  test('have their arguments in the order of the parameters, with default values', () => {
    const top = 'void add(inout bit<8> to, in bit<8> by = 2) { to = to + by; }';
    expect(applied({ top, apply: 'add(m.x); add(by = 3, to = m.x);' })).toEqual(['add(m.x, 8w2);', 'add(m.x, 8w3);']);
  });

  test('of generic functions call a copy for their types', () => {
    const top = 'T first<T>(in T a, in T b) { return a; }';
    const program = build({ top, apply: 'm.x = first(m.x, 8w1); m.y = first<bit<16>>(m.y, 2);' });
    expect(program.functions.map(({ returnType }) => returnType)).toMatchObject([{ width: 8 }, { width: 16 }]);
  });

  test('of extern functions keep lists as aggregates of their own type', () => {
    expect(applied({ apply: 'hash(m.y, HashAlgorithm.crc16, 16w0, { hdr.h.a, m.y }, 32w64);' })).toEqual([
      'hash(m.y, HashAlgorithm.crc16, 16w0, (tuple<bit<8>, bit<16>>){hdr.h.a, m.y}, 32w64);',
    ]);
  });

  test('leave `_` for out arguments out, and skip headers in the parser', () => {
    const top = 'void two(out bit<8> a, out bit<8> b) { a = 1; b = 2; }';
    expect(applied({ top, apply: 'two(_, m.x);' })).toEqual(['two(_, m.x);']);
    const program = build({ parser: 'state start { p.extract<w_t>(_); transition accept; }' });
    expect(printed(program, 'parser P')).toEqual([
      'parser P(out H hdr, inout M m, inout standard_metadata_t sm) {',
      '  state start {',
      '    {',
      '      w_t skipped;',
      '      packet.extract(skipped);',
      '    }',
      '    transition accept;',
      '  }',
      '}',
    ]);
  });
});

describe('control flow', () => {
  test('gives each case of a switch its block, also where labels fall through', () => {
    const locals = `action a() { } action b() { }
      table t { key = { m.x: exact; } actions = { a; b; NoAction; } }`;
    const apply = `switch (t.apply().action_run) { a: b: { m.x = 1; } NoAction: { } default: { m.x = 2; } }
      switch (m.x) { 1: 2: { m.y = 1; } default: { exit; } }`;
    expect(applied({ locals, apply })).toEqual([
      'switch (I.t.apply().action_run) {',
      '  I.a: {',
      '    m.x = 8w1;',
      '  }',
      '  I.b: {',
      '    m.x = 8w1;',
      '  }',
      '  NoAction: { }',
      '  default: {',
      '    m.x = 8w2;',
      '  }',
      '}',
      'switch (m.x) {',
      '  8w1, 8w2: {',
      '    m.y = 16w1;',
      '  }',
      '  default: {',
      '    exit;',
      '  }',
      '}',
    ]);
  });

  test('has loops over conditions, ranges, stacks and lists', () => {
    const apply = `for (bit<8> i = 0; i < 3; i += 1) { if (i == m.x) break; else continue; }
      for (bit<8> i in 1..m.x) { m.y = m.y + 1; }
      for (h_t each in hdr.s) { m.x = each.a; }
      for (bit<8> v in { 7, m.x }) { m.y = (bit<16>)v; }`;
    expect(applied({ apply })).toEqual([
      'for (bit<8> i = 8w0; (i < 8w3); i = (i + 8w1)) {',
      '  if ((i == m.x)) {',
      '    break;',
      '  }',
      '  else {',
      '    continue;',
      '  }',
      '}',
      '{',
      '  bit<8> i;',
      '  for (i in 8w1 .. m.x) {',
      '    m.y = (m.y + 16w1);',
      '  }',
      '}',
      '{',
      '  h_t each;',
      '  for (each in hdr.s) {',
      '    m.x = each.a;',
      '  }',
      '}',
      '{',
      '  bit<8> v;',
      '  {',
      '    bit<8> element = m.x;',
      '    bit<32> position;',
      '    for (position in 32w0 .. 32w1) {',
      '      if ((position < 32w1)) {',
      '        v = 8w7;',
      '      }',
      '      else {',
      '        v = element;',
      '      }',
      '      {',
      '        m.y = (bit<16>)v;',
      '      }',
      '    }',
      '  }',
      '}',
    ]);
  });

  test('leaves out what a known condition excludes', () => {
    expect(applied({ apply: 'if (3 < 2) { m.x = 1; } else { m.x = 2; } m.x = true ? 8w3 : m.x;' })).toEqual([
      '{',
      '  m.x = 8w2;',
      '}',
      'm.x = 8w3;',
    ]);
  });

  test('tells variables of one name apart', () => {
    const program = build({ apply: 'bit<8> v = 1; { bit<8> v = v + 1; m.x = v; } m.x = v;' });
    const names = program.ingress.body.statements.map((statement) => statement.kind);
    expect(names).toEqual(['declare', 'block', 'assign']);
    const [outer, block, last] = program.ingress.body.statements;
    const inner = block?.kind === 'block' ? block.statements : [];
    const outerId = outer?.kind === 'declare' ? outer.variable.id : -1;
    expect(inner[0]).toMatchObject({ value: { left: { variable: { id: outerId } } } });
    expect(inner[1]).not.toMatchObject({ value: { variable: { id: outerId } } });
    expect(last).toMatchObject({ value: { variable: { id: outerId } } });
  });
});
