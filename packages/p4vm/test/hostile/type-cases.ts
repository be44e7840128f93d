import { type HostileCase, times, v1model } from './hostile-case.js';

const structs = (count: number, fields: (previous: string) => string, first = 'bit<8> a;', kind = 'struct'): string =>
  `${kind} S0 { ${first} }\n${times(count, (i) => `struct S${i + 1} { ${fields(`S${i}`)} }`)}`;

/** What the type checker meets. */
export const TYPE_CASES: readonly HostileCase[] = [
  {
    name: 'structs, 3,000 deep',
    text: () => v1model({ top: structs(3_000, (s) => `${s} a;`), metadata: 'S3000 deep;' }),
    ends: 'nesting-too-deep',
  },
  {
    name: 'structs of two structs, 40 deep',
    text: () => v1model({ top: structs(40, (s) => `${s} a; ${s} b;`), metadata: 'S40 deep;' }),
    ends: 'type-too-large',
  },
  {
    name: 'a struct of two structs, 15 deep, compared a thousand times',
    text: () =>
      v1model({
        top: structs(15, (s) => `${s} a; ${s} b;`),
        metadata: 'S15 one; S15 two;',
        apply: times(1_000, () => 'if (m.one == m.two) { m.seen = 1; }'),
      }),
    ends: 'limit-work',
  },
  {
    name: 'a struct of two structs, 15 deep, in 10,000 variables',
    text: () => v1model({ top: structs(15, (s) => `${s} a; ${s} b;`), apply: times(10_000, (i) => `S15 v${i};`) }),
    ends: 'limit-steps',
  },
  {
    name: 'a struct of two structs, 15 deep, as a default value 10,000 times',
    text: () =>
      v1model({ top: structs(15, (s) => `${s} a; ${s} b;`), apply: times(10_000, (i) => `S15 v${i} = ...;`) }),
    ends: 'limit-work',
  },
  {
    name: 'new types of new types, 50,000 deep',
    text: () =>
      v1model({ top: `type bit<8> T0;\n${times(50_000, (i) => `type T${i} T${i + 1};`)}`, metadata: 'T50000 deep;' }),
    ends: 'nesting-too-deep',
  },
  {
    name: 'names of names of types, 50,000 deep',
    text: () =>
      v1model({
        top: `typedef bit<8> T0;\n${times(50_000, (i) => `typedef T${i} T${i + 1};`)}`,
        metadata: 'T50000 deep;',
      }),
    ends: 'result',
  },
  {
    name: 'tuples of two tuples, 40 deep',
    text: () => `typedef tuple<bit<8>, bit<8>> T0;\n${times(40, (i) => `typedef tuple<T${i}, T${i}> T${i + 1};`)}`,
    ends: 'type-too-large',
  },
  {
    name: 'tuples of two tuples, 14 deep, compared',
    text: () =>
      v1model({
        top: `typedef tuple<bit<8>, bit<8>> T0;\n${times(14, (i) => `typedef tuple<T${i}, T${i}> T${i + 1};`)}`,
        apply: `T14 x; T14 y; ${times(2_000, () => 'if (x == y) { m.seen = 1; }')}`,
      }),
    ends: 'limit-work',
  },
  {
    name: 'generic structs of tuples that double',
    text: () =>
      v1model({
        top: `struct G0<T> { T a; }\n${times(60, (i) => `struct G${i + 1}<T> { G${i}<tuple<T, T>> a; }`)}`,
        metadata: 'G60<bit<8>> deep;',
      }),
    ends: 'type-too-large',
  },
  {
    name: 'generic functions that call the next with tuples of two',
    text: () =>
      v1model({
        top: `T f0<T>(in T x) { return x; }\n${times(60, (i) => `void f${i + 1}<T>(in T x) { f${i}<tuple<T, T>>({ x, x }); }`)}`,
        apply: 'f60<bit<8>>(8w1);',
      }),
    ends: 'limit-work',
  },
  {
    name: 'generic functions that call the next for two types',
    text: () =>
      v1model({
        top: `void f0<T, U>(in T x, in U y) { }\n${times(20, (i) => `void f${i + 1}<T, U>(in T x, in U y) { f${i}<tuple<T>, U>({ x }, y); f${i}<T, tuple<U>>(x, { y }); }`)}`,
        apply: 'f20<bit<8>, bit<8>>(8w1, 8w1);',
      }),
    limits: { steps: 100_000 },
    ends: 'limit-steps',
  },
  {
    name: 'generic functions that call the next, 3,000 deep',
    text: () =>
      v1model({
        top: `T f0<T>(in T x) { return x; }\n${times(3_000, (i) => `T f${i + 1}<T>(in T x) { return f${i}<T>(x); }`)}`,
        apply: 'm.seen = f3000<bit<32>>(m.seen);',
      }),
    ends: 'nesting-too-deep',
  },
  {
    name: 'a list of lists of lists',
    text: () => v1model({ top: `const tuple<bit<8>> x = ${'{'.repeat(5_000)}1${'}'.repeat(5_000)};` }),
    ends: 'nesting-too-deep',
  },
  {
    name: 'a list of 20,000 numbers',
    text: () => v1model({ apply: `for (bit<8> x in {${'1,'.repeat(20_000)}1}) { m.seen = 1; }` }),
    ends: 'result',
  },
  {
    name: 'a header stack of a million headers',
    text: () => v1model({ headers: 'h_t[1000000] many;' }),
    ends: 'type-too-large',
  },
  {
    name: 'header stacks of 30,000 headers, in 100 variables',
    text: () => v1model({ headers: 'h_t[30000] many;', apply: times(100, (i) => `h_t[30000] v${i};`) }),
    ends: 'limit-state-bytes',
  },
  {
    name: 'a header stack of 2^40 headers',
    text: () => v1model({ headers: 'h_t[1099511627776] many;' }),
    ends: 'stack-size',
  },
  { name: 'a width of 2^31', text: () => v1model({ metadata: 'bit<2147483648> wide;' }), ends: 'type-width' },
  { name: 'a width of a million', text: () => v1model({ metadata: 'bit<1000000> wide;' }), ends: 'type-width' },
  {
    name: 'a varbit of 2^31',
    text: () => v1model({ top: 'header v_t { varbit<2147483648> v; }' }),
    ends: 'type-width',
  },
  {
    name: 'a thousand varbits of 8 kB',
    text: () => v1model({ top: 'header v_t { varbit<65528> v; }', headers: 'v_t[60000] many;' }),
    ends: 'limit-state-bytes',
  },
  { name: '1 << 2^31', text: () => v1model({ top: 'const int x = 1 << 2147483648;' }), ends: 'value-too-large' },
  {
    name: '1 << 65,535, squared 20 times',
    text: () =>
      v1model({ top: `const int x0 = 1 << 65535;\n${times(20, (i) => `const int x${i + 1} = x${i} * x${i};`)}` }),
    ends: 'value-too-large',
  },
  {
    name: 'powers of powers',
    text: () => v1model({ top: `const int x0 = 3;\n${times(60, (i) => `const int x${i + 1} = x${i} * x${i};`)}` }),
    ends: 'value-too-large',
  },
  {
    name: 'strings that double',
    text: () =>
      v1model({ top: `const string s0 = "ab";\n${times(60, (i) => `const string s${i + 1} = s${i} ++ s${i};`)}` }),
    ends: 'value-too-large',
  },
  {
    name: 'bits that double',
    text: () =>
      v1model({ apply: `bit<8> b0 = 1; ${times(24, (i) => `bit<${2 ** (i + 4)}> b${i + 1} = b${i} ++ b${i};`)}` }),
    ends: 'type-width',
  },
  {
    name: 'a constant of a constant of a constant',
    text: () =>
      v1model({
        top: `const bit<8> c0 = 1;\n${times(20_000, (i) => `const bit<8> c${i + 1} = c${i};`)}`,
        apply: 'm.seen = (bit<32>)c20000;',
      }),
    ends: 'result',
  },
  {
    name: 'constants of structs of constants',
    text: () =>
      v1model({
        top: `struct s_t { bit<8> a; }\nconst s_t c0 = { 1 };\n${times(5_000, (i) => `const s_t c${i + 1} = { c${i}.a };`)}`,
        apply: 'm.seen = (bit<32>)c5000.a;',
      }),
    ends: 'result',
  },
  {
    name: 'a field list number of a constant of a constant',
    text: () =>
      v1model({
        top: `const bit<8> c0 = 1;\n${times(10_000, (i) => `const bit<8> c${i + 1} = c${i};`)}`,
        metadata: '@field_list(c10000) bit<8> listed;',
      }),
    ends: 'result',
  },
  {
    name: 'an enum of 50,000 members',
    text: () => v1model({ top: `enum e_t { ${times(50_000, (i) => `e${i}`, ',')} }` }),
    ends: 'too-many-members',
  },
  {
    name: 'an enum of 2,000 members, all of them used',
    text: () =>
      v1model({
        top: `enum bit<32> e_t { ${times(2_000, (i) => `e${i} = ${i}`, ',')} }`,
        apply: times(5_000, (i) => `m.seen = e_t.e${i % 2_000};`),
      }),
    ends: 'result',
  },
  {
    name: '200,000 errors',
    text: () => v1model({ top: times(1_000, (k) => `error { ${times(200, (i) => `e${k}_${i}`, ',')} }`) }),
    ends: 'too-many-members',
  },
  {
    name: 'a struct of 20,000 fields',
    text: () => v1model({ top: `struct s_t { ${times(20_000, (i) => `bit<8> f${i};`)} }` }),
    ends: 'too-many-members',
  },
  {
    name: 'a function of 20,000 parameters',
    text: () => v1model({ top: `void f(${times(20_000, (i) => `in bit<8> p${i}`, ',')}) { }` }),
    ends: 'too-many-members',
  },
  {
    name: 'a call with 100,000 arguments',
    text: () => v1model({ top: 'void f(in bit<8> x) { }', apply: `f(${'1,'.repeat(100_000)}1);` }),
    ends: 'too-many-members',
  },
  {
    name: 'an extern with 20,000 methods',
    text: () => v1model({ top: `extern X { ${times(20_000, (i) => `void m${i}();`)} }` }),
    ends: 'too-many-members',
  },
  {
    name: '10,000 functions of one name',
    text: () => v1model({ top: times(10_000, (i) => `void f(in bit<8> p${i}) { }`) }),
    ends: 'limit-work',
  },
  {
    name: '3,000 overloads, called 3,000 times',
    text: () =>
      v1model({ top: times(3_000, (i) => `void f(in bit<8> p${i}) { }`), apply: times(3_000, (i) => `f(p${i} = 1);`) }),
    limits: { work: 2_000_000 },
    ends: 'limit-work',
  },
  {
    name: 'a switch of 50,000 cases',
    text: () => v1model({ apply: `switch (m.seen) { ${times(50_000, (i) => `${i}: { }`)} }` }),
    ends: 'too-many-members',
  },
  {
    name: 'a select of 50,000 cases',
    text: () =>
      v1model({
        start: '',
        transition: `transition select(p.lookahead<bit<32>>()) { ${times(50_000, (i) => `${i}: accept;`)} } }`,
      }),
    ends: 'too-many-members',
  },
  {
    name: 'a table of 20,000 keys',
    text: () =>
      v1model({
        locals: `table t { key = { ${times(20_000, () => 'm.seen: exact;')} } actions = { NoAction; } }`,
        apply: 't.apply();',
      }),
    ends: 'too-many-members',
  },
  {
    name: 'a table of 20,000 actions',
    text: () =>
      v1model({
        locals: `${times(20_000, (i) => `action a${i}() { }`)} table t { actions = { ${times(20_000, (i) => `a${i};`)} } }`,
        apply: 't.apply();',
      }),
    ends: 'too-many-members',
  },
  {
    name: 'a table of 20,000 properties',
    text: () =>
      v1model({
        locals: `table t { actions = { NoAction; } ${times(20_000, (i) => `p${i} = 1;`)} }`,
        apply: 't.apply();',
      }),
    ends: 'too-many-members',
  },
  {
    name: '15,000 constant entries',
    text: () =>
      v1model({
        locals: `table t { key = { m.seen: exact; } actions = { NoAction; } const entries = { ${times(15_000, (i) => `${i}: NoAction();`)} } }`,
        apply: 't.apply();',
      }),
    ends: 'result',
  },
  {
    name: 'entries of ternary keys, 10,000 masks',
    text: () =>
      v1model({
        locals: `table t { key = { m.seen: ternary; } actions = { NoAction; } const entries = { ${times(10_000, (i) => `${i} &&& ${i}: NoAction();`)} } }`,
        apply: `${times(100, () => 't.apply();')}`,
      }),
    ends: 'result',
  },
  {
    name: 'keys of 100,000 bits',
    text: () =>
      v1model({
        metadata: 'bit<2048> wide;',
        locals: `table t { key = { ${times(64, () => 'm.wide: exact;')} } actions = { NoAction; } }`,
        apply: 't.apply();',
      }),
    ends: 'too-many-keys',
  },
];
