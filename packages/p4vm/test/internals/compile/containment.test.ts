/** Nothing that a program's author writes becomes code of the generated source but what P4 means by it. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildProgram, createSwitch, describeProgram, findWarnings, type IrProgram, P4Error } from '@int/p4vm';
import { loadProgram } from '@int/p4vm/node';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { LENGTH, runs } from '../../../../../.ci/test/length.js';
import { compileProgram } from '../../../src/compile/compile-program.js';
import { CASES } from '../../hostile/cases.js';
import { v1model } from '../../hostile/hostile-case.js';
import { strangersIn } from './generated-source.js';

const MODES = [{}, { trace: true }, { poison: true }, { noMatchError: true }] as const;

/** The sign that begins an expression in a template. */
const DOLLAR = '$';

/** What is wrong in the sources of a program, in all forms of the code. */
function strangersOf(program: IrProgram, modes: readonly object[] = MODES): string[] {
  return modes.flatMap((options) => strangersIn(compileProgram(program, options).source));
}

const canary = globalThis as { canary?: unknown };
const ownKeys = (): string =>
  [Object, Array, Function, Map]
    .flatMap((each) => Reflect.ownKeys(each.prototype))
    .map(String)
    .join();
const KEYS = ownKeys();

afterEach(() => {
  expect(canary.canary).toBeUndefined();
  expect(ownKeys()).toBe(KEYS);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});

const programs = fileURLToPath(new URL('../../programs/', import.meta.url));

describe('the generated source', () => {
  it('uses nothing but its own names and a few globals, for every program of the tests', { timeout: 120_000 }, () => {
    const names = readdirSync(programs).filter((name) => name.endsWith('.p4'));
    // The short form takes each seventh of them.
    for (const name of names.filter((_, at) => at % Math.max(1, Math.round(names.length / runs(names.length))) === 0)) {
      expect(strangersOf(loadProgram(join(programs, name))), name).toEqual([]);
    }
  });

  it('has names of JavaScript only as names of the program', { timeout: 120_000 }, () => {
    const cases = CASES.filter((each) => each.name.startsWith('names of JavaScript'));
    // The short form takes each third of them.
    for (const { name, text } of cases.filter((_, at) => LENGTH >= 1 || at % 3 === 0)) {
      const { program } = buildProgram({ name: 'names.p4', text: text() });
      expect(strangersOf(program!, MODES.slice(0, 2)), name).toEqual([]);
    }
  });

  it('is found wanting by the check if it has something else', () => {
    for (const [source, what] of [
      ["'use strict'; return { a() { globalThis.x = 1; } };", /global: globalThis/],
      ['return { a() { machine.f.constructor("x")(); } };', /property: machine\.f\.constructor/],
      ['return { a() { return runtime["x"]; } };', /property by text/],
      ['// a\nprocess.exit();', /global: process/],
      [`const a = \`${DOLLAR}{runtime.log("x")}\`;`, /template/],
      ['import("fs");', /Import/],
      ['const a = 1; // "; alert(1)\u2028b', /comment/],
      ['const a = ;', /syntax/],
      ['eval("1");', /global: eval/],
    ] as const) {
      expect(strangersIn(source).join(), source).toMatch(what);
    }
  });
});

/** Pieces of text that would end a string, a comment, a template or a line of JavaScript, and what could come then. */
const PIECES = [
  'globalThis.canary = 1',
  '"',
  "'",
  '`',
  '\\',
  '\\n',
  '\\"',
  '\n',
  '\r',
  '\u2028',
  '\u2029',
  '\0',
  '*/',
  '/*',
  '//',
  `${DOLLAR}{globalThis.canary = 1}`,
  `\`${DOLLAR}{globalThis.canary = 1}\``,
  '"); globalThis.canary = 1; ("',
  "'; globalThis.canary = 1; '",
  ']); globalThis.canary = 1; //',
  '} globalThis.canary = 1; {',
  '\\u0022; globalThis.canary = 1; \\u0022',
  '</script>',
  '__proto__',
  'constructor',
  'constructor.constructor("globalThis.canary = 1")()',
  '{}',
  '.',
  '$',
  'a',
  '0',
  '\ud800',
  '😀',
  '%s',
] as const;

const hostileText = fc
  .array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 6 })
  .map((pieces) => pieces.join(''));
