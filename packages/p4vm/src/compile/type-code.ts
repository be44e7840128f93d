import type { DataType, IrField, StructDataType } from '../ir/program.js';
import { Code, type CodeMeter } from './code.js';
import { type Names, propertyOf } from './names.js';
import {
  type AggregateType,
  fixedWidth,
  hasHeaders,
  isAggregate,
  isKeptSigned,
  scalarNames,
  typeKey,
  zeroOf,
} from './storage.js';
import type { UndefinedValues } from './undefined-values.js';
import type { MachineName } from './unit.js';

/** Functions over a type's objects, written on first use. */
export type TypeFunction = 'copy' | 'move' | 'zero' | 'clear' | 'equals' | 'invalidate' | 'bits';

/** Classes of the program's types, and functions over their objects. */
export class TypeCode {
  readonly code: Code;
  readonly #names: Names;
  readonly #helper: (name: MachineName) => string;
  readonly #standardMetadata: StructDataType;
  readonly #classes = new Map<string, string>();
  readonly #functions = new Map<string, string>();
  /** What writes the bodies of functions. */
  readonly #bodies: Readonly<Record<TypeFunction, (type: AggregateType, code: Code) => void>> = {
    copy: (type, code) => this.#writeCopy(type, 'copy', code),
    move: (type, code) => this.#writeCopy(type, 'move', code),
    zero: (type, code) => this.#writeZero(type, code),
    clear: (type, code) => this.#writeClear(type, code),
    equals: (type, code) => this.#writeEquals(type, code),
    invalidate: (type, code) => this.#writeInvalidate(type, code),
    bits: (type, code) => this.#writeBits(type, code),
  };

  constructor(
    names: Names,
    standardMetadata: StructDataType,
    helper: (name: MachineName) => string,
    readonly meter: CodeMeter,
    /** In poison mode: the random values that replace zeros. */
    readonly undefinedValues: UndefinedValues | undefined,
  ) {
    this.code = new Code(meter);
    this.#names = names;
    this.#standardMetadata = standardMetadata;
    this.#helper = helper;
  }

  /** Whether 32-bit fields of a struct are kept as signed numbers. */
  keepsSigned(owner: StructDataType | undefined, type: DataType): boolean {
    return isKeptSigned(type) && owner !== this.#standardMetadata;
  }

  /** Names of the properties that keep a scalar field. */
  fieldNames(owner: StructDataType, field: string, type: DataType): readonly string[] {
    // The switch reads and writes times in standard metadata as bigints: see the accessors below.
    const wide = owner === this.#standardMetadata && type.kind === 'bits' && type.width > 32;
    return scalarNames(wide ? `${field}$` : propertyOf(field), type);
  }

  /** Code that makes an object of a type. */
  create(type: AggregateType): string {
    if (type.kind === 'varbit') return `new ${this.#helper('Varbit')}(${type.maxWidth})`;
    return `new ${this.classOf(type)}()`;
  }

  classOf(type: Exclude<AggregateType, { readonly kind: 'varbit' }>): string {
    const key = typeKey(type);
    const known = this.#classes.get(key);
    if (known !== undefined) return known;
    const name = this.#names.take(key);
    this.#classes.set(key, name);
    const code = new Code(this.meter);
    code.open(`class ${name} {`);
    code.open('constructor() {');
    if (type.kind === 'stack') {
      const element = this.create(type.element);
      const items =
        type.size <= 64
          ? `[${Array.from({ length: type.size }, () => element).join(', ')}]`
          : `Array.from({ length: ${type.size} }, () => ${element})`;
      code.lines(`this.items = ${items};`, 'this.next = 0;', 'this.$used = 0;');
    } else {
      if (type.kind === 'header') code.lines('this.$valid = false;', 'this.$touched = false;');
      const fields = this.#fields(
        type,
        (property, inner) => `this.${property} = ${this.create(inner)};`,
        (property, inner) => `this.${property} = ${zeroOf(inner)};`,
      );
      code.lines(...fields);
    }
    code.close();
    if (type === this.#standardMetadata) this.#timeAccessors(code, type);
    code.close();
    this.code.append(code);
    return name;
  }

  /** Codes for the fields of a type: one for each property. A scalar has one for each of its words. */
  #fields(
    type: StructDataType,
    aggregate: (property: string, type: AggregateType) => string,
    scalar: (property: string, type: DataType, word: number) => string,
  ): readonly string[] {
    return type.fields.flatMap((field) =>
      isAggregate(field.type)
        ? [aggregate(propertyOf(field.name), field.type)]
        : this.fieldNames(type, field.name, field.type).map((each, word) => scalar(each, field.type, word)),
    );
  }

  /** Statements that call a function for all fields with headers in them. */
  #ofHeaders({ fields }: StructDataType, what: TypeFunction): readonly string[] {
    return fields.flatMap(({ name, type }) =>
      isAggregate(type) && hasHeaders(type) ? [`${this.functionOf(what, type)}(it.${propertyOf(name)})`] : [],
    );
  }

  #timeAccessors(code: Code, type: StructDataType): void {
    for (const field of type.fields) {
      if (field.type.kind !== 'bits' || field.type.width <= 32 || field.type.width > 64) continue;
      const [low, high] = this.fieldNames(type, field.name, field.type) as readonly [string, string];
      const word = this.#helper('word');
      const mask = field.type.width === 64 ? '' : ` & ${0xffffffff >>> (64 - field.type.width)}`;
      code.open(`get ${propertyOf(field.name)}() {`);
      code.line(`return ${this.#helper('join2')}(this.${low}, this.${high});`);
      code.close();
      code.open(`set ${propertyOf(field.name)}(value) {`);
      code.line(`${this.#helper('split2')}(value);`);
      code.line(`this.${low} = ${word}[0];`);
      code.line(`this.${high} = ${word}[1]${mask};`);
      code.close();
    }
  }

  /** Name of a function over a type's objects. */
  functionOf(what: TypeFunction, type: AggregateType): string {
    if (type.kind === 'varbit' && what === 'equals') return this.#helper('equalVarbits');
    if (type.kind === 'varbit' && (what === 'copy' || what === 'move')) return this.#helper('copyVarbit');
    return this.once(`${what} ${typeKey(type)}`, `${typeKey(type)}$${what}`, (name, code) => {
      const isCopy = what === 'copy' || what === 'move';
      code.open(`function ${name}(${isCopy ? 'into, from' : what === 'equals' ? 'a, b' : 'it'}) {`);
      this.#bodies[what](type, code);
      code.close();
    });
  }

  /** A function that is written out once, by key. */
  once(key: string, wish: string, write: (name: string, code: Code) => void): string {
    const known = this.#functions.get(key);
    if (known !== undefined) return known;
    const name = this.#names.take(wish);
    this.#functions.set(key, name);
    const code = new Code(this.meter);
    write(name, code);
    this.code.append(code);
    return name;
  }

  /*
   * `$touched` of a header tells whether it may differ from a new one, `$used` of a stack how many of its elements may.
   * Untouched ones, often most, are neither copied nor set to zero.
   */

  #writeCopy(type: AggregateType, what: 'copy' | 'move', code: Code): void {
    if (type.kind === 'stack') {
      const copy = this.functionOf(what, type.element);
      code.lines(
        'const used = Math.max(into.$used, from.$used);',
        `for (let i = 0; i < used; i++) ${copy}(into.items[i], from.items[i]);`,
        `into.$used = ${what === 'copy' ? 'used' : 'from.$used'};`,
        'into.next = from.next;',
      );
    } else if (type.kind !== 'varbit') {
      if (type.kind === 'header') this.#copyValidity(type, what, code);
      for (const field of type.fields) code.lines(...this.fieldCopy(what, type, field, 'into', 'from'));
    }
  }

  /** Statements that copy a field of one object to another. */
  fieldCopy(
    what: 'copy' | 'move',
    owner: StructDataType,
    field: IrField,
    into: string,
    from: string,
  ): readonly string[] {
    const { name, type } = field;
    const property = propertyOf(name);
    return isAggregate(type)
      ? [`${this.functionOf(what, type)}(${into}.${property}, ${from}.${property});`]
      : this.fieldNames(owner, name, type).map((each) => `${into}.${each} = ${from}.${each};`);
  }

  #copyValidity(type: StructDataType, what: 'copy' | 'move', code: Code): void {
    if (what === 'copy') {
      // A header that becomes invalid by assignment keeps its fields.
      code.open('if (!from.$valid) {');
      code.line('into.$valid = false;');
    } else {
      code.open('if (!from.$touched) {');
      code.line(`if (into.$touched) ${this.functionOf('zero', type)}(into);`);
    }
    code.line('return;');
    code.close();
    code.lines(`into.$valid = ${what === 'copy' ? 'true' : 'from.$valid'};`, 'into.$touched = true;');
  }

  /** Initial values of fields: zeros, except in poison mode. The switch sets standard metadata. */
  #writeZero(type: AggregateType, code: Code): void {
    const { undefinedValues } = this;
    if (type.kind === 'varbit') code.line('it.bits = 0;');
    else if (type.kind === 'stack') {
      const used = undefinedValues === undefined ? 'it.$used' : type.size;
      code.line(`for (let i = 0; i < ${used}; i++) ${this.functionOf('zero', type.element)}(it.items[i]);`);
      code.lines('it.$used = 0;', 'it.next = 0;');
    } else {
      if (type.kind === 'header') {
        if (undefinedValues === undefined) code.line('if (!it.$touched) return;');
        code.lines('it.$touched = false;', 'it.$valid = false;');
      }
      const values = type === this.#standardMetadata ? undefined : undefinedValues;
      const fields = this.#fields(
        type,
        (property, inner) => `${this.functionOf('zero', inner)}(it.${property});`,
        (property, inner, word) =>
          `it.${property} = ${values?.codes(inner, this.keepsSigned(type, inner))[word] ?? zeroOf(inner)};`,
      );
      code.lines(...fields);
    }
  }

  /** Zeros, but headers become invalid and keep their fields. */
  #writeClear(type: AggregateType, code: Code): void {
    if (type.kind === 'varbit') code.line('it.bits = 0;');
    else if (type.kind !== 'struct') code.line(`${this.functionOf('invalidate', type)}(it);`);
    else {
      const fields = this.#fields(
        type,
        (property, inner) => `${this.functionOf('clear', inner)}(it.${property});`,
        (property, inner) => `it.${property} = ${zeroOf(inner)};`,
      );
      code.lines(...fields);
    }
  }

  #writeEquals(type: AggregateType, code: Code): void {
    if (type.kind === 'stack') {
      const equals = this.functionOf('equals', type.element);
      code.line(`for (let i = 0; i < ${type.size}; i++) if (!${equals}(a.items[i], b.items[i])) return false;`);
      code.line('return true;');
    } else if (type.kind !== 'varbit') {
      if (type.kind === 'header') code.line('if (!a.$valid || !b.$valid) return a.$valid === b.$valid;');
      const tests = this.#fields(
        type,
        (property, inner) => `${this.functionOf('equals', inner)}(a.${property}, b.${property})`,
        (property) => `a.${property} === b.${property}`,
      );
      code.line(`return ${tests.join(' && ') || 'true'};`);
    }
  }

  #writeInvalidate(type: AggregateType, code: Code): void {
    if (type.kind === 'header') code.line('it.$valid = false;');
    else if (type.kind === 'stack') {
      code.line(`for (let i = 0; i < it.$used; i++) ${this.functionOf('invalidate', type.element)}(it.items[i]);`);
      code.line('it.next = 0;');
    } else if (type.kind !== 'varbit') code.lines(...this.#ofHeaders(type, 'invalidate').map((each) => `${each};`));
  }

  /** Bits of all valid headers in a value. */
  #writeBits(type: AggregateType, code: Code): void {
    if (type.kind === 'header') code.line(`return it.$valid ? ${headerBits(type, 'it')} : 0;`);
    else if (type.kind === 'stack') {
      const bits = this.functionOf('bits', type.element);
      code.lines('let sum = 0;', `for (let i = 0; i < it.$used; i++) sum += ${bits}(it.items[i]);`, 'return sum;');
    } else if (type.kind !== 'varbit') code.line(`return ${this.#ofHeaders(type, 'bits').join(' + ') || '0'};`);
  }

  /** Name of a function that tells whether a union is valid. */
  isValid(type: StructDataType): string {
    return this.once(`isValid ${type.id}`, `${type.id}$isValid`, (name, code) => {
      const tests = type.fields.map((field) => `it.${propertyOf(field.name)}.$valid`);
      code.open(`function ${name}(it) {`);
      code.line(`return ${tests.join(' || ') || 'false'};`);
      code.close();
    });
  }
}

/** Code of the length in a packet, in bits, of the header that an object is. */
export function headerBits({ fields }: StructDataType, object: string): string {
  const fixed = fields.reduce((sum, { type }) => sum + fixedWidth(type), 0);
  const varbits = fields.filter(({ type }) => type.kind === 'varbit');
  return [fixed, ...varbits.map(({ name }) => `${object}.${propertyOf(name)}.bits`)].join(' + ');
}
