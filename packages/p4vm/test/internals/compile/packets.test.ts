import { type DataType, P4Error, type StructDataType } from '@int/p4vm';
import { describe, expect, it } from 'vitest';
import * as p4 from './build.js';
import { Compiled, expectSame, Random } from './compare.js';
import { TextProgram } from './text-program.js';

/** A header of whole bytes with fields of any widths, and perhaps a varbit or a struct. */
function randomHeader(random: Random, name: string, hasVarbit: boolean): StructDataType {
  const fields: Record<string, DataType> = {};
  const add = (into: Record<string, DataType>): number => {
    const width = random.chance(20) ? 33 + random.below(150) : 1 + random.below(random.chance(50) ? 12 : 32);
    const isSigned = random.chance(20);
    into[`f${Object.keys(into).length}`] = random.chance(8) ? p4.bool : { kind: 'bits', width, isSigned };
    return into[`f${Object.keys(into).length - 1}`]?.kind === 'bool' ? 1 : width;
  };
  let bits = 0;
  const count = 1 + random.below(6);
  for (let index = 0; index < count; index++) {
    if (hasVarbit && index === count >> 1) fields.v = p4.varbit(8 * (1 + random.below(12)));
    if (random.chance(10)) {
      const inner: Record<string, DataType> = {};
      bits += add(inner) + add(inner);
      fields[`s${index}`] = p4.structType(`${name}_s${index}`, inner);
    } else bits += add(fields);
  }
  if ((bits & 7) !== 0) fields.pad = p4.bit(8 - (bits & 7));
  return p4.headerType(name, fields);
}

describe('extract and emit', () => {
  it('keep every bit of headers of any shape', () => {
    const random = new Random(p4.seedOf());
    for (let turn = 0; turn < 120; turn++) {
      const hasVarbit = turn % 3 === 0;
      const one = randomHeader(random, 'one_t', hasVarbit);
      const two = randomHeader(random, 'two_t', false);
      const program = p4.program({
        headers: p4.structType('headers_t', { one, two, many: p4.stackType(two, 2) }),
        metadata: p4.structType('metadata_t', { size: p4.bit(8) }),
        states: ({ hdr, meta }) => [
          p4.state(
            'start',
            p4.goTo('accept'),
            ...(hasVarbit
              ? [
                  p4.assign(p4.path(meta, 'size'), p4.lookahead(p4.bit(8))),
                  p4.packet(
                    'extract',
                    p4.path(hdr, 'one'),
                    p4.cast(p4.bit(32), p4.binary('&', p4.path(meta, 'size'), p4.constant(0x78, p4.bit(8)))),
                  ),
                ]
              : [p4.packet('extract', p4.path(hdr, 'one'))]),
            p4.assign(p4.path(hdr, 'many'), p4.list(p4.stackType(two, 2), p4.lookahead(two), p4.path(hdr, 'two'))),
            p4.packet('extract', p4.path(hdr, 'two')),
          ),
        ],
      });
      expectSame(
        program,
        [0, 20, 60, 100].map((length) => random.bytes(length)),
      );
    }
  });

  it('grow the output as it is needed', () => {
    const wide = p4.headerType('wide_t', { data: p4.bit(2048) });
    const program = p4.program({
      headers: p4.structType('headers_t', { wide }),
      states: ({ hdr }) => [p4.state('start', p4.goTo('accept'), p4.packet('extract', p4.path(hdr, 'wide')))],
    });
    const bytes = new Random(p4.seedOf()).bytes(256);
    expect(new Compiled(program).run(bytes).output).toEqual([...bytes]);
  });

  it('refuse headers that are no whole number of bytes, and name the place', () => {
    const header = p4.headerType('odd_t', { x: p4.bit(7) });
    const program = p4.program({
      headers: p4.structType('headers_t', { header }),
      states: ({ hdr }) => [p4.state('start', p4.goTo('accept'), p4.packet('extract', p4.path(hdr, 'header')))],
    });
    expect(() => new Compiled(program)).toThrow(P4Error);
    expect(() => new Compiled(program)).toThrow(/header-not-byte-aligned/);
  });
});

