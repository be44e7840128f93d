import { describe, expect, it } from 'vitest';
import type { DataType, Expression, IrProgram } from '../../../src/ir/program.js';
import type { BinaryOperator } from '../../../src/syntax/ast.js';
import * as p4 from './build.js';
import { expectSame, pack, Random } from './compare.js';

const WIDTHS = [...Array.from({ length: 65 }, (_, index) => index + 1), 95, 96, 97, 127, 128, 129, 200];
const ARITHMETIC: readonly BinaryOperator[] = ['+', '-', '*', '/', '%', '|+|', '|-|', '&', '|', '^'];
const COMPARISONS: readonly BinaryOperator[] = ['==', '!=', '<', '<=', '>', '>='];

function padding(width: number): number {
  return (8 - (width & 7)) & 7;
}

/** A program that extracts two operands and a shift amount, and leaves the values of all expressions in the metadata. */
function programOf(
  left: DataType,
  right: DataType,
  expressions: (a: Expression, b: Expression, amount: Expression) => readonly Expression[],
): IrProgram {
  const widths = [left, right].map((each) => (each.kind === 'bits' ? each.width : 1));
  const amount = p4.bit(16);
  const pad = padding((widths[0] ?? 0) + (widths[1] ?? 0));
  const operands = p4.headerType('operands_t', { pad: p4.bit(pad), a: left, b: right, amount });
  const headers = p4.structType('headers_t', { h: operands });
  const probe = p4.variable('hdr', headers);
  const list = (base: typeof probe): readonly Expression[] =>
    expressions(p4.path(base, 'h', 'a'), p4.path(base, 'h', 'b'), p4.path(base, 'h', 'amount'));
  const fields = Object.fromEntries(list(probe).map((each, index) => [`r${index}`, each.type]));
  const metadata = p4.structType('metadata_t', fields);
  return p4.program({
    headers,
    metadata,
    states: ({ hdr }) => [p4.state('start', p4.goTo('accept'), p4.packet('extract', p4.path(hdr, 'h')))],
    ingress: ({ hdr, meta }) => ({
      body: list(hdr).map((each, index) => p4.assign(p4.path(meta, `r${index}`), each)),
    }),
  });
}

function packetsOf(random: Random, widthA: number, widthB: number, count: number): readonly Uint8Array[] {
  return Array.from({ length: count }, () => {
    const a = random.bits(widthA);
    // Equal operands now and then, and small divisors.
    const b = random.chance(20) && widthA === widthB ? a : random.bits(widthB);
    const amount = random.chance(80) ? BigInt(random.below(widthA + 4)) : random.bits(16);
    return pack([
      [0n, padding(widthA + widthB)],
      [a, widthA],
      [b, widthB],
      [amount, 16],
    ]);
  });
}

