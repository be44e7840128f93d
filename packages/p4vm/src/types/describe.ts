import type { ParameterType, Type } from './type.js';

/** Approximate limit of a description in characters. Nested types can double it at each level. */
const MAX_LENGTH = 400;

/** A description while it is written. */
class Description {
  text = '';

  type(type: Type): void {
    if (this.text.length > MAX_LENGTH) return;
    switch (type.kind) {
      case 'integer':
        this.text += 'int';
        break;
      case 'bits':
        this.text += `${type.isSigned ? 'int' : 'bit'}<${type.width}>`;
        break;
      case 'varbit':
        this.text += `varbit<${type.maxWidth}>`;
        break;
      case 'match-kind':
        this.text += 'match_kind';
        break;
      case 'struct':
        if (type.name !== '') this.#named(type.name, type.typeArguments);
        else {
          this.text += '{';
          this.#list(type.fields, (field) => {
            this.text += `${field.name} = `;
            this.type(field.type);
          });
          this.text += '}';
        }
        break;
      case 'header':
      case 'union':
      case 'extern':
      case 'package':
        this.#named(type.name, type.typeArguments);
        break;
      case 'stack':
        this.type(type.element);
        this.text += `[${type.size}]`;
        break;
      case 'tuple':
        this.text += 'tuple<';
        this.#list(type.elements, (element) => this.type(element));
        this.text += '>';
        break;
      case 'list':
        this.text += 'list<';
        this.type(type.element);
        this.text += '>';
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
      case 'action':
        this.#callable(type.kind, type.parameters);
        break;
      case 'table':
        this.text += `table ${type.name}`;
        break;
      case 'action-enum':
        this.text += `action of table ${type.table}`;
        break;
      case 'table-result':
        this.text += `result of table ${type.table}`;
        break;
      case 'any':
        this.text += '_';
        break;
      case 'invalid-header':
        this.text += 'invalid header {#}';
        break;
      default:
        this.text += type.kind;
    }
  }

  #list<T>(items: readonly T[], write: (item: T) => void): void {
    for (const [index, item] of items.entries()) {
      if (index > 0) this.text += ', ';
      if (this.text.length > MAX_LENGTH) {
        this.text += '...';
        return;
      }
      write(item);
    }
  }

  #named(name: string, typeArguments: readonly Type[]): void {
    this.text += name;
    if (typeArguments.length === 0) return;
    this.text += '<';
    this.#list(typeArguments, (each) => this.type(each));
    this.text += '>';
  }

  #callable(what: string, parameters: readonly ParameterType[]): void {
    this.text += `${what}(`;
    this.#list(parameters, ({ direction, type }) => {
      if (direction !== 'none') this.text += `${direction} `;
      this.type(type);
    });
    this.text += ')';
  }
}

/** A type as diagnostics show it, close to P4's syntax. Long ones are cut. */
export function describeType(type: Type): string {
  const description = new Description();
  description.type(type);
  return description.text;
}
