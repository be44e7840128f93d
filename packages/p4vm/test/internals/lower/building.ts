import { expect } from 'vitest';
import type { IrProgram } from '../../../src/ir/program.js';
import { buildProgram } from '../../../src/lower/front-end.js';
import { type Diagnostic, formatDiagnostic } from '../../../src/source/diagnostics.js';
import { lineColumn } from '../../../src/source/position.js';
import { printInstance, printProgram } from './program-text.js';

/** Parts of a program; what is left out is empty. */
export interface Parts {
  /** Before V1MODEL is included. */
  readonly defines?: string;
  /** Declarations at top level; `H` and `M` must be there if `types` is left out of use. */
  readonly top?: string;
  readonly headers?: string;
  readonly metadata?: string;
  /** Locals and states of the parser `P`. */
  readonly parser?: string;
  /** Locals of the control `I`, and statements of its apply block. */
  readonly locals?: string;
  readonly apply?: string;
  /** Statements of the apply block of `E`. */
  readonly egress?: string;
  /** Arguments of V1Switch, if they are others. */
  readonly main?: string;
}

/** A program of six parts around what a test is about. */
function programText(parts: Parts): string {
  return `${parts.defines ?? ''}
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<16> b; }
header w_t { bit<48> x; bit<32> y; }
struct H { h_t h; w_t w; h_t[4] s; ${parts.headers ?? ''} }
${parts.top ?? ''}
struct M { bit<8> x; bit<16> y; bool f; ${parts.metadata ?? ''} }
parser P(packet_in p, out H hdr, inout M m, inout standard_metadata_t sm) {
  ${parts.parser ?? 'state start { p.extract(hdr.h); transition accept; }'}
}
control V(inout H hdr, inout M m) { apply { } }
control I(inout H hdr, inout M m, inout standard_metadata_t sm) {
  ${parts.locals ?? ''}
  apply { ${parts.apply ?? ''} }
}
control E(inout H hdr, inout M m, inout standard_metadata_t sm) { apply { ${parts.egress ?? ''} } }
control C(inout H hdr, inout M m) { apply { } }
control D(packet_out p, in H hdr) { apply { p.emit(hdr); } }
V1Switch(${parts.main ?? 'P(), V(), I(), E(), C(), D()'}) main;
`;
}

/** The program that the parts make; fails with its diagnostics if there is none. */
export function build(parts: Parts): IrProgram {
  const { program, diagnostics } = buildProgram({ name: 'test.p4', text: programText(parts) });
  if (program === undefined) throw new Error(diagnostics.list.map(formatDiagnostic).join('\n'));
  return program;
}

/** The errors of a program that cannot be built. */
export function errorsOf(parts: Parts): readonly Diagnostic[] {
  const { program, diagnostics } = buildProgram({ name: 'test.p4', text: programText(parts) });
  expect(program).toBeUndefined();
  return diagnostics.list.filter(({ severity }) => severity === 'error');
}

/** The text of the line that a diagnostic points to, from where it points. */
export function pointedAt({ span }: Diagnostic): string {
  expect(lineColumn(span.file, span.start).line).toBeGreaterThan(0);
  return span.file.text.slice(span.start, span.end);
}

function lines(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}

/** What the apply block of `I` has become, line by line. */
export function applied(parts: Parts): string[] {
  const program = build(parts);
  const text = lines(printInstance(program.ingress, program.errors));
  const start = text.indexOf('  apply {');
  return text.slice(start + 1, -2).map((line) => line.slice(4));
}

/** The printed declaration of an action, table or instance, line by line; empty if there is none. */
export function printed(program: IrProgram, head: string): string[] {
  const all = lines(printProgram(program));
  const start = all.findIndex((line) => line.startsWith(head));
  if (start === -1) return [];
  const end = all.findIndex((line, index) => index >= start && (line === '}' || /^\S.*(;|\{ \})$/.test(line)));
  return all.slice(start, end + 1);
}