describe('operators', () => {
  const random = new Random(p4.seedOf());

  for (const isSigned of [false, true]) {
    it(`compute as bigints do for ${isSigned ? 'int' : 'bit'} of every width`, () => {
      for (const width of WIDTHS) {
        const type: DataType = { kind: 'bits', width, isSigned };
        const program = programOf(type, type, (a, b, amount) => [
          ...ARITHMETIC.map((operator) => p4.binary(operator, a, b)),
          ...COMPARISONS.map((operator) => p4.binary(operator, a, b)),
          p4.unary('-', a),
          p4.unary('~', a),
          p4.binary('<<', a, amount),
          p4.binary('>>', a, amount),
          p4.binary('<<', a, p4.constant(width >> 1, p4.bit(8))),
          p4.binary('>>', a, p4.constant(width >> 1, p4.bit(8))),
          p4.binary('>>', a, p4.constant(width + 3, p4.bit(16))),
          p4.binary('<<', a, p4.constant(width, p4.bit(16))),
          p4.binary('++', a, b),
          p4.conditional(p4.binary('<', a, b), a, b),
          p4.binary('+', p4.binary('^', a, b), p4.unary('~', p4.binary('-', b, a))),
        ]);
        expectSame(program, packetsOf(random, width, width, 10));
      }
    });
  }

  it('compute with constants as with variables', () => {
    for (const width of [1, 5, 8, 16, 31, 32, 33, 48, 64, 65, 128, 130]) {
      for (const isSigned of [false, true]) {
        const type: DataType = { kind: 'bits', width, isSigned };
        const constants = Array.from({ length: 3 }, () => p4.constant(random.bits(width), type));
        const program = programOf(type, type, (a) =>
          [...ARITHMETIC, ...COMPARISONS].flatMap((operator) =>
            constants.flatMap((each) => [p4.binary(operator, a, each), p4.binary(operator, each, a)]),
          ),
        );
        expectSame(program, packetsOf(random, width, width, 5));
      }
    }
  });

  it('take any pair of widths in concatenation', () => {
    for (let turn = 0; turn < 60; turn++) {
      const left: DataType = { kind: 'bits', width: 1 + random.below(90), isSigned: random.chance(30) };
      const right: DataType = { kind: 'bits', width: 1 + random.below(90), isSigned: random.chance(30) };
      const program = programOf(left, right, (a, b) => [p4.binary('++', a, b), p4.binary('++', b, a)]);
      expectSame(program, packetsOf(random, left.width, right.width, 6));
    }
  });

  it('convert between all kinds of widths', () => {
    const targets = [0, 1, 7, 8, 31, 32, 33, 63, 64, 65, 127, 128, 129, 200];
    for (const width of [1, 8, 31, 32, 33, 48, 64, 65, 96, 128, 129, 200]) {
      for (const isSigned of [false, true]) {
        const type: DataType = { kind: 'bits', width, isSigned };
        const program = programOf(type, p4.bit(1), (a) =>
          targets.flatMap((each) => [p4.cast(p4.bit(each), a), ...(each === 0 ? [] : [p4.cast(p4.int(each), a)])]),
        );
        expectSame(program, packetsOf(random, width, 1, 16));
      }
    }
  });

  it('take slices out of values, and write them', () => {
    for (let turn = 0; turn < 80; turn++) {
      const width = 1 + random.below(random.chance(50) ? 40 : 180);
      const type: DataType = { kind: 'bits', width, isSigned: random.chance(30) };
      const low = random.below(width);
      const high = low + random.below(width - low);
      const piece = high - low + 1;
      const inner = random.below(piece);
      const operands = p4.headerType('operands_t', {
        pad: p4.bit(padding(width + piece + 16)),
        a: type,
        b: p4.bit(piece),
        at: p4.bit(16),
      });
      const program = p4.program({
        headers: p4.structType('headers_t', { h: operands }),
        metadata: p4.structType('metadata_t', {
          x: type,
          y: type,
          s: p4.bit(piece),
          t: p4.bit(inner + 1),
          d: p4.bit(piece),
        }),
        states: ({ hdr }) => [p4.state('start', p4.goTo('accept'), p4.packet('extract', p4.path(hdr, 'h')))],
        ingress: ({ hdr, meta }) => {
          const local = p4.variable('x', type);
          const a = p4.path(hdr, 'h', 'a');
          return {
            locals: [local],
            body: [
              p4.assign(p4.path(meta, 's'), p4.slice(a, high, low)),
              p4.assign(p4.path(meta, 't'), p4.slice(p4.slice(a, high, low), inner, 0)),
              p4.assign(p4.path(meta, 'd'), {
                kind: 'dynamic-slice',
                type: p4.bit(piece),
                base: a,
                low: p4.path(hdr, 'h', 'at'),
                span: p4.span,
              }),
              p4.assign(p4.path(meta, 'x'), a),
              p4.assign(p4.slice(p4.path(meta, 'x'), high, low), p4.path(hdr, 'h', 'b')),
              p4.assign(p4.read(local), a),
              p4.assign(
                p4.slice(p4.slice(p4.read(local), high, low), inner, 0),
                p4.slice(p4.path(hdr, 'h', 'b'), inner, 0),
              ),
              p4.assign(p4.path(meta, 'y'), p4.read(local)),
            ],
          };
        },
      });
      const packets = Array.from({ length: 6 }, () =>
        pack([
          [0n, padding(width + piece + 16)],
          [random.bits(width), width],
          [random.bits(piece), piece],
          [random.chance(80) ? BigInt(random.below(width + 4)) : random.bits(16), 16],
        ]),
      );
      expectSame(program, packets);
    }
  });

  it('shift by amounts of any width without making giant numbers', () => {
    for (const amountWidth of [8, 32, 40, 64, 100, 200]) {
      for (const width of [8, 32, 48, 128, 200]) {
        const type = p4.int(width);
        const program = programOf(type, p4.bit(amountWidth), (a, b) => [
          p4.binary('<<', a, b),
          p4.binary('>>', a, b),
          p4.binary('<<', p4.cast(p4.bit(width), a), b),
          p4.binary('>>', p4.cast(p4.bit(width), a), b),
        ]);
        const amounts = [0n, 1n, 7n, 31n, 32n, 33n, 1n << 31n, (1n << 32n) - 1n, 1n << 33n, (1n << 200n) - 1n];
        const packets = amounts.map((amount) =>
          pack([
            [0n, padding(width + amountWidth)],
            [random.bits(width), width],
            [amount, amountWidth],
            [0n, 16],
          ]),
        );
        expectSame(program, packets);
      }
    }
  });

  it('give 0 for widths of 0', () => {
    const program = programOf(p4.bit(8), p4.bit(8), (a) => {
      const none = p4.cast(p4.bit(0), a);
      return [
        none,
        p4.binary('++', none, a),
        p4.binary('++', a, none),
        p4.binary('+', none, none),
        p4.binary('==', none, none),
      ];
    });
    expectSame(program, [Uint8Array.of(1, 2, 0, 3)]);
    expect(p4.seedOf()).toBeTypeOf('number');
  });

  it('treat booleans as values', () => {
    const program = programOf(p4.bit(8), p4.bit(8), (a, b) => {
      const less = p4.binary('<', a, b);
      const even = p4.binary('==', p4.slice(a, 0, 0), p4.constant(0, p4.bit(1)));
      return [
        p4.binary('&&', less, even),
        p4.binary('||', less, even),
        p4.binary('==', less, even),
        p4.binary('!=', less, even),
        p4.unary('!', less),
        p4.cast(p4.bit(1), less),
        p4.cast(p4.bool, p4.slice(a, 3, 3)),
        p4.conditional(less, even, p4.unary('!', even)),
      ];
    });
    expectSame(program, packetsOf(random, 8, 8, 40));
  });
});
