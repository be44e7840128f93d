import type { CheckedProgram } from '../check/checked-program.js';
import type { DataType, StructDataType } from '../ir/program.js';
import type { Annotation, StructDeclaration } from '../syntax/ast.js';
import { AnnotationValues } from './annotation-values.js';
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
    const number = values.number(value);
    return number === undefined
      ? lowering.refuse(value.span, 'the number of a field list must be known at compile time')
      : Number(number);
  });
}
