import { describe, expect, test } from 'vitest';
import { build, printed } from './building.js';

const COUNT = `
  counter(8, CounterType.bytes) top;
  control Count(inout M m, register<bit<32>> r)(bit<32> step, counter c) {
    @name("mem") register<bit<8>>(16) inner;
    bit<32> local = step;
    action add(bit<32> by) { bit<32> t; r.read(t, 1); t = t + by + step; r.write(1, t); c.count(step * 2); inner.write(0, 1); }
    table t { actions = { add; } default_action = add(step + 1); }
    apply { if (step > 3) { local = local << step; } t.apply(); }
  }`;

/** As COUNT uses the metadata's type, which stands behind `top`. */
const top = `struct M2 { bit<8> x; } ${COUNT.replaceAll('inout M m', 'inout M2 m')}`;

describe('instances', () => {
  test('are specialised with values and extern objects, and named by their path', () => {
    const locals = `register<bit<32>>(4) reg; M2 m2;
      Count(2, top) two;
      @name("other") Count(5, top) five;`;
    const program = build({ top, locals, apply: 'two.apply(m2, reg); five.apply(m2, reg); two.apply(m2, reg);' });
    expect(program.externs.map(({ type, name }) => `${type} ${name}`)).toEqual([
      'counter top',
      'register I.reg',
      'register I.two.mem',
      'register I.other.mem',
    ]);
    expect(program.externs[0]).toMatchObject({
      arguments: [
        { kind: 'integer', value: 8n },
        { kind: 'enum', name: 'CounterType', member: 'bytes' },
      ],
    });
    expect(program.tables.map(({ name }) => name)).toEqual(['I.two.t', 'I.other.t']);
    expect(program.actions.map(({ name }) => name)).toEqual(['I.two.add', 'I.other.add']);
    expect(printed(program, 'action I.other.add')).toEqual([
      'action I.other.add(bit<32> by) {',
      '  bit<32> t;',
      '  I.reg.read(t, 32w1);',
      '  t = ((t + by) + 32w5);',
      '  I.reg.write(32w1, t);',
      '  top.count(32w10);',
      '  I.other.mem.write(32w0, 8w1);',
      '}',
    ]);
    expect(printed(program, 'table I.two.t')).toContain('  default I.two.add(32w3);');
    expect(printed(program, 'control I.two')).toEqual([
      'control I.two(inout M2 m) {',
      '  bit<32> local;',
      '  local = 32w2;',
      '  apply {',
      '    I.two.t.apply();',
      '  }',
      '}',
    ]);
    expect(printed(program, 'control I.other')).toContain('      local = (local << 32w5);');
  });

  test('can be nested, given as constructor arguments and applied without a name', () => {
    const controls = `
      control Leaf(inout bit<8> x) { action inc() { x = x + 1; } table t { actions = { inc; } default_action = inc; } apply { t.apply(); } }
      control Any(inout bit<8> x);
      control Twice(inout bit<8> x)(Any first) { Leaf() own; apply { first.apply(x); own.apply(x); } }`;
    const locals = 'Twice(Leaf()) twice;';
    const program = build({ top: controls, locals, apply: 'twice.apply(m.x); Leaf.apply(m.x); Leaf.apply(m.x);' });
    expect(program.tables.map(({ name }) => name)).toEqual(['I.Leaf.t', 'I.twice.own.t', 'I.Leaf_1.t', 'I.Leaf_2.t']);
    expect(printed(program, 'control I(')).toEqual([
      'control I(inout H hdr, inout M m, inout standard_metadata_t sm) {',
      '  apply {',
      '    I.twice.apply(m.x);',
      '    I.Leaf_1.apply(m.x);',
      '    I.Leaf_2.apply(m.x);',
      '  }',
      '}',
    ]);
  });

  test('that are parts of the switch have the names of their types, with a number if they have arguments', () => {
    const controls = `
      control Any<S>(inout H hdr, inout S m, inout standard_metadata_t sm)(bit<8> n) {
        table t { key = { hdr.h.a: exact; } actions = { NoAction; } size = (bit<32>)n + 1; }
        apply { t.apply(); }
      }
      control None<S>(inout H hdr, inout S m) { apply { } }`;
    const program = build({ top: controls, main: 'P(), V(), Any<M>(5), Any<M>(6), None<M>(), D()' });
    expect([program.ingress.name, program.egress.name]).toEqual(['Any_0', 'Any_1']);
    expect(program.tables.map(({ name, size }) => `${name} ${size}`)).toEqual(['Any_0.t 6', 'Any_1.t 7']);
    expect([program.verifyChecksum.name, program.computeChecksum.name]).toEqual(['V', 'None_0']);
  });

  test('are not made if nothing applies them', () => {
    const controls =
      'control Leaf(inout bit<8> x) { register<bit<8>>(1) r; table t { actions = { NoAction; } } apply { t.apply(); } }';
    const program = build({ top: controls, locals: 'Leaf() leaf;' });
    expect(program.tables).toEqual([]);
    expect(program.externs).toEqual([]);
  });
});

