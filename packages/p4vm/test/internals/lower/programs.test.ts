import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { buildProgram } from '../../../src/lower/front-end.js';
import { formatDiagnostic } from '../../../src/source/diagnostics.js';
import { brokenRules } from '../../lower/invariants.js';
import { build } from './building.js';
import { printProgram } from './program-text.js';

const folder = fileURLToPath(new URL('../../programs/', import.meta.url));
const names = readdirSync(folder).filter((name) => name.endsWith('.p4'));

// It compiles all programs of the packet tests.
test('All programs of the packet tests keep to the rules of the specialised form', () => {
  expect(names.length).toBeGreaterThan(50);
  for (const name of names) {
    const path = join(folder, name);
    const { program, diagnostics } = buildProgram(
      { name: path, text: readFileSync(path, 'utf8') },
      {
        resolve: (include, { from }) => {
          const found = join(dirname(from.name), include);
          return existsSync(found) ? { name: found, text: readFileSync(found, 'utf8') } : undefined;
        },
      },
    );
    expect(diagnostics.list.filter(({ severity }) => severity === 'error').map(formatDiagnostic)).toEqual([]);
    expect(program === undefined ? ['not lowered'] : brokenRules(program), name).toEqual([]);
  }
}, 180_000);

test('So does a program with much that has to be rewritten', () => {
  const program = build({
    top: 'struct pair { bit<8> l; bit<8> r; } bit<8> next(inout bit<8> x) { x += 1; return x; }',
    apply: `hdr.s[next(m.x)].b += (bit<16>)next(m.x);
      m.y[m.x +: 4] = 3;
      hdr.s[m.x].b[m.x +: 4] += 1;
      tuple<bit<8>, bit<8>> t = { 1, 2 };
      for (bit<8> v in { 1, m.x, next(m.x) }) { m.x = v; }
      switch (m.x) { 1: 2: { h_t h = { 1, 2 }; hdr.h = h; } default: { } }`,
  });
  expect(brokenRules(program)).toEqual([]);
});

test('A whole program prints as a text to read', () => {
  const program = build({
    top: 'counter(4, CounterType.packets) top; bit<8> twice(in bit<8> x) { return x + x; }',
    metadata: '@field_list(3) bit<9> port;',
    locals: `
      bit<8> local = 3;
      action forward(bit<9> port) { sm.egress_spec = port; top.count(1); }
      table route {
        key = { hdr.h.b: lpm; }
        actions = { forward; NoAction; }
        default_action = forward(511);
        const entries = { 0x0800 &&& 0xff00: forward(1); }
      }`,
    apply: `m.x = twice(local);
      if (hdr.h.isValid() && !route.apply().hit) { exit; } else { m.port = sm.ingress_port; }`,
  });
  expect(printProgram(program)).toBe(`counter(4, CounterType.packets) top;
function bit<8> twice(in bit<8> x) {
  return (x + x);
}
action I.forward(bit<9> port) {
  sm.egress_spec = port;
  top.count(32w1);
}
action NoAction() { }
table I.route {
  key hdr.h.b: lpm;
  action I.forward;
  action NoAction;
  default I.forward(9w511);
  const entry 1: (0x800/8) -> I.forward(9w1);
  size 1;
}
parser P(out H hdr, inout M m, inout standard_metadata_t sm) {
  state start {
    packet.extract(hdr.h);
    transition accept;
  }
}
control V(inout H hdr, inout M m) {
  apply { }
}
control I(inout H hdr, inout M m, inout standard_metadata_t sm) {
  bit<8> local;
  local = 8w3;
  apply {
    m.x = twice(local);
    if ((hdr.h.isValid() && !I.route.apply().hit)) {
      exit;
    }
    else {
      m.port = sm.ingress_port;
    }
  }
}
control E(inout H hdr, inout M m, inout standard_metadata_t sm) {
  apply { }
}
control C(inout H hdr, inout M m) {
  apply { }
}
control D(in H hdr) {
  apply {
    packet.emit(hdr);
  }
}
field_list 3: port
`);
});
