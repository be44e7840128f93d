import { type HostileCase, times, v1model } from './hostile-case.js';

const control = (name: string, locals: string, apply: string, parameters = ''): string =>
  `control ${name}(inout bit<32> x)${parameters} { ${locals} apply { ${apply} } }\n`;

/** Controls C0 to Cn, each with instances of the one before. */
function tower(levels: number, instances: number, first = 'x = x + 1;', locals = ''): string {
  return (
    control('C0', locals, first) +
    times(levels, (i) =>
      control(
        `C${i + 1}`,
        times(instances, (k) => `C${i}() c${k};`, ' '),
        times(instances, (k) => `c${k}.apply(x);`, ' '),
      ),
    )
  );
}

const functions = (levels: number, calls: number): string =>
  `bit<32> f0(in bit<32> x) { return x + 1; }\n${times(levels, (i) => `bit<32> f${i + 1}(in bit<32> x) { return ${times(calls, () => `f${i}(x)`, ' + ')}; }`)}`;

/** What the specialisation, which makes the instances, meets. */
export const INSTANCE_CASES: readonly HostileCase[] = [
  {
    name: '24 controls with two instances each',
    text: () => v1model({ top: tower(24, 2), locals: 'C24() c;', apply: 'c.apply(m.seen);' }),
    ends: 'limit-instances',
  },
  {
    name: '24 controls with two instances each, each with a table',
    text: () =>
      v1model({
        top: tower(24, 2, 't.apply();', 'action a() { x = 1; } table t { actions = { a; } }'),
        locals: 'C24() c;',
        apply: 'c.apply(m.seen);',
      }),
    ends: 'limit-instances',
  },
  {
    name: '24 controls with two instances each, each with a register of 2^20 cells',
    text: () =>
      v1model({
        top: tower(24, 2, 'r.write(0, x);', 'register<bit<32>>(1048576) r;'),
        locals: 'C24() c;',
        apply: 'c.apply(m.seen);',
      }),
    ends: 'limit-state-bytes',
  },
  {
    name: '3,000 controls, each with an instance of the one before',
    text: () => v1model({ top: tower(3_000, 1), locals: 'C3000() c;', apply: 'c.apply(m.seen);' }),
    ends: 'nesting-too-deep',
  },
  {
    name: '24 parsers with two instances each',
    text: () =>
      v1model({
        top: `parser Q0(packet_in p) { state start { p.advance(8); transition accept; } }\n${times(24, (i) => `parser Q${i + 1}(packet_in p) { Q${i}() a; Q${i}() b; state start { a.apply(p); b.apply(p); transition accept; } }`)}`,
        parserLocals: 'Q24() q;',
        start: 'p.extract(hdr.h); q.apply(p);',
      }),
    ends: 'limit-instances',
  },
  {
    name: 'controls applied directly, 24 times doubled',
    text: () =>
      v1model({
        top: `control C0(inout bit<32> x) { apply { x = 1; } }\n${times(24, (i) => control(`C${i + 1}`, '', `C${i}.apply(x); C${i}.apply(x);`))}`,
        apply: 'C24.apply(m.seen);',
      }),
    ends: 'limit-instances',
  },
  {
    name: 'constructor arguments that double',
    text: () =>
      v1model({
        top: `control C0(inout bit<32> x)(int n) { apply { x = (bit<32>)n; } }\n${times(100, (i) => `control C${i + 1}(inout bit<32> x)(int n) { C${i}(n * n + 3) c; apply { c.apply(x); } }`)}`,
        locals: 'C100(3) c;',
        apply: 'c.apply(m.seen);',
      }),
    ends: 'value-too-large',
  },
  {
    name: 'constructor arguments of lists that double',
    text: () =>
      v1model({
        top: `control C0<T>(inout bit<32> x)(T n) { apply { x = 1; } }\n${times(40, (i) => `control C${i + 1}<T>(inout bit<32> x)(T n) { C${i}<tuple<T, T>>({ n, n }) c; apply { c.apply(x); } }`)}`,
        locals: 'C40<bit<8>>(8w3) c;',
        apply: 'c.apply(m.seen);',
      }),
    ends: 'type-too-large',
  },
  {
    name: 'names that grow with each instance',
    text: () =>
      v1model({
        top:
          control('C0', '@name("n") table t { actions = { NoAction; } }', 't.apply();') +
          times(200, (i) => control(`C${i + 1}`, `@name("${'n'.repeat(900)}") C${i}() c;`, 'c.apply(x);')),
        locals: 'C200() c;',
        apply: 'c.apply(m.seen);',
      }),
    ends: 'name-too-long',
  },
  {
    name: 'a name of ten thousand dots',
    text: () =>
      v1model({ locals: `@name("${'a.'.repeat(2_000)}t") table t { actions = { NoAction; } }`, apply: 't.apply();' }),
    ends: 'result',
  },
  {
    name: '1,000 instances of one name',
    text: () =>
      v1model({
        top: control('K', '', 'x = 1;'),
        locals: times(1_000, (i) => `@name("same") K() c${i};`),
        apply: times(1_000, (i) => `c${i}.apply(m.seen);`),
      }),
    ends: 'result',
  },
  {
    name: '2^30 calls',
    text: () => v1model({ top: functions(30, 2), apply: 'm.seen = f30(m.seen);' }),
    ends: 'limit-steps',
  },
  {
    name: '10^12 calls of actions',
    text: () =>
      v1model({
        locals: `action a0() { m.seen = m.seen + 1; }\n${times(12, (i) => `action a${i + 1}() { ${`a${i}();`.repeat(10)} }`)}`,
        apply: 'a12();',
      }),
    ends: 'limit-steps',
  },
  {
    name: '2^30 calls of hash',
    text: () =>
      v1model({
        locals: `action a0() { bit<16> r; hash(r, HashAlgorithm.crc16, 16w0, { m.seen }, 16w100); m.seen = (bit<32>)r; }\n${times(30, (i) => `action a${i + 1}() { a${i}(); a${i}(); }`)}`,
        apply: 'a30();',
      }),
    ends: 'limit-steps',
  },
  {
    name: '3,000 functions, each calls the one before',
    text: () => v1model({ top: functions(3_000, 1), apply: 'm.seen = f3000(m.seen);' }),
    ends: 'nesting-too-deep',
  },
  {
    name: '3,000 actions, each calls the one before',
    text: () =>
      v1model({
        locals: `action a0() { m.seen = 1; }\n${times(3_000, (i) => `action a${i + 1}() { a${i}(); }`)}`,
        apply: 'a3000();',
      }),
    ends: 'nesting-too-deep',
  },
  {
    name: 'functions of objects for many lists of objects',
    text: () =>
      v1model({
        top: `void f(register<bit<32>> a, register<bit<32>> b) { a.write(0, 1); b.write(0, 2); }`,
        locals: times(150, (i) => `register<bit<32>>(1) r${i};`),
        apply: times(150 * 150, (i) => `f(r${Math.floor(i / 150)}, r${i % 150});`),
      }),
    ends: 'parameter-type',
  },
  {
    name: 'labels that share a body, switch within switch',
    text: () =>
      v1model({
        locals: `${times(20, (i) => `action a${i}() { }`)} ${times(6, (i) => `table t${i} { actions = { ${times(20, (k) => `a${k};`)} } }`)}`,
        apply: nestedSwitch(6),
      }),
    limits: { work: 1_000_000 },
    ends: 'limit-work',
  },
  { name: 'loops over lists within loops over lists', text: () => v1model({ apply: nestedLists(6) }), ends: 'result' },
  {
    name: '2 * 10^9 counters',
    text: () => v1model({ locals: 'counter(2000000000, CounterType.packets) c;', apply: 'c.count(1);' }),
    ends: 'limit-state-bytes',
  },
  {
    name: '2 * 10^9 register cells',
    text: () => v1model({ locals: 'register<bit<32>>(2000000000) r;', apply: 'r.write(1, 1);' }),
    ends: 'limit-state-bytes',
  },
  {
    name: '10^9 register cells of signed 100 bits',
    text: () => v1model({ locals: 'register<int<100>>(1000000000) r;', apply: 'r.write(1, 1);' }),
    ends: 'limit-state-bytes',
  },
  {
    name: '4 * 10^9 meters',
    text: () =>
      v1model({ locals: 'meter(4000000000, MeterType.packets) t;', apply: 'bit<2> c; t.execute_meter(1, c);' }),
    ends: 'limit-state-bytes',
  },
  {
    name: '1,000 registers of 10^6 cells',
    text: () => v1model({ locals: times(1_000, (i) => `register<bit<64>>(1000000) r${i};`), apply: 'r1.write(1, 1);' }),
    ends: 'limit-state-bytes',
  },
  {
    name: 'a register of 2,048 bits, a million cells',
    text: () => v1model({ locals: 'register<bit<2048>>(1000000) r;', apply: 'r.write(1, 1);' }),
    ends: 'limit-state-bytes',
  },
  {
    name: 'a register without cells',
    text: () => v1model({ locals: 'register<bit<32>>(0) r;', apply: 'r.write(1, 1);' }),
    ends: 'result',
  },
  {
    name: 'a table of 2^40 entries',
    text: () =>
      v1model({
        locals: 'table t { key = { m.seen: exact; } actions = { NoAction; } size = 1099511627776; }',
        apply: 't.apply();',
      }),
    ends: 'result',
  },
  {
    name: 'an action profile of 4 * 10^9 members',
    text: () =>
      v1model({
        locals:
          'action_profile(4000000000) ap; table t { key = { m.seen: exact; } actions = { NoAction; } implementation = ap; }',
        apply: 't.apply();',
      }),
    ends: 'result',
  },
  {
    name: 'a value set of 10^9 members',
    text: () =>
      v1model({
        parserLocals: 'value_set<bit<8>>(1000000000) v;',
        transition: 'transition select(hdr.h.a) { v: accept; default: accept; } }',
      }),
    ends: 'result',
  },
  {
    name: 'assertions at compile time that do not hold, without end',
    text: () => v1model({ apply: times(50_000, () => 'static_assert(false, "no");') }),
    ends: 'static-assertion',
  },
  {
    name: '1,000 tables with 50 actions each',
    text: () =>
      v1model({
        locals: `${times(50, (i) => `action a${i}() { m.seen = ${i}; }`)} ${times(1_000, (i) => `table t${i} { actions = { ${times(50, (k) => `a${k};`, ' ')} } }`)}`,
        apply: times(1_000, (i) => `t${i}.apply();`),
      }),
    limits: { codeCharacters: 1_000_000 },
    ends: 'limit-code-characters',
  },
];

function nestedSwitch(levels: number): string {
  if (levels === 0) return 'm.seen = m.seen + 1;';
  return `switch (t${levels - 1}.apply().action_run) { ${times(20, (k) => `a${k}:`, ' ')} { ${nestedSwitch(levels - 1)} } }`;
}

function nestedLists(levels: number): string {
  if (levels === 0) return 'm.seen = m.seen + 1;';
  return `for (bit<8> x${levels} in { 1, 2, 3, 4, 5 }) { ${nestedLists(levels - 1)} }`;
}