describe('names', () => {
  test('follow @name, relative and absolute; global actions have plain names', () => {
    const declarations = '@name("g") action global_one() { }  action global_two() { }';
    const locals = `@name("renamed") action a() { } @name(".flat") action b() { } @hidden action c() { }
      @name("deep.er") table t { key = { m.x: exact @name("ex"); } actions = { a; b; c; global_one; global_two; } }
      @name(".reg") register<bit<8>>(1) r;`;
    const program = build({ top: declarations, locals, apply: 't.apply();' });
    expect(program.tables[0]?.actions.map(({ action }) => action.name)).toEqual([
      'I.renamed',
      'flat',
      'I.c',
      'g',
      'global_two',
      'NoAction',
    ]);
    expect(program.tables[0]?.name).toBe('I.deep.er');
    expect(program.externs[0]?.name).toBe('reg');
    expect(program.actions.find(({ name }) => name === 'I.c')?.annotations.has('hidden')).toBe(true);
  });

  test('of keys are as they are written', () => {
    const locals = `table t { key = {
        hdr.h.a: exact; m.y[7:0]: ternary; hdr.s[1].b: lpm; m.x & 0x0f: exact; hdr.w.x: exact @name("mac"); sm.ingress_port: exact;
      } actions = { NoAction; } }`;
    const program = build({ locals, apply: 't.apply();' });
    expect(program.tables[0]?.keys.map(({ name }) => name)).toEqual([
      'hdr.h.a',
      'm.y[7:0]',
      'hdr.s[1].b',
      'm.x & 0xf',
      'mac',
      'sm.ingress_port',
    ]);
  });
});

describe('types', () => {
  test('are one object each: typedefs vanish, generic structs are specialised, tuples are structs', () => {
    const declarations = `typedef bit<9> port_t; struct pair<T> { T left; T right; } enum Color { red, green }`;
    const metadata = 'pair<bit<8>> p; pair<bit<8>> q; pair<bit<16>> r; port_t port; tuple<bit<8>, bool> t; Color c;';
    const program = build({ top: declarations, metadata });
    const types = program.metadata.fields.slice(3).map(({ type }) => type);
    expect(types[0]).toBe(types[1]);
    expect(types[2]).not.toBe(types[0]);
    expect(types[3]).toEqual({ kind: 'bits', width: 9, isSigned: false });
    expect(types[4]).toMatchObject({
      kind: 'struct',
      fields: [{ name: 'f0' }, { name: 'f1', type: { kind: 'bool' } }],
    });
    expect(types[5]).toEqual({ kind: 'enum', name: 'Color', members: ['red', 'green'] });
    expect(program.enums).toContainEqual({ name: 'Color', members: ['red', 'green'] });
    expect(new Set(program.structs.map(({ id }) => id)).size).toBe(program.structs.length);
    for (const { id } of program.structs) expect(id).toMatch(/^[A-Za-z_]\w*$/);
    const names = program.structs.map(({ name }) => name);
    expect(names.indexOf('M')).toBeGreaterThan(names.indexOf('pair<bit<8>>'));
  });
});
