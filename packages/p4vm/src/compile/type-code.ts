import type { DataType, StructDataType } from '../ir/program.js';
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
export type TypeFunction = 'copy' | 'move' | 'zero' | 'clear' | 'equals' | 'invalidate' | 'isValid' | 'bits';

/** Classes of the program's types, and functions over their objects. */
export class TypeCode {
  readonly code: Code;
  readonly #names: Names;
  readonly #helper: (name: MachineName) => string;
  readonly #standardMetadata: StructDataType;
  readonly #classes = new Map<string, string>();
  readonly #functions = new Map<string, string>();

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
      code.line(`this.items = ${items};`);
      code.line('this.next = 0;');
      code.line('this.$used = 0;');
    } else {
      if (type.kind === 'header') {
        code.line('this.$valid = false;');
        code.line('this.$touched = false;');
      }
      for (const field of type.fields) {
        if (isAggregate(field.type)) code.line(`this.${propertyOf(field.name)} = ${this.create(field.type)};`);
        else
          for (const each of this.fieldNames(type, field.name, field.type))
            code.line(`this.${each} = ${zeroOf(field.type)};`);
      }
    }
    code.close();
    if (type === this.#standardMetadata) this.#timeAccessors(code, type);
    code.close();
    this.code.append(code);
    return name;
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
      switch (what) {
        case 'copy':
        case 'move':
          return this.#writeCopy(name, type, what, code);
        case 'zero':
          return this.#writeZero(name, type, code);
        case 'clear':
          return this.#writeClear(name, type, code);
        case 'equals':
          return this.#writeEquals(name, type, code);
        case 'invalidate':
          return this.#writeInvalidate(name, type, code);
        case 'isValid':
          return this.#writeIsValid(name, type, code);
        case 'bits':
          return this.#writeBits(name, type, code);
      }
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

  #writeCopy(name: string, type: AggregateType, what: 'copy' | 'move', code: Code): void {
    code.open(`function ${name}(into, from) {`);
    if (type.kind === 'stack') this.#copyStack(type, what, code);
    else if (type.kind !== 'varbit') {
      if (type.kind === 'header') this.#copyValidity(type, what, code);
      for (const field of type.fields) {
        const property = propertyOf(field.name);
        if (isAggregate(field.type)) {
          code.line(`${this.functionOf(what, field.type)}(into.${property}, from.${property});`);
          continue;
        }
        for (const each of this.fieldNames(type, field.name, field.type)) code.line(`into.${each} = from.${each};`);
      }
    }
    code.close();
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
    code.line(`into.$valid = ${what === 'copy' ? 'true' : 'from.$valid'};`);
    code.line('into.$touched = true;');
  }

  #copyStack(type: Extract<AggregateType, { readonly kind: 'stack' }>, what: 'copy' | 'move', code: Code): void {
    code.line('const used = Math.max(into.$used, from.$used);');
    code.line(`for (let i = 0; i < used; i++) ${this.functionOf(what, type.element)}(into.items[i], from.items[i]);`);
    code.line(`into.$used = ${what === 'copy' ? 'used' : 'from.$used'};`);
    code.line('into.next = from.next;');
  }

  #writeZero(name: string, type: AggregateType, code: Code): void {
    code.open(`function ${name}(it) {`);
    if (type.kind === 'varbit') code.line('it.bits = 0;');
    else if (type.kind === 'stack') {
      const used = this.undefinedValues === undefined ? 'it.$used' : type.size;
      code.line(`for (let i = 0; i < ${used}; i++) ${this.functionOf('zero', type.element)}(it.items[i]);`);
      code.line('it.$used = 0;');
      code.line('it.next = 0;');
    } else {
      if (type.kind === 'header') {
        if (this.undefinedValues === undefined) code.line('if (!it.$touched) return;');
        code.line('it.$touched = false;');
        code.line('it.$valid = false;');
      }
      this.#zeroFields(type, code);
    }
    code.close();
  }

  /** Initial values of fields: zeros, except in poison mode. The switch sets standard metadata. */
  #zeroFields(type: StructDataType, code: Code): void {
    const { undefinedValues } = this;
    for (const field of type.fields) {
      if (isAggregate(field.type)) {
        code.line(`${this.functionOf('zero', field.type)}(it.${propertyOf(field.name)});`);
        continue;
      }
      const values =
        undefinedValues === undefined || type === this.#standardMetadata
          ? undefined
          : undefinedValues.codes(field.type, this.keepsSigned(type, field.type));
      for (const [index, each] of this.fieldNames(type, field.name, field.type).entries())
        code.line(`it.${each} = ${values?.[index] ?? zeroOf(field.type)};`);
    }
  }

  /** Zeros, but headers become invalid and keep their fields. */
  #writeClear(name: string, type: AggregateType, code: Code): void {
    code.open(`function ${name}(it) {`);
    if (type.kind === 'varbit') code.line('it.bits = 0;');
    else if (type.kind !== 'struct') code.line(`${this.functionOf('invalidate', type)}(it);`);
    else {
      for (const field of type.fields) {
        if (isAggregate(field.type)) {
          code.line(`${this.functionOf('clear', field.type)}(it.${propertyOf(field.name)});`);
          continue;
        }
        for (const each of this.fieldNames(type, field.name, field.type))
          code.line(`it.${each} = ${zeroOf(field.type)};`);
      }
    }
    code.close();
  }

  #writeEquals(name: string, type: AggregateType, code: Code): void {
    code.open(`function ${name}(a, b) {`);
    if (type.kind === 'stack') {
      const each = this.functionOf('equals', type.element);
      code.line(`for (let i = 0; i < ${type.size}; i++) if (!${each}(a.items[i], b.items[i])) return false;`);
      code.line('return true;');
    } else if (type.kind !== 'varbit') {
      if (type.kind === 'header') code.line('if (!a.$valid || !b.$valid) return a.$valid === b.$valid;');
      const tests = type.fields.flatMap((field) => {
        const property = propertyOf(field.name);
        return isAggregate(field.type)
          ? [`${this.functionOf('equals', field.type)}(a.${property}, b.${property})`]
          : this.fieldNames(type, field.name, field.type).map((each) => `a.${each} === b.${each}`);
      });
      code.line(`return ${tests.length === 0 ? 'true' : tests.join(' && ')};`);
    }
    code.close();
  }

  #writeInvalidate(name: string, type: AggregateType, code: Code): void {
    code.open(`function ${name}(it) {`);
    if (type.kind === 'header') code.line('it.$valid = false;');
    else if (type.kind === 'stack') {
      code.line(`for (let i = 0; i < it.$used; i++) ${this.functionOf('invalidate', type.element)}(it.items[i]);`);
      code.line('it.next = 0;');
    } else if (type.kind !== 'varbit') {
      for (const field of type.fields) {
        if (isAggregate(field.type) && hasHeaders(field.type)) {
          code.line(`${this.functionOf('invalidate', field.type)}(it.${propertyOf(field.name)});`);
        }
      }
    }
    code.close();
  }

  #writeIsValid(name: string, type: AggregateType, code: Code): void {
    code.open(`function ${name}(it) {`);
    if (type.kind === 'union') {
      const tests = type.fields.map((field) => `it.${propertyOf(field.name)}.$valid`);
      code.line(`return ${tests.length === 0 ? 'false' : tests.join(' || ')};`);
    } else code.line('return it.$valid;');
    code.close();
  }

  /** Bits of all valid headers in a value. */
  #writeBits(name: string, type: AggregateType, code: Code): void {
    code.open(`function ${name}(it) {`);
    if (type.kind === 'header') {
      const sum = [String(fixedWidth(type))];
      for (const field of type.fields) if (field.type.kind === 'varbit') sum.push(`it.${propertyOf(field.name)}.bits`);
      code.line(`return it.$valid ? ${sum.join(' + ')} : 0;`);
    } else if (type.kind === 'stack') {
      code.line('let sum = 0;');
      code.line(`for (let i = 0; i < it.$used; i++) sum += ${this.functionOf('bits', type.element)}(it.items[i]);`);
      code.line('return sum;');
    } else if (type.kind !== 'varbit') {
      const sum: string[] = [];
      for (const field of type.fields) {
        if (isAggregate(field.type) && hasHeaders(field.type)) {
          sum.push(`${this.functionOf('bits', field.type)}(it.${propertyOf(field.name)})`);
        }
      }
      code.line(`return ${sum.length === 0 ? '0' : sum.join(' + ')};`);
    }
    code.close();
  }
}
