import { Budget, runStage } from '../budget/budget.js';
import type { Diagnostics } from '../source/diagnostics.js';
import type { SourceFile, Span } from '../source/position.js';
import type { Program } from './ast.js';
import { parseTokens } from './parser.js';
import { type PreprocessOptions, preprocess } from './preprocessor.js';
import type { Token } from './tokens.js';

/**
 * Preprocesses and parses a program. All errors of a run go to `options.diagnostics`; the tree then holds the parts
 * that could be parsed. Errors of the program are never thrown. Errors of `options.resolve` are passed on.
 */
export function parseProgram(file: SourceFile, options: PreprocessOptions): Program {
  const { diagnostics } = options;
  const budget = options.budget ?? new Budget();
  const whole: Span = { file, start: 0, end: 0 };
  const program = runStage(diagnostics, whole, () => {
    const tokens = withoutBadTokens(preprocess(file, { ...options, budget }), diagnostics);
    return parseTokens(tokens, diagnostics, () => budget.work());
  });
  return program ?? { kind: 'program', declarations: [], span: whole };
}

/** Reports and removes bad tokens. Annotations in parentheses and pragmas may contain anything. */
function withoutBadTokens(tokens: readonly Token[], diagnostics: Diagnostics): readonly Token[] {
  if (!tokens.some((token) => token.problem !== undefined)) return tokens;
  const out: Token[] = [];
  let annotation = 0;
  let isPragma = false;
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i]!;
    if (token.lineStart) isPragma = false;
    if (annotation > 0) {
      if (token.kind === '(') annotation++;
      else if (token.kind === ')') annotation--;
    } else if (token.kind === '(' && tokens[i - 2]?.kind === '@') {
      annotation = 1;
    } else if (token.text === 'pragma' && tokens[i - 1]?.kind === '@') {
      isPragma = true;
    }
    if (token.problem === undefined || annotation > 0 || isPragma) {
      out.push(token);
      continue;
    }
    const { code, message } = token.problem;
    diagnostics.error('lexer', code, token.span, message);
    // A bad number or string becomes a valid one, so that the parser finds no second error.
    if (code === 'bad-number' || code === 'number-too-large') out.push({ ...token, kind: 'integer', text: '0' });
    else if (code === 'unterminated-string' || code === 'string-too-long') out.push({ ...token, kind: 'text' });
    else if (code === 'name-too-long') out.push({ ...token, kind: 'name' });
  }
  return out;
}
