import type { CheckedProgram } from '../check/checked-program.js';
import type { DataType, StructDataType } from '../ir/program.js';
import type { Annotation, EnumDeclaration, Expression, StructDeclaration } from '../syntax/ast.js';
import type { Lowering } from './lowering.js';

/**
 * The paths of the user metadata's fields by the numbers in their `@field_list(...)`. A struct that has the annotation
 * stands for all its fields; headers and stacks are listed as a whole.
 */
export function fieldLists(lowering: Lowering, metadata: StructDataType): Map<number, string[][]> {
  const lists = new Map<number, string[][]>();
  const declarations = structDeclarations(lowering.checked);
  const values = new AnnotationValues(lowering);
  collect(metadata, [], []);
  return lists;

  function collect(type: StructDataType, path: readonly string[], inherited: readonly number[]): void {
    // The name of a generic struct has its type arguments behind it.
    const declaration = declarations.get(type.name.replace(/<.*/, ''));
    for (const [position, { name, type: fieldType }] of type.fields.entries()) {
      const field = declaration?.fields[position];
      const annotations = field?.name.text === name ? field.annotations : [];
      const numbers = [...new Set([...inherited, ...listNumbers(lowering, values, annotations)])];
      if (declaration !== undefined) lowering.spend(1 + numbers.length, declaration.span);
      add(fieldType, [...path, name], numbers);
    }
  }

  function add(type: DataType, path: string[], numbers: readonly number[]): void {
    if (type.kind === 'struct') {
      collect(type, path, numbers);
      return;
    }
    for (const number of numbers) {
      const list = lists.get(number) ?? [];
      list.push(path);
      lists.set(number, list);
    }
  }
}

function structDeclarations({ program }: CheckedProgram): Map<string, StructDeclaration> {
  const declarations = new Map<string, StructDeclaration>();
  for (const each of program.declarations) {
    if (each.kind === 'struct') declarations.set(each.name.text, each);
    else if (each.kind === 'typedef' && each.type.kind === 'declared-type' && each.type.declaration.kind === 'struct') {
      declarations.set(each.type.declaration.name.text, each.type.declaration);
    }
  }
  return declarations;
}

function listNumbers(lowering: Lowering, values: AnnotationValues, annotations: readonly Annotation[]): number[] {
  const given = annotations.filter((each) => each.name === 'field_list').flatMap((each) => each.values);
  return given.map((value) => {
    const number = values.value(value);
    return number === undefined
      ? lowering.refuse(value.span, 'the number of a field list must be known at compile time')
      : Number(number);
  });
}

/** Values of expressions in annotations, whose names are not resolved: literals, constants and members of enums. */
class AnnotationValues {
  readonly #constants = new Map<string, Expression>();
  readonly #enums = new Map<string, EnumDeclaration>();

  constructor(readonly lowering: Lowering) {
    for (const each of lowering.checked.program.declarations) {
      if (each.kind === 'constant') this.#constants.set(each.name.text, each.value);
      else if (each.kind === 'enum') this.#enums.set(each.name.text, each);
    }
  }

  value(expression: Expression): bigint | undefined {
    const known = this.lowering.checked.constants.get(expression);
    if (known?.kind === 'integer') return known.value;
    switch (expression.kind) {
      case 'integer':
        return expression.value;
      case 'cast':
        return this.value(expression.operand);
      case 'path': {
        // The checker knows the values of constants.
        const value = this.#constants.get(expression.name.text);
        const found = value && this.lowering.checked.constants.get(value);
        return found?.kind === 'integer' ? found.value : undefined;
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
  #member(name: string, member: string): bigint | undefined {
    const members = this.#enums.get(name)?.members ?? [];
    const position = members.findIndex((other) => other.name.text === member);
    const value = members[position]?.value;
    if (position === -1) return undefined;
    return value === undefined ? BigInt(position) : this.value(value);
  }
}
