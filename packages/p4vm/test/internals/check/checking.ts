import { checkProgram } from '../../../src/check/check-program.js';
import type { CheckedProgram, ConstantValue } from '../../../src/check/checked-program.js';
import { Diagnostics, formatDiagnostic } from '../../../src/source/diagnostics.js';
import { lineColumn } from '../../../src/source/position.js';
import type { Expression } from '../../../src/syntax/ast.js';
import { parseProgram } from '../../../src/syntax/parse-program.js';
import { describeType } from '../../../src/types/describe.js';

export const SEED: number = Number(process.env.INT_SEED ?? 20261121);

/** Declarations every fragment is put after. */
const DECLARATIONS = `#include <core.p4>
#include <v1model.p4>
header H { bit<8> a; bit<16> b; int<8> s; }
header W { bit<8> a; varbit<32> v; }
header_union U { H h; W w; }
struct Headers { H h; H[4] stack; W w; U u; }
struct Pair { bit<8> x; bit<8> y; }
struct Meta { bit<8> m; bool flag; bit<32> wide; int<16> signed; Pair pair; error e; }
enum Color { red, green }
enum bit<8> Kind { one = 1, two = 2 }
type bit<9> Port;
`;

const REST = `
parser ThePARSER(packet_in pkt, out Headers hdr, inout Meta meta, inout standard_metadata_t std) {
  state start { transition accept; }
}
control TheCHECK(inout Headers hdr, inout Meta meta) { apply { } }
control TheINGRESS(inout Headers hdr, inout Meta meta, inout standard_metadata_t std) { apply { } }
control TheDEPARSER(packet_out pkt, in Headers hdr) { apply { } }
V1Switch(ThePARSER(), TheCHECK(), TheINGRESS(), TheINGRESS(), TheCHECK(), TheDEPARSER()) main;
`;

/** A program with declarations of the test's own among those of a complete one. */
export function withTop(text: string): string {
  return `${DECLARATIONS}${REST}${text}`;
}

/** A control with these locals and statements. */
export function withControl(locals: string, statements = ''): string {
  return withTop(`control C(inout Headers hdr, inout Meta meta, inout standard_metadata_t std) {
${locals}
apply {
${statements}
} }`);
}

export function withApply(statements: string): string {
  return withControl('', statements);
}

/** A parser with these locals and states. */
export function withParser(states: string, locals = ''): string {
  return withTop(`parser P(packet_in pkt, out Headers hdr, inout Meta meta, inout standard_metadata_t std) {
${locals}
${states}
}`);
}

export interface Checked {
  readonly checked: CheckedProgram | undefined;
  /** `severity code line:column`. */
  readonly found: readonly string[];
  readonly text: string;
}

/** Parses, which must go well, and checks. */
export function check(text: string): Checked {
  const diagnostics = new Diagnostics();
  const program = parseProgram({ name: 'main.p4', text }, { diagnostics });
  if (diagnostics.hasErrors) throw new Error(diagnostics.list.map(formatDiagnostic).join('\n'));
  const checked = checkProgram(program, diagnostics);
  const found = diagnostics.list.map(({ severity, code, span }) => {
    const { line, column } = lineColumn(span.file, span.start);
    return `${severity} ${code} ${line}:${column}`;
  });
  return { checked, found, text };
}

/** Checks a program that must be right. */
export function checkWell(text: string): CheckedProgram {
  const diagnostics = new Diagnostics();
  const program = parseProgram({ name: 'main.p4', text }, { diagnostics });
  const checked = diagnostics.hasErrors ? undefined : checkProgram(program, diagnostics);
  if (checked === undefined) throw new Error(diagnostics.list.map(formatDiagnostic).join('\n'));
  return checked;
}

/** The expressions written in just these words, in order of the program. */
export function written(checked: CheckedProgram, words: string): Expression[] {
  return [...checked.types.keys()].filter(
    ({ span }) => span.file.name === 'main.p4' && span.file.text.slice(span.start, span.end) === words,
  );
}

/** Types of the expressions written in these words, without repetition. */
export function typesOf(checked: CheckedProgram, words: string): string[] {
  return [...new Set(written(checked, words).map((each) => describeType(checked.types.get(each)!)))];
}

/** The value of the first expression written in these words. */
export function constantOf(checked: CheckedProgram, words: string): ConstantValue | undefined {
  const [first] = written(checked, words);
  return first && checked.constants.get(first);
}
