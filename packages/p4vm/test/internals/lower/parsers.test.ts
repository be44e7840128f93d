import { expect, test } from 'vitest';
import { build, printed } from './building.js';

test('States have labels per key, sub-parsers are instances, the packet is no parameter', () => {
  const top = `
    const bit<8> STOP = 7;
    struct keys { @match(ternary) bit<8> a; bit<16> b; }
    parser Sub(packet_in p, out h_t h)(bit<8> stop, bool deep) {
      state start {
        p.extract(h);
        transition select(h.a, deep) {
          (stop, true): again;
          (1 .. 5, false): accept;
          (0x10 &&& 0xf0, _): again;
          default: reject;
        }
      }
      state again { p.extract(h); transition accept; }
    }`;
  const parser = `
    Sub(STOP + 1, true) sub;
    value_set<keys>(4) vs;
    bit<8> n = 5;
    state start {
      bit<16> ahead = p.lookahead<bit<16>>();
      sub.apply(p, hdr.h);
      transition select(hdr.h.a, hdr.h.b) { vs: stack; (3, 0x800): accept; }
    }
    state stack {
      p.extract(hdr.s.next);
      verify(hdr.s.lastIndex < 3, error.StackOutOfBounds);
      n = n - hdr.s.last.a;
    }`;
  const program = build({ top, parser });
  expect(program.valueSets).toMatchObject([
    {
      name: 'P.vs',
      size: 4,
      keys: [
        { name: 'a', matchKind: 'ternary' },
        { name: 'b', matchKind: 'exact' },
      ],
    },
  ]);
  expect([...printed(program, 'parser P.sub'), ...printed(program, 'parser P(')].join('\n')).toBe(
    `parser P.sub(out h_t h) {
  state start {
    packet.extract(h);
    transition select(h.a, true) {
      (8w8, true): again;
      (8w1 .. 8w5, false): accept;
      (8w16 &&& 8w240, _): again;
      (_, _): reject;
    }
  }
  state again {
    packet.extract(h);
    transition accept;
  }
}
parser P(out H hdr, inout M m, inout standard_metadata_t sm) {
  bit<8> n;
  n = 8w5;
  state start {
    bit<16> ahead = packet.lookahead<bit<16>>();
    P.sub.apply(hdr.h);
    transition select(hdr.h.a, hdr.h.b) {
      (P.vs): stack;
      (8w3, 16w2048): accept;
    }
  }
  state stack {
    packet.extract(hdr.s.next);
    verify((hdr.s.lastIndex < 32w3), error.StackOutOfBounds);
    n = (n - hdr.s.last.a);
    transition reject;
  }
}`,
  );
});

test('Variables of a state are listed with it', () => {
  const program = build({ parser: 'state start { bit<8> one = 1; bit<8> two; m.x = one; transition accept; }' });
  expect(program.parser.states[program.parser.start]?.locals.map(({ name }) => name)).toEqual(['one', 'two']);
});