/** Inside quotes of P4, which a quote or a backslash would end. */
const quoted = (text: string): string =>
  text.replace(/["\\\n\r]/g, (each) => (each === '\n' || each === '\r' ? ' ' : `\\${each}`));
const word = fc.constantFrom(
  'constructor',
  '__proto__',
  'prototype',
  'toString',
  'arguments',
  'eval',
  'await',
  'globalThis',
  'process',
  'canary',
  '__defineGetter__',
  'hasOwnProperty',
  'valueOf',
  'a1',
);
const number = fc.oneof(
  fc.constantFrom('0', '1', `${'9'.repeat(400)}`, `0x${'f'.repeat(512)}`, '8w255', '2048w1', '0b1', '-1', '7s-1'),
  fc.bigInt({ min: 0n, max: 1n << 2048n }).map(String),
);

interface Slots {
  readonly text: string;
  readonly name: string;
  readonly other: string;
  readonly value: string;
}

/** Programs with hostile texts in every place that takes one. */
function programWith({ text, name, other, value }: Slots, isRaw: boolean): string {
  const t = isRaw ? `"${text}"` : `"${quoted(text)}"`;
  const bare = isRaw ? text : t;
  // Names for the control plane are printable, and different from each other.
  const label = (kind: string): string =>
    isRaw ? `"${text}${kind}"` : `"${quoted(text.replace(/[^\x20-\x7e]/g, '.'))}${kind}"`;
  return v1model({
    top: `
@pkginfo(name=${t}, version=${t}) @brief(${t}) @anything(${bare}) @structured[key=${t}]
header ${name}_h { @name(${label('_1')}) bit<8> ${name}; bit<8> ${other}_2; }
enum bit<8> ${name}_e { @name(${label('_e')}) ${name} = 1, ${other}_2 = 2 }
struct ${name}_s { bit<32> ${name}; @name(${label('_2')}) bit<64> ${other}_2; }
const bit<2048> ${name}_C = (bit<2048>)(${value});
#define ${name}_M(x) #x
`,
    headers: `@name(${label('_f')}) ${name}_h ${name}_f;`,
    metadata: `@name(${label('_m')}) @field_list(1) ${name}_s ${name}_f; bit<2048> wide;`,
    start: 'p.extract(hdr.h);',
    transition: `transition select(hdr.h.a) { 1: ${name}_state; default: accept; } } @name(${label('_s')}) state ${name}_state { p.extract(hdr.${name}_f); transition accept; }`,
    locals: `
@name(${label('_r')}) register<bit<32>>(4) ${name}_r;
@name(${label('_c')}) counter(4, CounterType.packets) ${other}_c;
@name(${label('_a')}) @brief(${t}) action ${name}(@name(${label('_p')}) bit<32> ${other}) { m.seen = ${other}; ${name}_r.write(1, ${other}); }
@name(${label('_t')}) table ${name}_t {
  key = { hdr.h.a: exact @name(${label('_1')}); m.seen: ternary @name(${label('_2')}); }
  actions = { ${name}; @defaultonly NoAction; }
  const default_action = NoAction();
}`,
    apply: `
log_msg(${t}); log_msg(${t}, { m.seen, hdr.h.a });
log_msg(${name}_M(${bare}));
m.wide = ${name}_C; m.${name}_f.${name} = m.seen;
digest<${name}_s>(1, m.${name}_f);
${other}_c.count(1);
${name}_t.apply();
if (hdr.${name}_f.isValid()) { hdr.${name}_f.${name} = 1; }`,
    deparser: 'p.emit(hdr);',
  });
}

/** Does with a program all that people do: warnings, description, tables, packets, traces. */
function use(text: string, { name, other }: Slots): boolean {
  const { program, diagnostics } = buildProgram({ name: text.slice(-40), text });
  if (program === undefined) {
    expect(diagnostics.hasErrors).toBe(true);
    return false;
  }
  expect(strangersOf(program, MODES.slice(0, 3))).toEqual([]);
  findWarnings(program);
  JSON.stringify(describeProgram(program), (_, each) => (typeof each === 'bigint' ? `${each}` : (each as unknown)));
  for (const poison of [false, true]) {
    const machine = createSwitch(program, poison ? { undefined: 'poison' } : {});
    const [table] = program.tables;
    const control = machine.table(table!.name);
    const action = table!.actions[0]!.action.name;
    const handle = control.add({ match: [1, null], action, params: { [other]: 7 }, priority: 1 });
    expect(Object.hasOwn(control.entry(handle).params, other)).toBe(true);
    expect(() => control.add({ match: [2, null], action, params: {}, priority: 1 })).toThrow(/missing/);
    const frame = Uint8Array.of(1, 2, 3, 4, 5, 6);
    machine.process(0, frame);
    const { events } = machine.trace(0, frame);
    expect(events.length).toBeGreaterThan(0);
    machine.commands(`table_dump ${table!.name}\nregister_read ${program.externs[0]!.name}\nshow_tables\nshow_actions`);
    expect(machine.statistics.faults.internal).toBe(0);
    expect(machine.statistics.digests).toBeGreaterThan(0);
  }
  expect(name).toBeDefined();
  return true;
}

const slots: fc.Arbitrary<Slots> = fc
  .record({ text: hostileText, name: word, other: word, value: number })
  .filter(({ name, other }) => name !== other);

describe('a hostile program', () => {
  it('runs no code of its author, whatever its names, texts, annotations and numbers are', { timeout: 240_000 }, () => {
    let ran = 0;
    fc.assert(
      fc.property(slots, (given) => {
        if (use(programWith(given, false), given)) ran++;
        expect(canary.canary).toBeUndefined();
      }),
      { numRuns: runs(400), seed: 7, endOnFailure: true },
    );
    // Most of them are programs: the check is about code, not about refusals.
    expect(ran).toBeGreaterThan(runs(400) / 3);
  });

  it('is refused or harmless if its texts are no texts', { timeout: 240_000 }, () => {
    fc.assert(
      fc.property(slots, (given) => {
        try {
          use(programWith(given, true), given);
        } catch (error) {
          if (!P4Error.is(error)) throw error;
        }
        expect(canary.canary).toBeUndefined();
      }),
      { numRuns: runs(1000), seed: 11, endOnFailure: true },
    );
  });
});
