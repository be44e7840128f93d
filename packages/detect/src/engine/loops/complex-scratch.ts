import type { RunningExpression } from '../running-rule.js';
import { BLOCK, type Program, programOf } from './program.js';

/** What the loop of complex events keeps between calls: made when it first meets an expression. */
export class ComplexScratch {
  /** Reports of a block that are still in the running. */
  readonly rows: Int32Array = new Int32Array(BLOCK);
  readonly #programs = new WeakMap<RunningExpression, Program>();
  #expression: RunningExpression | null = null;
  #program: Program | null = null;

  programOf(expression: RunningExpression): Program {
    if (this.#expression === expression) return this.#program!;
    let program = this.#programs.get(expression);
    if (program === undefined) {
      program = programOf(expression);
      this.#programs.set(expression, program);
    }
    this.#expression = expression;
    this.#program = program;
    return program;
  }
}
