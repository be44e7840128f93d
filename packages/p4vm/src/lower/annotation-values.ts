import type { ConstantValue } from '../check/checked-program.js';
import { type FoldResult, foldBinary, foldUnary } from '../check/fold.js';
import { booleanValue, integerValue } from '../check/values.js';
import type { AnnotationValue } from '../ir/control-surface.js';
import type { EnumDeclaration, Expression } from '../syntax/ast.js';
import type { Type } from '../types/type.js';
import type { Lowering } from './lowering.js';

const INTEGER: Type = /* @__PURE__ */ { kind: 'integer' };

function constant(value: AnnotationValue): ConstantValue {
  if (typeof value === 'string') return { kind: 'string', value };
  return typeof value === 'bigint' ? integerValue(value) : booleanValue(value);
}

/** The value of a constant; undefined for one of another kind, or one that could not be computed. */
function known(value: FoldResult): AnnotationValue | undefined {
  if (value === undefined || 'code' in value) return undefined;
  return value.kind === 'integer' || value.kind === 'string' || value.kind === 'boolean' ? value.value : undefined;
}

/** Values of expressions in annotations, whose names are not resolved: literals, constants and members of enums. */
export class AnnotationValues {
  readonly #constants = new Map<string, Expression>();
  readonly #enums = new Map<string, EnumDeclaration>();

  constructor(readonly lowering: Lowering) {
    for (const each of lowering.checked.program.declarations) {
      if (each.kind === 'constant') this.#constants.set(each.name.text, each.value);
      else if (each.kind === 'enum') this.#enums.set(each.name.text, each);
    }
  }

  /** A number; undefined for an expression of another kind, or one that is not known. */
  number(expression: Expression): bigint | undefined {
    const value = this.value(expression);
    return typeof value === 'bigint' ? value : undefined;
  }

  value(expression: Expression): AnnotationValue | undefined {
    const found = known(this.lowering.checked.constants.get(expression));
    if (found !== undefined) return found;
    switch (expression.kind) {
      case 'integer':
      case 'string':
      case 'boolean':
        return expression.value;
      case 'cast':
        return this.value(expression.operand);
      case 'unary': {
        const operand = this.value(expression.operand);
        return operand === undefined ? undefined : known(foldUnary(expression.operator, constant(operand), INTEGER));
      }
      case 'binary': {
        const left = this.value(expression.left);
        const right = this.value(expression.right);
        if (left === undefined || right === undefined) return undefined;
        if (typeof left === 'string' && typeof right === 'string') {
          return expression.operator === '++' ? left + right : undefined;
        }
        return known(foldBinary(expression.operator, constant(left), constant(right), INTEGER));
      }
      case 'path': {
        // The checker knows the values of constants.
        const value = this.#constants.get(expression.name.text);
        return known(value && this.lowering.checked.constants.get(value));
      }
      case 'member':
        return expression.base.kind === 'path'
          ? this.#member(expression.base.name.text, expression.member.text)
          : undefined;
      default:
        return undefined;
    }
  }

  /** A member of an enum: its value, or its position if it has none. */
  #member(name: string, member: string): AnnotationValue | undefined {
    const members = this.#enums.get(name)?.members ?? [];
    const position = members.findIndex((other) => other.name.text === member);
    const value = members[position]?.value;
    if (position === -1) return undefined;
    return value === undefined ? BigInt(position) : this.value(value);
  }
}
