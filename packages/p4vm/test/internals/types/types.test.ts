import { describe, expect, it } from 'vitest';
import { hasInteger, hasVariable, sameType } from '../../../src/types/compare.js';
import { describeType } from '../../../src/types/describe.js';
import { typeSize } from '../../../src/types/measure.js';
import {
  ANY,
  BOOL,
  bit,
  ERROR,
  INTEGER,
  INVALID_HEADER,
  int,
  MATCH_KIND,
  STRING,
  UNKNOWN,
  VOID,
} from '../../../src/types/primitives.js';
import type { Field, StructType, Type } from '../../../src/types/type.js';

const span = { file: { name: 'main.p4', text: '' }, start: 0, end: 0 };

function field(name: string, type: Type): Field {
  return { name, type, annotations: new Map(), span };
}

function struct(kind: StructType['kind'], name: string, ...types: Type[]): StructType {
  return { kind, name, typeArguments: [], fields: types.map((type, i) => field(`f${i}`, type)) };
}

describe('types', () => {
  it('that are nominal are the same only if they are one', () => {
    const first = struct('header', 'H', bit(8));
    expect(sameType(first, first)).toBe(true);
    expect(sameType(first, struct('header', 'H', bit(8)))).toBe(false);
    expect(sameType({ kind: 'newtype', name: 'N', underlying: bit(8) }, bit(8))).toBe(false);
  });

  it('that are structural are compared part by part', () => {
    expect(sameType(bit(8), bit(8))).toBe(true);
    expect(sameType(bit(8), int(8))).toBe(false);
    expect(sameType({ kind: 'varbit', maxWidth: 8 }, { kind: 'varbit', maxWidth: 9 })).toBe(false);
    expect(sameType({ kind: 'list', element: BOOL }, { kind: 'list', element: ERROR })).toBe(false);
    expect(sameType(struct('struct', '', bit(8)), struct('struct', '', bit(8)))).toBe(true);
    expect(sameType(struct('struct', '', bit(8)), struct('struct', '', bit(9)))).toBe(false);
  });

  it('agree with the unknown type and with _, in parts as well', () => {
    const stack = (element: Type): Type => ({ kind: 'stack', element, size: 2 });
    for (const open of [ANY, UNKNOWN]) {
      expect(sameType(open, VOID)).toBe(true);
      expect(sameType(stack(open), stack(BOOL))).toBe(true);
    }
    const generic = (argument: Type): StructType => ({
      kind: 'struct',
      name: 'G',
      typeArguments: [argument],
      fields: [],
    });
    expect(sameType(generic(ANY), generic(bit(3)))).toBe(true);
    expect(sameType(generic(bit(4)), generic(bit(3)))).toBe(false);
  });

  it('are shown as they are written', () => {
    const cases: readonly (readonly [Type, string])[] = [
      [bit(8), 'bit<8>'],
      [int(8), 'int<8>'],
      [INTEGER, 'int'],
      [{ kind: 'varbit', maxWidth: 32 }, 'varbit<32>'],
      [{ kind: 'stack', element: struct('header', 'H'), size: 3 }, 'H[3]'],
      [{ kind: 'tuple', elements: [BOOL, STRING] }, 'tuple<bool, string>'],
      [struct('struct', '', bit(1)), '{f0 = bit<1>}'],
      [MATCH_KIND, 'match_kind'],
      [INVALID_HEADER, 'invalid header {#}'],
      [{ kind: 'extern', name: 'register', typeArguments: [bit(8)] }, 'register<bit<8>>'],
      [{ kind: 'set', element: ERROR }, 'set of error'],
    ];
    for (const [type, text] of cases) expect(describeType(type)).toBe(text);
  });

  it('have sizes if they can be sent', () => {
    const header = struct('header', 'H', bit(8), { kind: 'varbit', maxWidth: 24 }, BOOL);
    expect(typeSize(header)).toEqual({ minimum: 9, maximum: 33 });
    expect(typeSize({ kind: 'stack', element: header, size: 2 })).toEqual({ minimum: 18, maximum: 66 });
    expect(typeSize(struct('union', 'U', header, struct('header', 'G', bit(16))))).toEqual({
      minimum: 16,
      maximum: 33,
    });
    expect(typeSize({ kind: 'tuple', elements: [int(3), BOOL] })).toEqual({ minimum: 4, maximum: 4 });
    expect(typeSize(struct('struct', 'S', ERROR))).toBeUndefined();
    expect(typeSize(INTEGER)).toBeUndefined();
  });

  it('know whether something is still open in them', () => {
    const variable: Type = { kind: 'variable', name: 'T' };
    expect(hasVariable({ kind: 'tuple', elements: [BOOL, { kind: 'stack', element: variable, size: 1 }] })).toBe(true);
    expect(hasVariable({ kind: 'tuple', elements: [BOOL] })).toBe(false);
    expect(hasInteger({ kind: 'tuple', elements: [BOOL, INTEGER] })).toBe(true);
    expect(hasInteger(bit(8))).toBe(false);
  });
});
