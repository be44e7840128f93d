import type { CheckedProgram } from '../check/checked-program.js';
import type { DataType, StructDataType } from '../ir/program.js';
import type { Annotation, Expression, StructDeclaration } from '../syntax/ast.js';
import type { Lowering } from './lowering.js';

/**
 * The paths of the user metadata's fields by the numbers in their `@field_list(...)`. A struct that has the annotation
 * stands for all its fields; headers and stacks are listed as a whole.
 */
export function fieldLists(lowering: Lowering, metadata: StructDataType): Map<number, string[][]> {
  const lists = new Map<number, string[][]>();
  const declarations = structDeclarations(lowering.checked);
  collect(metadata, [], []);
  return lists;

  function collect(type: StructDataType, path: readonly string[], inherited: readonly number[]): void {
    // The name of a generic struct has its type arguments behind it.
    const declaration = declarations.get(type.name.replace(/<.*/, ''));
    for (const { name, type: fieldType } of type.fields) {
      const annotations = declaration?.fields.find((field) => field.name.text === name)?.annotations ?? [];
      const numbers = [...new Set([...inherited, ...listNumbers(lowering, annotations)])];
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

function listNumbers(lowering: Lowering, annotations: readonly Annotation[]): number[] {
  const values = annotations.filter((each) => each.name === 'field_list').flatMap((each) => each.values);
  return values.map((value) => {
    const number = new AnnotationValues(lowering.checked).value(value);
    return number === undefined
      ? lowering.refuse(value.span, 'the number of a field list must be known at compile time')
      : Number(number);
  });
}

/** Values of expressions in annotations, whose names are not resolved: literals, constants and members of enums. */
class AnnotationValues {
  constructor(readonly checked: CheckedProgram) {}

  value(expression: Expression): bigint | undefined {
    const known = this.checked.constants.get(expression);
    if (known?.kind === 'integer') return known.value;
    switch (expression.kind) {
      case 'integer':
        return expression.value;
      case 'cast':
        return this.value(expression.operand);
      case 'path':
        return this.#named(expression.name.text);
      case 'member':
        return expression.base.kind === 'path'
          ? this.#member(expression.base.name.text, expression.member.text)
          : undefined;
      default:
        return undefined;
    }
  }

  #named(name: string): bigint | undefined {
    for (const each of this.checked.program.declarations) {
      if (each.kind === 'constant' && each.name.text === name) return this.value(each.value);
    }
    return undefined;
  }

  /** A member of an enum: its value, or its position if it has none. */
  #member(name: string, member: string): bigint | undefined {
    for (const each of this.checked.program.declarations) {
      if (each.kind !== 'enum' || each.name.text !== name) continue;
      const position = each.members.findIndex((other) => other.name.text === member);
      const value = each.members[position]?.value;
      if (position === -1) return undefined;
      return value === undefined ? BigInt(position) : this.value(value);
    }
    return undefined;
  }
}
