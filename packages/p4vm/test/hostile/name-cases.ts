import { type HostileCase, times, v1model } from './hostile-case.js';

/** Names that a compiler to JavaScript could take for its own, or for the language's; none is a keyword of P4. */
const NAMES = [
  ...'result behind extra length start target used sum from into other value count name index set get has it i a b'.split(
    ' ',
  ),
  ...'input output requests faults bytes at end exited entry position states standard runtime machine work'.split(' '),
  ...'arguments eval undefined NaN Infinity Object Array Math Number BigInt Function Symbol globalThis'.split(' '),
  ...'process require module exports console constructor prototype __proto__ hasOwnProperty toString'.split(' '),
  ...'valueOf then Map Set Promise JSON async await yield let static var new delete typeof class super null'.split(' '),
  ...'turns turn loop temporary buffer total header_ headers_ metadata save load reset parse deparse steps left'.split(
    ' ',
  ),
  ...'items next_ data action_ hit miss kind m_split2 self window document import_ with catch try finally'.split(' '),
];

const each = (piece: (name: string) => string): string => times(NAMES.length, (i) => piece(NAMES[i]!));

const apply = each((name) => `${name}_i.apply(m.seen);`);

/** All these names, as names of one kind of thing at a time. */
export const NAME_CASES: readonly HostileCase[] = [
  {
    name: 'parsers',
    text: () =>
      v1model({
        top: each(
          (name) =>
            `parser ${name}(packet_in p, out bit<8> x) { state start { x = p.lookahead<bit<8>>(); transition accept; } }`,
        ),
        parserLocals: each((name) => `${name}() ${name}_i;`),
        start: `bit<8> y; ${each((name) => `${name}_i.apply(p, y);`)} p.extract(hdr.h);`,
      }),
  },
  {
    name: 'controls',
    text: () =>
      v1model({
        top: each((name) => `control ${name}(inout bit<32> x) { apply { x = x + 1; } }`),
        locals: each((name) => `${name}() ${name}_i;`),
        apply,
      }),
  },
  {
    name: 'instances',
    text: () =>
      v1model({
        top: 'control plus(inout bit<32> x) { apply { x = x + 1; } }',
        locals: each((name) => `plus() ${name};`),
        apply: each((name) => `${name}.apply(m.seen);`),
      }),
  },
  {
    name: 'functions',
    text: () =>
      v1model({
        top: each((name) => `bit<32> ${name}(in bit<32> x) { return x + 1; }`),
        apply: each((name) => `m.seen = ${name}(m.seen);`),
      }),
  },
  {
    name: 'actions and tables',
    text: () =>
      v1model({
        locals: each(
          (name) =>
            `action ${name}() { m.seen = m.seen + 1; } table ${name}_t { actions = { ${name}; } default_action = ${name}(); }`,
        ),
        apply: each((name) => `${name}_t.apply();`),
      }),
  },
  {
    name: 'tables by their names for the control plane',
    text: () =>
      v1model({
        locals: each(
          (name) =>
            `@name(".${name}") table ${name}_t { actions = { NoAction; } } @name("$${NAMES.indexOf(name)}") action ${name}_a() { m.seen = 1; }`,
        ),
        apply: each((name) => `${name}_t.apply(); ${name}_a();`),
      }),
  },
  {
    name: 'variables',
    text: () =>
      v1model({
        apply: `${each((name) => `bit<32> ${name} = m.seen + 1; bit<100> ${name}_w = 7;`)} ${each((name) => `m.seen = m.seen + ${name} + (bit<32>)${name}_w;`)}`,
      }),
  },
  {
    name: 'parameters',
    text: () =>
      v1model({
        top: each(
          (name) =>
            `bit<32> f_${name}(in bit<32> ${name}, inout bit<64> ${name}_w) { ${name}_w = 1; return ${name} + 1; }`,
        ),
        apply: `bit<64> w = 0; ${each((name) => `m.seen = f_${name}(m.seen, w);`)}`,
      }),
  },
  {
    name: 'fields',
    text: () =>
      v1model({
        top: `struct s_t { ${each((name) => `bit<32> ${name}; bit<64> ${name}_w;`)} } header g_t { ${each((name) => `bit<8> ${name};`)} }`,
        metadata: 's_t all;',
        headers: 'g_t g;',
        apply: `hdr.g.setValid(); ${each((name) => `m.all.${name} = m.seen; m.all.${name}_w = 3; hdr.g.${name} = 1;`)} s_t copy = m.all; if (copy == m.all) { m.seen = 5; }`,
        deparser: 'p.emit(hdr);',
      }),
  },
  {
    name: 'types',
    text: () =>
      v1model({
        top: each((name) => `header ${name} { bit<8> x; } struct ${name}_s { ${name} inner; ${name}[2] some; }`),
        metadata: each((name) => `${name}_s f_${name};`),
        apply: each((name) => `m.f_${name}.inner.setValid(); m.f_${name}.some[1] = m.f_${name}.inner;`),
      }),
  },
  {
    name: 'headers',
    text: () =>
      v1model({
        headers: each((name) => `h_t ${name}; h_t[2] ${name}_s;`),
        start: `p.extract(hdr.h); ${each((name) => `p.extract(hdr.${name}_s.next);`)
          .slice(0, 400)
          .replace(/[^;]*$/, '')}`,
        deparser: 'p.emit(hdr);',
      }),
  },
  {
    name: 'states',
    text: () =>
      v1model({
        start: 'p.extract(hdr.h);',
        transition: `transition ${stateOf(0)}; } ${NAMES.map((_, i) => `state ${stateOf(i)} { m.seen = m.seen + 1; transition select(hdr.h.a) { 200: ${stateOf((i * 7) % NAMES.length)}; default: ${i + 1 < NAMES.length ? stateOf(i + 1) : 'accept'}; } }`).join('\n')}`,
      }),
  },
  {
    name: 'registers, counters and meters',
    text: () =>
      v1model({
        locals: each(
          (name) =>
            `register<bit<64>>(4) ${name}; counter(4, CounterType.packets) ${name}_c; meter(4, MeterType.bytes) ${name}_m;`,
        ),
        apply: `bit<64> x; bit<2> c; ${each((name) => `${name}.read(x, 1); ${name}.write(1, x + 1); ${name}_c.count(1); ${name}_m.execute_meter(1, c);`)}`,
      }),
  },
  {
    name: 'members of enums and errors',
    text: () =>
      v1model({
        top: `enum e_t { ${NAMES.join(', ')} } enum bit<16> n_t { ${NAMES.map((name, i) => `${name} = ${i}`).join(', ')} } error { ${NAMES.join(', ')} }`,
        apply: each(
          (name) =>
            `if (e_t.${name} == e_t.result && n_t.${name} == n_t.result && s.parser_error == error.${name}) { m.seen = 1; }`,
        ),
      }),
  },
].map((each) => ({ ...each, name: `names of JavaScript: ${each.name}`, ends: 'result' }));

function stateOf(index: number): string {
  const name = NAMES[index]!;
  return name === 'start' ? 'start_' : name;
}
