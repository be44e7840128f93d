import { type HostileCase, times, v1model } from './hostile-case.js';

const states = (count: number, state: (i: number) => string): string =>
  `transition s0; } ${times(count, (i) => `state s${i} { ${state(i)} }`)}`;

/** A header of 8 kB. */
const WIDE = `header w_t { ${times(32, (i) => `bit<2048> f${i};`, ' ')} }`;

const MIRROR = 'mirroring_add 5 1\nmirroring_add_mc 6 1\nmc_mgrp_create 1\n';
const group = (nodes: number, ports: number): string =>
  `mc_mgrp_create 1\n${times(nodes, (i) => `mc_node_create ${i} ${times(ports, (port) => `${port}`, ' ')}\nmc_node_associate 1 ${i}`)}\n`;

/** What packets do in the machine, and what generated code grows to. */
export const PACKET_CASES: readonly HostileCase[] = [
  {
    name: 'a loop without end',
    text: () => v1model({ apply: 'bit<32> i = 0; for (; true; ) { i = i + 1; }' }),
    ends: 'dropped: steps',
  },
  { name: 'loops within loops, 8 deep', text: () => v1model({ apply: loops(8) }), ends: 'dropped: steps' },
  {
    name: 'a loop that calls 2^18 functions',
    text: () =>
      v1model({
        top: `bit<32> f0(in bit<32> x) { return x + 1; }\n${times(16, (i) => `bit<32> f${i + 1}(in bit<32> x) { return f${i}(x) + f${i}(x); }`)}`,
        apply: 'for (bit<32> i in 32w0 .. 32w4294967295) { m.seen = f16(m.seen); }',
      }),
    ends: 'dropped: steps',
  },
  {
    name: 'a loop over 2^32 numbers',
    text: () => v1model({ apply: 'for (bit<32> i in 32w0 .. 32w4294967295) { m.seen = m.seen + i; }' }),
    ends: 'dropped: steps',
  },
  {
    name: 'a loop over 2^64 numbers',
    text: () => v1model({ apply: 'for (bit<64> i in 64w0 .. 64w18446744073709551615) { m.seen = m.seen + 1; }' }),
    ends: 'dropped: steps',
  },
  {
    name: 'loops that continue',
    text: () =>
      v1model({
        apply:
          'for (bit<32> i in 32w0 .. 32w4294967295) { for (bit<32> j in 32w0 .. 32w4294967295) { if (j > 2) break; continue; } continue; }',
      }),
    ends: 'dropped: steps',
  },
  {
    name: 'a loop of multiplications of 2,048 bits',
    text: () =>
      v1model({
        metadata: 'bit<2048> w;',
        apply: 'm.w = ~m.w; for (bit<32> i in 32w0 .. 32w4294967295) { m.w = m.w * m.w + 1; }',
      }),
    ends: 'dropped: steps',
  },
  {
    name: '5,000 multiplications of 2,048 bits',
    text: () =>
      v1model({ metadata: 'bit<2048> w;', apply: `m.w = ~m.w; ${times(5_000, () => 'm.w = m.w * m.w - 1;')}` }),
    limits: { steps: 1_000_000 },
    ends: 'limit-steps',
  },
  {
    name: 'a loop that copies 60,000 headers',
    text: () =>
      v1model({
        headers: 'h_t[30000] x;',
        metadata: 'h_t[30000] y;',
        apply: 'hdr.x[29999].setValid(); for (bit<32> i in 32w0 .. 32w4294967295) { m.y = hdr.x; }',
      }),
    ends: 'dropped: steps',
  },
  {
    name: 'a loop that hashes',
    text: () =>
      v1model({
        apply:
          'bit<16> r; for (bit<32> i in 32w0 .. 32w4294967295) { hash(r, HashAlgorithm.crc16, 16w0, { m.seen, i }, 16w100); }',
      }),
    ends: 'dropped: steps',
  },
  {
    name: 'a loop that logs',
    text: () =>
      v1model({ apply: 'for (bit<32> i in 32w0 .. 32w4294967295) { log_msg("again and again {}", { i }); }' }),
    ends: 'dropped: steps',
  },
  {
    name: 'a loop that logs 60,000 characters',
    text: () => v1model({ apply: `for (bit<32> i in 32w0 .. 32w4294967295) { log_msg("${'x'.repeat(60_000)}"); }` }),
    ends: 'dropped: steps',
  },
  {
    name: 'a loop that sends digests',
    text: () =>
      v1model({
        top: `struct d_t { ${times(200, (i) => `bit<64> f${i};`)} }`,
        metadata: 'd_t d;',
        apply: 'for (bit<32> i in 32w0 .. 32w4294967295) { digest<d_t>(1, m.d); }',
      }),
    packets: 3,
    ends: 'dropped: steps',
  },
  {
    name: 'a loop that draws random numbers',
    text: () =>
      v1model({
        apply: 'bit<64> r; for (bit<32> i in 32w0 .. 32w4294967295) { random(r, 64w0, 64w18446744073709551615); }',
      }),
    ends: 'dropped: steps',
  },
  {
    name: 'a loop that looks into a table of 4,000 masks',
    text: () =>
      v1model({
        locals: `table t { key = { m.seen: ternary; } actions = { NoAction; } const entries = { ${times(4_000, (i) => `${i + 1} &&& ${i + 1}: NoAction();`)} } }`,
        apply: 'for (bit<32> i in 32w0 .. 32w4294967295) { t.apply(); }',
      }),
    limits: { steps: 4_000_000 },
    ends: 'dropped: steps',
  },
  {
    name: 'a loop that pushes a stack of 30,000',
    text: () =>
      v1model({
        headers: 'h_t[30000] x;',
        apply: 'hdr.x[29999].setValid(); for (bit<32> i in 32w0 .. 32w4294967295) { hdr.x.push_front(1); }',
      }),
    ends: 'dropped: steps',
  },
  {
    name: 'a loop that emits a header of 8 kB',
    text: () =>
      v1model({
        top: WIDE,
        headers: 'w_t w;',
        apply: 'hdr.w.setValid();',
        deparser: 'for (bit<32> i in 32w0 .. 32w999) { p.emit(hdr.w); }',
      }),
    ends: 'dropped: size',
  },
  {
    name: '30,000 headers of 8 kB',
    text: () => v1model({ top: WIDE, headers: 'w_t[30000] w;' }),
    ends: 'type-too-large',
  },
  {
    name: 'a packet that grows by 8 kB with each turn',
    text: () =>
      v1model({
        top: WIDE,
        headers: 'w_t w;',
        apply: 'hdr.w.setValid();',
        egress: 'recirculate_preserving_field_list(0);',
        deparser: 'p.emit(hdr.w); p.emit(hdr.h);',
      }),
    ends: 'dropped: size',
  },
  {
    name: 'a parser that goes in a circle',
    text: () =>
      v1model({
        transition: 'transition start2; } state start2 { transition start3; } state start3 { transition start2; }',
      }),
    ends: 'result',
  },
  {
    name: 'parsers in circles within parsers in circles',
    text: () =>
      v1model({
        top: `parser Q0(packet_in p) { state start { transition select(p.length()) { 1: accept; default: start; } } }\n${times(6, (i) => `parser Q${i + 1}(packet_in p) { Q${i}() q; state start { q.apply(p); transition select(p.length()) { 1: accept; default: start; } } }`)}`,
        parserLocals: 'Q6() q;',
        start: 'q.apply(p); p.extract(hdr.h);',
      }),
    ends: 'result',
  },
  {
    name: 'a sub-parser that always fails, in a circle',
    text: () =>
      v1model({
        top: 'parser Q(packet_in p) { state start { verify(false, error.NoMatch); transition accept; } }',
        parserLocals: 'Q() q;',
        start: '',
        transition: 'transition again; } state again { q.apply(p); transition again; }',
      }),
    ends: 'result',
  },
  {
    name: '2,000 states in a row',
    text: () =>
      v1model({
        transition: states(2_000, (i) => `m.seen = m.seen + 1; transition ${i === 1_999 ? 'accept' : `s${i + 1}`};`),
      }),
    ends: 'result',
  },
  {
    name: '2,000 states in a row, each with a choice',
    text: () =>
      v1model({
        transition: states(
          2_000,
          (i) =>
            `m.seen = m.seen + 1; transition select(hdr.h.a) { 200: reject; default: ${i === 1_999 ? 'accept' : `s${i + 1}`}; }`,
        ),
      }),
    ends: 'result',
  },
  {
    name: '4,000 states, each to all others of its size',
    text: () =>
      v1model({
        transition: states(
          4_000,
          (i) => `transition select(hdr.h.a) { 1: s${(i * 7) % 4_000}; 2: s${(i * 13) % 4_000}; default: accept; }`,
        ),
      }),
    ends: 'result',
  },
  {
    name: 'resubmitted without end',
    text: () => v1model({ apply: 'resubmit_preserving_field_list(0);' }),
    ends: 'dropped: loop',
  },
  {
    name: 'recirculated without end',
    text: () => v1model({ egress: 'recirculate_preserving_field_list(0);' }),
    ends: 'dropped: loop',
  },
  {
    name: 'clones of clones of clones',
    text: () => v1model({ egress: 'clone(CloneType.E2E, 5);' }),
    commands: () => MIRROR,
    ends: 'dropped: loop',
  },
  {
    name: 'clones and recirculated packets, both again and again',
    text: () => v1model({ egress: 'clone(CloneType.E2E, 5); recirculate_preserving_field_list(0);' }),
    commands: () => MIRROR,
    ends: 'dropped: loop',
  },
  {
    name: 'a group that comes back to itself',
    text: () => v1model({ apply: 's.mcast_grp = 1;', egress: 'recirculate_preserving_field_list(0);' }),
    commands: () => group(40, 100),
    ends: 'dropped: loop',
  },
  {
    name: 'copies that are cloned to a group, whose copies are cloned to it',
    text: () => v1model({ apply: 's.mcast_grp = 1;', egress: 'clone(CloneType.E2E, 6);' }),
    commands: () => `${MIRROR}${group(20, 500)}`,
    ends: 'dropped: memory',
  },
  {
    name: 'copies with metadata of a megabyte',
    text: () =>
      v1model({
        top: WIDE,
        metadata: 'w_t[60] w;',
        apply: 'm.w[59].setValid(); s.mcast_grp = 1; clone_preserving_field_list(CloneType.I2E, 6, 0);',
        egress: 'clone(CloneType.E2E, 6);',
      }),
    commands: () => `${MIRROR}${group(20, 500)}`,
    ends: 'dropped: steps',
  },
  {
    name: 'a header of 8 kB in ten thousand copies',
    text: () =>
      v1model({ top: WIDE, headers: 'w_t w;', apply: 'hdr.w.setValid(); s.mcast_grp = 1;', deparser: 'p.emit(hdr);' }),
    commands: () => group(20, 500),
    ends: 'dropped: steps',
  },
  {
    name: 'division by zero, indices out of bounds',
    text: () =>
      v1model({
        headers: 'h_t[4] x;',
        locals: 'register<bit<32>>(4) r;',
        apply: 'm.seen = m.seen / (bit<32>)s.priority; hdr.x[m.seen + 9].a = 1; r.write(m.seen + 1000, 1);',
      }),
    ends: 'result',
  },
  {
    name: 'a shift by 2^31',
    text: () =>
      v1model({
        metadata: 'bit<2000> w;',
        apply:
          'bit<32> n = 2147483647; m.w = (m.w + 1) << (bit<8>)n; m.seen = m.seen << (bit<8>)n; m.w = m.w >> (bit<8>)n;',
      }),
    ends: 'result',
  },
  {
    name: 'varbits at their bounds',
    text: () =>
      v1model({ top: 'header v_t { varbit<65528> v; }', headers: 'v_t v;', start: 'p.extract(hdr.v, 32w4294967288);' }),
    ends: 'result',
  },
  { name: 'advance by 2^32 bits', text: () => v1model({ start: 'p.advance(32w4294967288);' }), ends: 'result' },
  { name: 'truncated to 2^32 bytes', text: () => v1model({ egress: 'truncate(32w4294967295);' }), ends: 'result' },
  {
    name: '10,000 statements',
    text: () => v1model({ apply: times(10_000, (i) => `m.seen = m.seen + ${i};`) }),
    ends: 'result',
  },
  {
    name: '5,000 assignments of structs of 200 fields that convert',
    text: () =>
      v1model({
        top: `struct a_t { ${times(200, (i) => `bit<8> f${i};`)} }`,
        apply: `a_t x; ${times(5_000, () => 'x = { f0 = 1, ... };')}`,
      }),
    limits: { work: 1_000_000 },
    ends: 'limit-work',
  },
  {
    name: '2,000 concatenations of 1,000 bits',
    text: () => v1model({ metadata: 'bit<1000> w; bit<2000> v;', apply: times(2_000, () => 'm.v = m.w ++ m.w;') }),
    ends: 'result',
  },
  {
    name: 'headers of a thousand fields of odd widths, 60 of them',
    text: () =>
      v1model({
        top: times(
          60,
          (k) => `header o${k} { ${times(1_000, (i) => `bit<${((i * 7) % 61) + 3}> f${i};`)} bit<8> end; }`,
        ),
        headers: times(60, (k) => `o${k} x${k};`),
      }),
    ends: 'limit-code-characters',
  },
  {
    name: 'names of 1,000 letters in 30,000 statements',
    text: () =>
      v1model({
        metadata: `bit<32> ${'n'.repeat(1_000)};`,
        apply: times(10_000, () => `m.${'n'.repeat(1_000)} = m.${'n'.repeat(1_000)} + 1;`),
      }),
    ends: 'limit-characters',
  },
];

function loops(levels: number): string {
  let text = 'm.seen = m.seen + 1;';
  for (let i = 0; i < levels; i++) text = `for (bit<32> i${i} in 32w0 .. 32w1000) { ${text} }`;
  return text;
}
