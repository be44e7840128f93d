import { describe, expect, it } from 'vitest';
import { type Pieces, TextProgram } from './text-program.js';

const METADATA = 'bit<8> a; bit<8> b; bit<8> c; bit<48> w;';

/** Metadata after a packet without bytes. */
function metadataOf(pieces: Pieces): Record<string, unknown> {
  const values = new TextProgram({ metadata: METADATA, ...pieces }).run();
  return Object.fromEntries(['a', 'b', 'c', 'w'].map((name) => [name, values.get(`meta.${name}`)]));
}

describe('calls', () => {
  it('copy arguments in and out, in the order of the parameters', () => {
    const result = metadataOf({
      declarations: 'action swap(inout bit<8> x, inout bit<8> y) { bit<8> t = x; x = y; y = t; }',
      ingress: 'meta.a = 1; meta.b = 2; swap(meta.a, meta.b); meta.c = 5; swap(meta.c, meta.c);',
    });
    expect(result).toMatchObject({ a: 2, b: 1, c: 5 });
  });

  it('give each parameter a value of its own where arguments overlap', () => {
    const result = metadataOf({
      types: 'struct pair_t { bit<8> x; bit<8> y; }',
      metadata: `${METADATA} pair_t p;`,
      declarations: `
        action twice(inout pair_t one, inout pair_t two) { one.x = one.x + 1; two.x = two.x + 10; two.y = one.x; }`,
      ingress: 'meta.p.x = 1; twice(meta.p, meta.p); meta.a = meta.p.x; meta.b = meta.p.y;',
    });
    // `one` is written first and lost: `two` began as 1 as well.
    expect(result).toMatchObject({ a: 11, b: 2 });
  });

  it('let an action see the control as it was while its own copy changes', () => {
    const result = metadataOf({
      types: 'struct pair_t { bit<8> x; bit<8> y; }',
      metadata: `${METADATA} pair_t p;`,
      declarations: 'action change(inout pair_t q) { q.x = 7; meta.a = meta.p.x; }',
      ingress: 'meta.p.x = 1; change(meta.p); meta.b = meta.p.x;',
    });
    expect(result).toMatchObject({ a: 1, b: 7 });
  });

  it('give zero for an out parameter of an action that is not written to, and leave the argument alone for one of a control', () => {
    const result = metadataOf({
      types: 'control Nothing(out bit<8> x) { apply { } }',
      declarations: `action nothing(out bit<8> x) { } action some(out bit<8> x, in bool c) { if (c) { x = 3; } }
        Nothing() none;`,
      ingress: 'meta.a = 9; nothing(meta.a); meta.b = 8; some(meta.b, true); meta.c = 7; none.apply(meta.c);',
    });
    expect(result).toMatchObject({ a: 0, b: 3, c: 7 });
  });

  it('begin with an invalid header where one is passed as out', () => {
    const program = new TextProgram({
      types: 'header h_t { bit<8> x; }',
      headers: 'h_t h;',
      metadata: METADATA,
      states: 'state start { packet.extract(hdr.h); transition accept; }',
      declarations: 'action look(out h_t h) { meta.a = h.isValid() ? 8w1 : 8w2; }',
      ingress: 'look(hdr.h); meta.b = hdr.h.isValid() ? 8w1 : 8w2;',
    });
    const values = program.run(5);
    expect(values.get('meta.a')).toBe(2);
    expect(values.get('meta.b')).toBe(2);
    expect(program.output).toEqual([]);
  });

  it('copy out after exit two controls deep', () => {
    const result = metadataOf({
      types: `
        control Inner(inout bit<8> x) { apply { x = x + 1; exit; } }
        control Outer(inout bit<8> y, out bit<8> z) {
          Inner() inner;
          apply { z = 4; inner.apply(y); y = 100; z = 100; }
        }`,
      declarations: 'Outer() outer;',
      ingress: 'meta.a = 1; outer.apply(meta.a, meta.b); meta.c = 100;',
    });
    expect(result).toMatchObject({ a: 2, b: 4, c: 0 });
  });

  it('run egress after an exit in ingress', () => {
    const program = new TextProgram({ metadata: METADATA, ingress: 'exit;' });
    program.run();
    expect(program.source).toContain('exited = false;');
  });

  it('leave a control by exit out of a table that was asked for its hit', () => {
    const result = metadataOf({
      declarations: `
        action leave() { meta.b = 1; exit; }
        table t { actions = { leave; } default_action = leave(); }`,
      ingress: 'meta.a = 1; if (t.apply().hit) { meta.a = 2; } meta.a = 3;',
    });
    expect(result).toMatchObject({ a: 1, b: 1 });
  });

  it('evaluate the index of a target before the value', () => {
    const program = new TextProgram({
      types: 'header h_t { bit<8> x; } bit<8> bump(inout bit<8> n) { n = n + 1; return n; }',
      headers: 'h_t[3] s;',
      metadata: METADATA,
      declarations: 'bit<8> i = 0;',
      states: 'state start { packet.extract(hdr.s.next); packet.extract(hdr.s.next); transition accept; }',
      ingress: 'hdr.s[i].x = bump(i); meta.a = i;',
    });
    const values = program.run(50, 60);
    expect(values.get('hdr.s[0].x')).toBe(1);
    expect(values.get('hdr.s[1].x')).toBe(60);
    expect(values.get('meta.a')).toBe(1);
  });

  it('evaluate operands from left to right, and the right one only if it matters', () => {
    const result = metadataOf({
      types:
        'bit<8> bump(inout bit<8> n) { n = n + 1; return n; } bool touch(inout bit<8> n) { n = n + 1; return true; }',
      ingress: `
        meta.a = 5;
        meta.b = meta.a - bump(meta.a);
        if (meta.a == 0 && touch(meta.c)) { meta.b = 0; }
        if (meta.a == 6 || touch(meta.c)) { meta.c = meta.c + 10; }
        meta.w = meta.a == 6 ? 48w0xffeeddccbbaa : 48w0;`,
    });
    expect(result).toMatchObject({ a: 6, b: 255, c: 10, w: 0xffeeddccbbaan });
  });

  it('read all of a list before the first of it is written', () => {
    const program = new TextProgram({
      types: 'header k_t { bit<8> a; bit<8> b; }',
      headers: 'k_t k;',
      states: 'state start { packet.extract(hdr.k); transition accept; }',
      ingress: 'hdr.k = { hdr.k.b, hdr.k.a };',
    });
    program.run(1, 2);
    expect(program.output).toEqual([2, 1]);
  });

  it('return values wider than 64 bits, and structs', () => {
    const result = metadataOf({
      types: `
        struct s_t { bit<8> x; bit<128> y; }
        bit<128> wide(in bit<8> n) { return (bit<128>)n << 100; }
        s_t both(in bit<8> n) { return { n, wide(n) + wide(1) }; }`,
      ingress: 's_t s = both(3); meta.a = s.x; meta.w = (bit<48>)(s.y >> 96); meta.b = (bit<8>)(wide(5) >> 100);',
    });
    expect(result).toMatchObject({ a: 3, b: 5, w: 64n });
  });

  it('set locals to zero each time, and for each packet', () => {
    const program = new TextProgram({
      metadata: METADATA,
      types: 'control Sub(inout bit<8> r) { bit<8> l; apply { r = l; l = 5; } }',
      declarations: 'Sub() sub; bit<8> l; action act() { bit<8> m; meta.c = m; m = 7; meta.a = l; l = 1; }',
      ingress: 'act(); act(); sub.apply(meta.b); sub.apply(meta.b);',
    });
    for (let packet = 0; packet < 2; packet++) {
      const values = program.run();
      expect([values.get('meta.a'), values.get('meta.b'), values.get('meta.c')]).toEqual([1, 0, 0]);
    }
  });
});
