import type { DataType, Expression, IrArgument, IrParameter, SelectLabel } from '../../../src/ir/program.js';
import { printType } from '../../../src/lower/data-types.js';

/** Writes expressions as P4 would, with all parentheses. */
export class ExpressionPrinter {
  constructor(readonly errors: readonly string[]) {}

  parameters(parameters: readonly IrParameter[]): string {
    const texts = parameters.map(({ variable, direction }) => {
      const prefix = direction === 'none' ? '' : `${direction} `;
      return `${prefix}${printType(variable.type)} ${variable.name}`;
    });
    return `(${texts.join(', ')})`;
  }

  expression(expression: Expression): string {
    switch (expression.kind) {
      case 'constant':
        return this.constant(expression.type, expression.value);
      case 'string':
        return JSON.stringify(expression.value);
      case 'variable':
        return expression.variable.name;
      case 'member':
        return `${this.expression(expression.base)}.${expression.field}`;
      case 'element':
        return `${this.expression(expression.base)}[${this.expression(expression.index)}]`;
      case 'stack-next':
        return `${this.expression(expression.base)}.next`;
      case 'stack-last':
        return `${this.expression(expression.base)}.last`;
      case 'stack-last-index':
        return `${this.expression(expression.base)}.lastIndex`;
      case 'slice':
        return `${this.expression(expression.base)}[${expression.high}:${expression.low}]`;
      case 'dynamic-slice': {
        const width = expression.type.kind === 'bits' ? expression.type.width : 0;
        return `${this.expression(expression.base)}[${this.expression(expression.low)} +: ${width}]`;
      }
      case 'unary':
        return `${expression.operator}${this.expression(expression.operand)}`;
      case 'binary':
        return `(${this.expression(expression.left)} ${expression.operator} ${this.expression(expression.right)})`;
      case 'conditional':
        return `(${[expression.condition, expression.whenTrue, expression.whenFalse]
          .map((each, index) => ['', ' ? ', ' : '][index] + this.expression(each))
          .join('')})`;
      case 'cast':
        return `(${printType(expression.type)})${this.expression(expression.operand)}`;
      case 'aggregate':
        return `(${printType(expression.type)}){${expression.elements.map((each) => this.expression(each)).join(', ')}}`;
      case 'default':
        return `(${printType(expression.type)}){${expression.type.kind === 'struct' ? '...' : '#'}}`;
      default:
        return this.#call(expression);
    }
  }

  #call(
    expression: Extract<
      Expression,
      {
        readonly kind:
          | 'is-valid'
          | 'set-validity'
          | 'push-pop'
          | 'call-function'
          | 'call-action'
          | 'apply-instance'
          | 'apply-table'
          | 'call-extern'
          | 'call-packet'
          | 'call-method';
      }
    >,
  ): string {
    switch (expression.kind) {
      case 'is-valid':
        return `${this.expression(expression.header)}.isValid()`;
      case 'set-validity':
        return `${this.expression(expression.header)}.${expression.valid ? 'setValid' : 'setInvalid'}()`;
      case 'push-pop':
        return `${this.expression(expression.stack)}.${expression.method}(${expression.count})`;
      case 'call-function':
      case 'call-action':
        return `${expression.target.name}${this.#arguments(expression.arguments)}`;
      case 'apply-instance':
        return `${expression.target.name}.apply${this.#arguments(expression.arguments)}`;
      case 'apply-table':
        return `${expression.table.name}.apply()${expression.result === 'none' ? '' : `.${expression.result}`}`;
      case 'call-extern':
        return `${expression.name}${this.#arguments(expression.arguments)}`;
      case 'call-packet': {
        const type = expression.method === 'lookahead' ? `<${printType(expression.type)}>` : '';
        return `packet.${expression.method}${type}${this.#arguments(expression.arguments)}`;
      }
      case 'call-method':
        return `${expression.instance.name}.${expression.method}${this.#arguments(expression.arguments)}`;
    }
  }

  #arguments(list: readonly IrArgument[]): string {
    return `(${list.map(({ value }) => (value === undefined ? '_' : this.expression(value))).join(', ')})`;
  }

  /** A constant by its type: `8w5`, `4s-1`, `true`, `E.a`, `error.NoMatch`. */
  constant(type: DataType, value: bigint): string {
    switch (type.kind) {
      case 'bits':
        return `${type.width}${type.isSigned ? 's' : 'w'}${value}`;
      case 'bool':
        return value === 0n ? 'false' : 'true';
      case 'enum':
        return `${type.name}.${type.members[Number(value)] ?? value}`;
      case 'error':
        return `error.${this.errors[Number(value)] ?? value}`;
      default:
        return `${value}`;
    }
  }

  label(label: SelectLabel): string {
    switch (label.kind) {
      case 'any':
        return '_';
      case 'value':
        return this.expression(label.value);
      case 'mask':
        return `${this.expression(label.value)} &&& ${this.expression(label.mask)}`;
      case 'range':
        return `${this.expression(label.low)} .. ${this.expression(label.high)}`;
      case 'value-set':
        return label.valueSet.name;
    }
  }
}