describe('parsers', () => {
  const types = 'header b_t { bit<8> x; } header v_t { bit<8> n; varbit<16> v; }';
  const errorOf = (states: string, ...bytes: readonly number[]): number => {
    const program = new TextProgram({ types, headers: 'b_t b; v_t v; b_t[2] s;', metadata: 'bit<8> a;', states });
    return Number(program.run(...bytes).get('standard_metadata.parser_error'));
  };
  const [NONE, TOO_SHORT, STACK, HEADER, ARGUMENT] = [0, 1, 3, 4, 6];

  it('report what is wrong with a varbit: its length, the packet, its maximum, in this order', () => {
    const states =
      'state start { bit<8> n = packet.lookahead<bit<8>>(); packet.extract(hdr.v, (bit<32>)n); transition accept; }';
    expect(errorOf(states, 16, 1, 2)).toBe(NONE);
    expect(errorOf(states, 9, 1, 2, 3)).toBe(ARGUMENT);
    expect(errorOf(states, 24, 1, 2)).toBe(TOO_SHORT);
    expect(errorOf(states, 24, 1, 2, 3)).toBe(HEADER);
  });

  it('report a packet that ends, a stack that is full or empty', () => {
    const extract = 'packet.extract(hdr.s.next);';
    expect(errorOf(`state start { ${extract}${extract} transition accept; }`, 1)).toBe(TOO_SHORT);
    expect(errorOf(`state start { ${extract}${extract}${extract} transition accept; }`, 1, 2, 3)).toBe(STACK);
    expect(errorOf('state start { meta.a = hdr.s.last.x; transition accept; }', 1)).toBe(STACK);
    expect(errorOf('state start { bit<16> l = packet.lookahead<bit<16>>(); transition accept; }', 1)).toBe(TOO_SHORT);
  });

  it('advance by whole bytes within the packet, or not at all', () => {
    const states = (bits: number): string =>
      `state start { packet.extract(hdr.b); packet.advance((bit<32>)hdr.b.x + ${bits}); packet.extract(hdr.b); transition accept; }`;
    expect(errorOf(states(0), 8, 1, 2)).toBe(NONE);
    expect(errorOf(states(1), 8, 1, 2)).toBe(ARGUMENT);
    expect(errorOf(states(16), 8, 1, 2)).toBe(TOO_SHORT);
  });

  it('go on without an error after reject, and after a select without a match', () => {
    expect(errorOf('state start { transition reject; }', 1)).toBe(NONE);
    const noMatch = 'state start { packet.extract(hdr.b); transition select(hdr.b.x) { 1: accept; } }';
    expect(errorOf(noMatch, 2)).toBe(NONE);
    const program = new TextProgram({ types, headers: 'b_t b;', states: noMatch }, { noMatchError: true });
    expect(program.run(2).get('standard_metadata.parser_error')).toBe(2);
  });

  it('stop where a loop takes nothing from the packet', () => {
    const program = new TextProgram({
      types,
      headers: 'b_t b;',
      metadata: 'bit<8> a;',
      states: 'state start { meta.a = meta.a + 1; transition start; }',
    });
    expect(program.run(1).get('standard_metadata.parser_error')).toBe(5);
    expect(program.runtime.faults.parserLoop).toBe(1);
  });

  it('leave the enclosing parser where a sub-parser rejects', () => {
    const program = new TextProgram({
      types: `${types} parser Sub(packet_in packet, out b_t b, inout bit<8> a) {
        state start { packet.extract(b); a = a + 1; verify(b.x != 9, error.NoMatch); transition select(b.x) { 7: reject; default: accept; } }
      }`,
      headers: 'b_t b; b_t c;',
      metadata: 'bit<8> a;',
      states: `
        Sub() sub;
        state start { sub.apply(packet, hdr.b, meta.a); sub.apply(packet, hdr.c, meta.a); meta.a = meta.a + 16; transition accept; }`,
    });
    const run = (...bytes: readonly number[]): unknown[] => {
      const values = program.run(...bytes);
      return [values.get('meta.a'), values.get('standard_metadata.parser_error'), program.output];
    };
    expect(run(1, 2)).toEqual([18, 0, [1, 2]]);
    expect(run(1, 7)).toEqual([2, 0, [1, 7]]);
    expect(run(9, 7)).toEqual([1, 2, [9]]);
    expect(run(1)).toEqual([1, 1, [1]]);
  });
});

describe('unions', () => {
  const base = {
    types: 'header a_t { bit<8> x; } header b_t { bit<8> y; } header_union u_t { a_t a; b_t b; }',
    headers: 'u_t u; u_t v; u_t[2] many;',
    metadata: 'bit<8> r;',
    states: `state start { transition select(packet.lookahead<bit<8>>()) { 1: one; default: other; } }
      state one { packet.extract(hdr.u.a); packet.extract(hdr.many.next.b); packet.extract(hdr.many.next.a); transition accept; }
      state other { packet.extract(hdr.u.b); transition accept; }`,
  };
  const outputOf = (ingress: string, ...bytes: readonly number[]): number[] => {
    const program = new TextProgram({ ...base, ingress });
    program.run(...bytes);
    return program.output;
  };

  it('have at most one valid member', () => {
    expect(outputOf('hdr.u.b.setValid(); hdr.u.b.y = 5;', 1, 2, 3)).toEqual([5, 2, 3]);
    expect(outputOf('hdr.v = hdr.u; hdr.u.a = { 8 };', 4)).toEqual([8, 4]);
    expect(outputOf('hdr.v.a = hdr.u.a; hdr.v.b = hdr.u.b;', 4)).toEqual([4, 4]);
  });

  it('become invalid with any of their members', () => {
    expect(outputOf('hdr.u.a.setInvalid();', 4)).toEqual([]);
    expect(outputOf('hdr.u.a = hdr.v.a;', 4)).toEqual([]);
    expect(outputOf('hdr.many[1].b.setInvalid();', 1, 2, 3)).toEqual([1, 2]);
  });

  it('keep their rules where a member is passed to a function', () => {
    const program = new TextProgram({
      ...base,
      types: `${base.types} void make(inout a_t a) { a.setValid(); a.x = 9; }`,
      ingress: 'make(hdr.u.a);',
    });
    program.run(4);
    expect(program.output).toEqual([9]);
  });
});
