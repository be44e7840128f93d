import { type ConstantValue, orderedValues } from '../check/checked-program.js';
import { foldBinary, foldSlice, foldUnary, isFailure, numberOf } from '../check/fold.js';
import { booleanValue, constantSize, integerValue, wrapInteger } from '../check/values.js';
import type {
  BinaryExpression,
  ConstantDeclaration,
  Expression,
  ListExpression,
  MemberExpression,
  PathExpression,
  SliceExpression,
  StructExpression,
} from '../syntax/ast.js';
import type { BitsType, PlainType, Type } from '../types/type.js';
import type { Lowering } from './lowering.js';
import type { Scope } from './scope.js';

/** The type in which numbers of a type are computed; undefined for other types. */
function numberType(type: Type): PlainType<'integer'> | BitsType | undefined {
  switch (type.kind) {
    case 'integer':
    case 'bits':
      return type;
    case 'serializable-enum':
      return type.underlying;
    case 'newtype':
      return numberType(type.underlying);
    case 'set':
      return numberType(type.element);
    default:
      return undefined;
  }
}

/** A number cut to a type's width and read in this type. */
export function numberValue(value: bigint, type: Type): bigint {
  const number = numberType(type);
  return number?.kind === 'bits' ? wrapInteger(value, number.width, number.isSigned) : value;
}

/** The members of an aggregate type, with their names (tuples and stacks: their positions). Undefined for other types. */
export function componentsOf(type: Type): readonly { readonly name: string; readonly type: Type }[] | undefined {
  switch (type.kind) {
    case 'struct':
    case 'header':
    case 'union':
      return type.fields;
    case 'tuple':
      return type.elements.map((element, index) => ({ name: `f${index}`, type: element }));
    case 'stack':
      return Array.from({ length: type.size }, (_, index) => ({ name: `${index}`, type: type.element }));
    case 'newtype':
      return componentsOf(type.underlying);
    case 'set':
      return componentsOf(type.element);
    default:
      return undefined;
  }
}

/** The values of a list or struct expression, in order of the type's members; undefined where `...` stands for one. */
export function orderedElements(
  expression: ListExpression | StructExpression,
  type: Type,
): readonly (Expression | undefined)[] | undefined {
  const components = componentsOf(type);
  if (components === undefined) return undefined;
  const dropDots = (value: Expression | undefined): Expression | undefined =>
    value?.kind === 'dots' ? undefined : value;
  if (expression.kind === 'list') return components.map((_, index) => dropDots(expression.elements[index]));
  if (type.kind === 'struct' || type.kind === 'header' || type.kind === 'union') {
    return orderedValues(expression, type.fields).map(dropDots);
  }
  const values = new Map(expression.fields.map((each) => [each.name.text, each.value]));
  return components.map(({ name }) => dropDots(values.get(name)));
}

/** Computes constants: those that the checker found, and those that depend on constructor parameters of a scope. */
export class Evaluator {
  constructor(
    readonly lowering: Lowering,
    readonly scope: Scope,
  ) {}

  /** The value of an expression, in its type; undefined if it is known only at run time. */
  value(expression: Expression): ConstantValue | undefined {
    const known = this.lowering.checked.constants.get(expression);
    if (known !== undefined || !this.scope.hasValues) return known;
    const { budget } = this.lowering;
    budget.spend('work', 1, expression.span);
    budget.enter(expression.span);
    const value = this.#compute(expression);
    budget.leave();
    const type = this.lowering.checked.types.get(expression);
    if (value?.kind !== 'integer' || type === undefined) return value;
    const number = numberType(type);
    return number === undefined ? value : numberOf(value.value, number);
  }

  #compute(expression: Expression): ConstantValue | undefined {
    switch (expression.kind) {
      case 'integer':
        return integerValue(expression.value);
      case 'boolean':
        return booleanValue(expression.value);
      case 'string':
        return { kind: 'string', value: expression.value };
      case 'invalid':
        return { kind: 'invalid-header' };
      case 'path':
        return this.#path(expression);
      case 'member':
        return this.#member(expression);
      case 'index': {
        const base = this.value(expression.base);
        const index = this.value(expression.index);
        if (base?.kind !== 'aggregate' || index?.kind !== 'integer') return undefined;
        return base.elements[Number(index.value)];
      }
      case 'slice':
        return this.#slice(expression);
      case 'unary': {
        const operand = this.value(expression.operand);
        return operand && foldUnary(expression.operator, operand, this.#typeOf(expression.operand));
      }
      case 'binary':
        return this.#binary(expression);
      case 'conditional': {
        const condition = this.value(expression.condition);
        if (condition?.kind !== 'boolean') return undefined;
        return this.value(condition.value ? expression.whenTrue : expression.whenFalse);
      }
      case 'cast':
        return this.#cast(expression.operand, expression);
      case 'list':
      case 'struct-expression':
        return this.#aggregate(expression);
      default:
        return undefined;
    }
  }

