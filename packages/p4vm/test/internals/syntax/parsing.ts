import { Diagnostics, formatDiagnostic } from '../../../src/source/diagnostics.js';
import { lineColumn, type SourceFile } from '../../../src/source/position.js';
import type { Declaration, Expression, Program, Statement } from '../../../src/syntax/ast.js';
import { parseProgram } from '../../../src/syntax/parse-program.js';
import type { IncludeResolver } from '../../../src/syntax/preprocessor.js';

export const SEED: number = Number(process.env.INT_SEED ?? 20261121);

export interface ParseSetup {
  /** Files for includes, by path. */
  readonly files?: Readonly<Record<string, string>>;
  readonly defines?: Readonly<Record<string, string>>;
  readonly limit?: number;
  /** Why no file may be included. */
  readonly refused?: string;
}

export interface Parsed {
  readonly program: Program;
  readonly diagnostics: Diagnostics;
  /** `severity code file:line:column` of each. */
  readonly found: readonly string[];
}

/** Parses a text called `main.p4`. */
export function parse(text: string, setup: ParseSetup = {}): Parsed {
  const diagnostics = new Diagnostics(setup.limit);
  const files = new Map(Object.entries(setup.files ?? {}).map(([name, content]) => [name, { name, text: content }]));
  const resolve: IncludeResolver = (path) =>
    setup.refused === undefined ? files.get(path) : { refused: setup.refused };
  const file: SourceFile = { name: 'main.p4', text };
  const program = parseProgram(file, { resolve, defines: setup.defines, diagnostics });
  const found = diagnostics.list.map(({ severity, code, span }) => {
    const { line, column } = lineColumn(span.file, span.start);
    return `${severity} ${code} ${span.file.name}:${line}:${column}`;
  });
  return { program, diagnostics, found };
}

/** Parses a text that must be right. */
export function parseWell(text: string, setup?: ParseSetup): Program {
  const { program, diagnostics } = parse(text, setup);
  if (diagnostics.list.length > 0) throw new Error(diagnostics.list.map(formatDiagnostic).join('\n'));
  return program;
}

/** The first declaration of a text that must be right. */
export function parseDeclaration(text: string): Declaration {
  const declaration = parseWell(text).declarations[0];
  if (declaration === undefined) throw new Error('no declaration');
  return declaration;
}

/** The statements of an action's body, after declarations that name types `T`, `H` and `G<X>`. */
export function parseStatements(text: string): readonly Statement[] {
  const types = 'struct T { bit<8> x; } header H { bit<8> x; } struct G<X> { X x; } control C() { apply { } }';
  const action = parseWell(`${types}\naction a(inout T v, inout bit<8> w) {\n${text}\n}`).declarations.at(-1);
  if (action?.kind !== 'action') throw new Error('no action');
  return action.body.statements;
}

/** An expression, with the types of `parseStatements` known. */
export function parseExpression(text: string): Expression {
  const statement = parseStatements(`w = ${text};`)[0];
  if (statement?.kind !== 'assign') throw new Error('no assignment');
  return statement.value;
}
