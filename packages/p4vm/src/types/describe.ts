import type { ParameterType, Type } from './type.js';

function list(types: readonly Type[]): string {
  return types.map(describeType).join(', ');
}

function parameters(types: readonly ParameterType[]): string {
  return types
    .map((each) => `${each.direction === 'none' ? '' : `${each.direction} `}${describeType(each.type)}`)
    .join(', ');
}

function named(name: string, typeArguments: readonly Type[]): string {
  return typeArguments.length === 0 ? name : `${name}<${list(typeArguments)}>`;
}

/** A type as diagnostics show it, close to how it is written in P4. */
export function describeType(type: Type): string {
  switch (type.kind) {
    case 'integer':
      return 'int';
    case 'bits':
      return `${type.isSigned ? 'int' : 'bit'}<${type.width}>`;
    case 'varbit':
      return `varbit<${type.maxWidth}>`;
    case 'match-kind':
      return 'match_kind';
    case 'struct':
      return type.name === ''
        ? `{${type.fields.map((field) => `${field.name} = ${describeType(field.type)}`).join(', ')}}`
        : named(type.name, type.typeArguments);
    case 'header':
    case 'union':
    case 'extern':
    case 'package':
      return named(type.name, type.typeArguments);
    case 'stack':
      return `${describeType(type.element)}[${type.size}]`;
    case 'tuple':
      return `tuple<${list(type.elements)}>`;
    case 'list':
      return `list<${describeType(type.element)}>`;
    case 'set':
      return `set of ${describeType(type.element)}`;
    case 'enum':
    case 'serializable-enum':
    case 'newtype':
    case 'variable':
      return type.name;
    case 'parser':
    case 'control':
      return `${type.kind} ${type.name}(${parameters(type.parameters)})`;
    case 'function':
      return `function(${parameters(type.parameters)})`;
    case 'action':
      return `action(${parameters(type.parameters)})`;
    case 'table':
      return `table ${type.name}`;
    case 'action-enum':
      return `action of table ${type.table}`;
    case 'table-result':
      return `result of table ${type.table}`;
    case 'any':
      return '_';
    case 'invalid-header':
      return 'invalid header {#}';
    case 'unknown':
      return 'unknown';
    default:
      return type.kind;
  }
}