  #path(expression: PathExpression): ConstantValue | undefined {
    const symbol = this.lowering.checked.references.get(expression);
    if (symbol?.kind === 'constant') return this.#constant(symbol.declaration);
    if (symbol?.kind !== 'constructor-parameter' && symbol?.kind !== 'parameter') return undefined;
    const known = this.scope.static(symbol.declaration);
    return known?.kind === 'value' ? known.value : undefined;
  }

  /**
   * Computes a constant once per scope. A chain of constants that each use the one before twice would cost exponential
   * time.
   */
  #constant(declaration: ConstantDeclaration): ConstantValue | undefined {
    const { constants } = this.scope;
    if (!constants.has(declaration)) constants.set(declaration, this.value(declaration.value));
    return constants.get(declaration);
  }

  #member(expression: MemberExpression): ConstantValue | undefined {
    const member = this.lowering.checked.members.get(expression);
    if (member?.kind !== 'field') return undefined;
    const base = this.value(expression.base);
    const type = this.lowering.checked.types.get(expression.base);
    if (base?.kind !== 'aggregate' || type === undefined) return undefined;
    const position = componentsOf(type)?.findIndex((each) => each.name === member.field.name) ?? -1;
    return base.elements[position];
  }

  #slice(expression: SliceExpression): ConstantValue | undefined {
    const base = this.value(expression.base);
    const first = this.value(expression.high);
    const second = this.value(expression.low);
    if (base?.kind !== 'integer' || first?.kind !== 'integer' || second?.kind !== 'integer') return undefined;
    const low = expression.isPlus ? first.value : second.value;
    const width = expression.isPlus ? second.value : first.value - second.value + 1n;
    if (low < 0n || width < 0n) return undefined;
    return integerValue(foldSlice(base.value, Number(low + width) - 1, Number(low)));
  }

  #binary(expression: BinaryExpression): ConstantValue | undefined {
    const { operator } = expression;
    const left = this.value(expression.left);
    if (left?.kind === 'boolean' && operator === '&&' && !left.value) return left;
    if (left?.kind === 'boolean' && operator === '||' && left.value) return left;
    const right = this.value(expression.right);
    if (left === undefined || right === undefined) return undefined;
    const rightType = this.#typeOf(expression.right);
    const width = rightType.kind === 'bits' ? rightType.width : 0;
    const result = foldBinary(operator, left, right, this.#typeOf(expression.left), width);
    if (isFailure(result)) return this.lowering.refuse(expression.span, result.message, result.code);
    if (result !== undefined) this.lowering.budget.spend('work', constantSize(result), expression.span);
    return result;
  }

  #cast(operand: Expression, expression: Expression): ConstantValue | undefined {
    const value = this.value(operand);
    const target = this.lowering.checked.types.get(expression);
    if (value === undefined || target === undefined) return undefined;
    const number = numberType(target);
    if (value.kind === 'boolean' && number !== undefined) return integerValue(value.value ? 1n : 0n);
    if (value.kind === 'integer' && target.kind === 'bool') return booleanValue(value.value !== 0n);
    if (value.kind === 'integer') return number && numberOf(value.value, number);
    return value;
  }

  #aggregate(expression: ListExpression | StructExpression): ConstantValue | undefined {
    const type = this.lowering.checked.types.get(expression);
    const isList = type?.kind === 'list' && expression.kind === 'list';
    const ordered = isList ? expression.elements : type && orderedElements(expression, type);
    if (ordered === undefined) return undefined;
    const elements: ConstantValue[] = [];
    for (const each of ordered) {
      const value = each && this.value(each);
      if (value === undefined) return undefined;
      elements.push(value);
    }
    return { kind: 'aggregate', elements };
  }

  /** The type in which numbers are computed; unchanged for other values. */
  #typeOf(expression: Expression): Type {
    const type = this.lowering.typeOf(expression);
    return numberType(type) ?? type;
  }
}
