import type { ExternType, PackageType, ParameterType, StructType, Type } from './type.js';

/** Approximate limit of a description in characters. Nested types can double it at each level. */
const MAX_LENGTH = 400;

/** Types without parts that P4 spells otherwise than their kind. */
const SPELLINGS: Readonly<Record<string, string>> = {
  integer: 'int',
  'match-kind': 'match_kind',
  any: '_',
  'invalid-header': 'invalid header {#}',
};

/** A description while it is written. */
class Description {
  text = '';

  type(type: Type): void {
    if (this.text.length > MAX_LENGTH) return;
    switch (type.kind) {
      case 'bits':
        this.text += `${type.isSigned ? 'int' : 'bit'}<${type.width}>`;
        break;
      case 'varbit':
        this.text += `varbit<${type.maxWidth}>`;
        break;
      case 'struct':
      case 'header':
      case 'union':
      case 'extern':
      case 'package':
        this.#named(type);
        break;
      case 'stack':
        this.type(type.element);
        this.text += `[${type.size}]`;
        break;
      case 'tuple':
        this.#list('tuple<', type.elements, '>');
        break;
      case 'list':
        this.#list('list<', [type.element], '>');
        break;
      case 'set':
        this.text += 'set of ';
        this.type(type.element);
        break;
      case 'enum':
      case 'serializable-enum':
      case 'newtype':
      case 'variable':
        this.text += type.name;
        break;
      case 'parser':
      case 'control':
        this.#callable(`${type.kind} ${type.name}`, type.parameters);
        break;
      case 'function':
        this.#callable(type.kind, type.parameters);
        break;
      case 'table':
        this.text += `table ${type.name}`;
        break;
      case 'action-enum':
      case 'table-result':
        this.text += `${type.kind === 'action-enum' ? 'action' : 'result'} of table ${type.table}`;
        break;
      default:
        this.text += SPELLINGS[type.kind] ?? type.kind;
    }
  }

  #list(open: string, types: readonly Type[], close: string, before: (index: number) => string = () => ''): void {
    this.text += open;
    for (const [index, type] of types.entries()) {
      if (index > 0) this.text += ', ';
      if (this.text.length > MAX_LENGTH) {
        this.text += '...';
        break;
      }
      this.text += before(index);
      this.type(type);
    }
    this.text += close;
  }

  #named(type: StructType | ExternType | PackageType): void {
    this.text += type.name;
    if (type.typeArguments.length > 0) this.#list('<', type.typeArguments, '>');
    if (type.name !== '' || !('fields' in type)) return;
    const { fields } = type;
    const types = fields.map((field) => field.type);
    this.#list('{', types, '}', (index) => `${fields[index]!.name} = `);
  }

  #callable(what: string, parameters: readonly ParameterType[]): void {
    const types = parameters.map((each) => each.type);
    this.#list(`${what}(`, types, ')', (index) => {
      const { direction } = parameters[index]!;
      return direction === 'none' ? '' : `${direction} `;
    });
  }
}

/** A type as diagnostics show it, close to P4's syntax. Long ones are cut. */
export function describeType(type: Type): string {
  const description = new Description();
  description.type(type);
  return description.text;
}
