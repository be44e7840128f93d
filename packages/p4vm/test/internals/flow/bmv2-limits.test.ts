import { bmv2Limits } from '@int/p4vm';
import { describe, expect, it } from 'vitest';
import { build, errorsOf, type Parts } from '../lower/building.js';

const TABLE = 'action a() { } table t { key = { hdr.h.a: exact; } actions = { a; NoAction; } }';

/** Codes of what a program asks beyond BMv2. */
function limits(parts: Parts): string[] {
  return bmv2Limits(build(parts)).list.map(({ code }) => code);
}

describe('what is wider than BMv2', () => {
  it.each<[string, Parts, Parts]>([
    ['bmv2-division', { apply: 'm.x = hdr.h.a / 3;' }, { apply: 'm.x = hdr.h.a / 4;' }],
    ['bmv2-division', { apply: 'm.x = hdr.h.a % hdr.h.a;' }, { apply: 'm.x = hdr.h.a % 8;' }],
    ['bmv2-shift', { apply: 'm.x = hdr.h.a << hdr.h.b;' }, { apply: 'm.x = hdr.h.a << m.x; m.x = m.x << 32w3;' }],
    ['bmv2-table-twice', { locals: TABLE, apply: 't.apply(); t.apply();' }, { locals: TABLE, apply: 't.apply();' }],
    [
      'bmv2-lpm-keys',
      { locals: TABLE.replace('exact;', 'lpm; hdr.h.b: lpm;'), apply: 't.apply();' },
      { locals: TABLE.replace('exact;', 'lpm; hdr.h.b: exact;'), apply: 't.apply();' },
    ],
    [
      'bmv2-select-range',
      { parser: 'state start { p.extract(hdr.h); transition select(hdr.h.a) { 1..m.x: accept; } }' },
      { parser: 'state start { p.extract(hdr.h); transition select(hdr.h.a) { 1..3: accept; } }' },
    ],
    [
      'bmv2-place',
      { apply: 'recirculate_preserving_field_list(1);' },
      { egress: 'recirculate_preserving_field_list(1);' },
    ],
    ['bmv2-place', { egress: 'resubmit_preserving_field_list(1);' }, { apply: 'resubmit_preserving_field_list(1);' }],
    ['bmv2-place', { egress: 'clone(CloneType.I2E, 32w5);' }, { apply: 'clone(CloneType.I2E, 32w5);' }],
    ['bmv2-place', { apply: 'clone(CloneType.E2E, 32w5);' }, { egress: 'clone(CloneType.E2E, 32w5);' }],
    [
      'bmv2-table-twice',
      { locals: TABLE, apply: 'if (m.x == 1) { t.apply(); m.x = 2; } else { t.apply(); }' },
      { locals: TABLE, apply: 'if (m.x == 1) { m.x = 2; t.apply(); } else { { t.apply(); } { } } m.x = 3;' },
    ],
    [
      'bmv2-table-twice',
      { locals: TABLE, apply: 'if (m.x == 1) { if (t.apply().hit) { m.x = 2; } } else { t.apply(); }' },
      { locals: TABLE, apply: 'if (m.x == 1) { t.apply(); exit; } t.apply();' },
    ],
    ['bmv2-loop', { apply: 'for (bit<8> i in 1..3) { }' }, { apply: 'm.x = 1;' }],
    [
      'bmv2-loop',
      { apply: 'for (bit<8> i = 0; i < 3; i = i + 1) { }' },
      {
        locals: TABLE.replace('{ }', '{ for (bit<8> i = 0; i < m.x; i = i + 1) { mark_to_drop(sm); } }'),
        apply: 't.apply();',
      },
    ],
    [
      'bmv2-action-parameter',
      { locals: TABLE.replace('a() { }', 'a(bool b) { }'), apply: 't.apply();' },
      { locals: TABLE.replace('a() { }', 'a(bit<8> b) { }'), apply: 't.apply();' },
    ],
    [
      'bmv2-register',
      { locals: 'register<bool>(4) r;', apply: 'r.write(0, true);' },
      { locals: 'register<int<8>>(4) r;', apply: 'r.write(0, 1);' },
    ],
  ])('%s', (code, wider, within) => {
    expect(limits(wider)).toEqual([code]);
    expect(limits(within)).toEqual([]);
  });
});

describe('what the switch would refuse when it is made', () => {
  const entries = (keys: string, list: string): Parts => ({
    locals: `action a() { } table t { key = { ${keys} } actions = { a; } const entries = { ${list} } }`,
    apply: 't.apply();',
  });

  it.each<[string, string, string]>([
    ['ERR_CONTROL_DUPLICATE_ENTRY', 'hdr.h.a: exact; hdr.h.b: lpm;', '(1, 2): a(); (1, 2): a();'],
    ['ERR_CONTROL_DUPLICATE_ENTRY', 'hdr.h.b: lpm;', '0x10 &&& 0xfff0: a(); 0x11 &&& 0xfff0: a();'],
    ['ERR_CONTROL_DUPLICATE_ENTRY', 'hdr.h.b: lpm;', '_: a(); 0 &&& 0: a();'],
    ['empty-range', 'hdr.h.a: range;', '5..2: a();'],
  ])('%s: %s', (code, keys, list) => {
    expect(errorsOf(entries(keys, list)).map((each) => each.code)).toContain(code);
  });

  it('takes entries that differ, and those that their order tells apart', () => {
    build(entries('hdr.h.a: exact; hdr.h.b: lpm;', '(1, 0x10 &&& 0xfff0): a(); (1, 0x10): a(); (2, 0x10): a();'));
    build(entries('hdr.h.a: ternary;', '1: a(); 1: a();'));
  });

  it('refuses what is no number where hash and random need one', () => {
    const hash = (base: string, max: string): Parts => ({
      apply: `hash(m.y, HashAlgorithm.crc16, ${base}, { hdr.h.a }, ${max});`,
    });
    expect(errorsOf(hash('{ 8w1, 8w2 }', '32w9')).map((each) => each.code)).toEqual(['not-a-number']);
    expect(errorsOf(hash('16w0', 'hdr.h')).map((each) => each.code)).toEqual(['not-a-number']);
    build(hash('16w0', '32w9'));
  });

  it('takes loops over a range only with a type, and int where a value of fixed width is', () => {
    const untyped = { apply: 'bit<8> i; for (i in 8w1..3) { }' };
    expect(errorsOf(untyped).map((each) => each.code)).toEqual(['loop-variable']);
    build({ apply: 'int<32> v = -1; bit<32> w = (bit<32>)(int)v; m.x = (bit<8>)w;' });
  });
});
