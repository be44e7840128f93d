import type { DataType, IrField, StructDataType } from '../ir/program.js';
import { type Item, loadBits, packBytes, plus } from './bits.js';
import type { Code } from './code.js';
import { propertyOf } from './names.js';
import {
  type AggregateType,
  bitsOf,
  fixedWidth,
  hasHeaders,
  isAggregate,
  NUMBER_WIDTH,
  typeKey,
  WORDS_WIDTH,
} from './storage.js';
import type { Unit } from './unit.js';
import { atom, wrapBig, wrapNumber } from './value.js';

/** Writes statements that set a scalar field from bits of `bytes`, `offset` bits behind byte `base`. */
function loadScalar(
  unit: Unit,
  code: Code,
  owner: StructDataType,
  field: IrField,
  object: string,
  base: string,
  offset: number,
): void {
  const { type } = field;
  const targets = unit.types.fieldNames(owner, field.name, type).map((name) => `${object}.${name}`);
  const [first = ''] = targets;
  if (type.kind === 'bool') {
    code.line(`${first} = (${loadBits(base, offset, 1)}) !== 0;`);
    return;
  }
  const { width, isSigned } = bitsOf(type);
  if (width === 0) return;
  if (width <= NUMBER_WIDTH) {
    const bits = loadBits(base, offset, width);
    if (isSigned) code.line(`${first} = ${wrapNumber(bits, width, true)};`);
    else if (width === 32 && !unit.types.keepsSigned(owner, type)) code.line(`${first} = ${atom(bits)} >>> 0;`);
    else code.line(`${first} = ${bits};`);
    return;
  }
  const words = loadWords(base, offset, width);
  if (width > WORDS_WIDTH) code.line(`${first} = ${joinedWords(unit, code, words, width, isSigned)};`);
  else for (const [index, word] of words.entries()) code.line(`${targets[index] ?? ''} = ${word};`);
}

/** Code of the bigint that words make, which are put into the machine's words first. */
export function joinedWords(
  unit: Unit,
  code: Code,
  words: readonly string[],
  width: number,
  isSigned: boolean,
): string {
  const scratch = unit.helper('word');
  for (const [index, word] of words.entries()) code.line(`${scratch}[${index}] = ${word};`);
  const joined = `${unit.helper('joinWords')}(${words.length})`;
  return isSigned ? wrapBig(joined, width, true) : joined;
}

/** Codes of the words of a wide field, least significant first. */
export function loadWords(base: string, offset: number, width: number): readonly string[] {
  const words: string[] = [];
  for (let left = width; left > 0; left -= 32) {
    const count = Math.min(32, left);
    words.push(loadBits(base, offset + left - count, count));
  }
  return words;
}

/** Writes loads of all fields of a value from byte `base` on, and gives the bits taken. */
function loadFields(unit: Unit, code: Code, type: DataType, object: string, base: string, offset: number): number {
  let at = offset;
  if (type.kind === 'stack') {
    for (let index = 0; index < type.size; index++)
      at = loadFields(unit, code, type.element, `${object}.items[${index}]`, base, at);
    code.line(`${object}.$used = ${type.size};`);
  } else if (type.kind === 'struct' || type.kind === 'header') {
    for (const field of type.fields) at = loadField(unit, code, type, field, object, base, at);
    if (type.kind === 'header') code.lines(`${object}.$valid = true;`, `${object}.$touched = true;`);
  }
  return at;
}

function loadField(
  unit: Unit,
  code: Code,
  owner: StructDataType,
  field: IrField,
  object: string,
  base: string,
  offset: number,
): number {
  if (isAggregate(field.type)) {
    return loadFields(unit, code, field.type, `${object}.${propertyOf(field.name)}`, base, offset);
  }
  loadScalar(unit, code, owner, field, object, base, offset);
  return offset + fixedWidth(field.type);
}

/**
 * Name of a function that reads a value from the packet without moving the cursor. It returns false if the packet is
 * too short.
 */
export function lookaheadFunction(unit: Unit, type: AggregateType): string {
  return unit.types.once(`lookahead ${typeKey(type)}`, `${typeKey(type)}$lookahead`, (name, code) => {
    code.open(`function ${name}(it) {`);
    code.line(`if (end - at < ${(fixedWidth(type) + 7) >> 3}) return false;`);
    loadFields(unit, code, type, 'it', 'at', 0);
    code.line('return true;');
    code.close();
  });
}

/** Name of a function that extracts a header of fixed size. It returns false if the packet is too short. */
export function extractFunction(unit: Unit, type: StructDataType): string {
  return unit.types.once(`extract ${type.id}`, `${type.id}$extract`, (name, code) => {
    const length = fixedWidth(type) >> 3;
    code.open(`function ${name}(it) {`);
    code.line('const start = at;');
    code.line(`if (end - start < ${length}) return false;`);
    loadFields(unit, code, type, 'it', 'start', 0);
    code.line(`at = start + ${length};`);
    code.line('return true;');
    code.close();
  });
}

/**
 * Name of a function that extracts a header with a varbit of `bits` bits. It returns 0, or the position of an error. It
 * checks in this order: the length is not a whole number of bytes, the packet is too short, the varbit is too long.
 */
export function extractVariableFunction(unit: Unit, type: StructDataType): string {
  return unit.types.once(`extract variable ${type.id}`, `${type.id}$extractVariable`, (name, code) => {
    const length = fixedWidth(type) >> 3;
    const most = type.fields.reduce((sum, { type: each }) => (each.kind === 'varbit' ? each.maxWidth : sum), 0);
    code.open(`function ${name}(it, bits) {`);
    code.line(`if ((bits & 7) !== 0) return ${unit.errorOf('ParserInvalidArgument')};`);
    code.line('const start = at;');
    code.line('const extra = bits >>> 3;');
    code.line(`if (end - start < ${length} + extra) return ${unit.errorOf('PacketTooShort')};`);
    code.line(`if (bits > ${most}) return ${unit.errorOf('HeaderTooShort')};`);
    let offset = 0;
    let base = 'start';
    for (const field of type.fields) {
      if (field.type.kind === 'varbit') {
        const from = plus(base, offset >> 3);
        code.line(`${unit.helper('loadVarbit')}(it.${propertyOf(field.name)}, bytes, ${from}, ${offset & 7}, bits);`);
        // Fields behind it are as far from the bytes of the varbit as before.
        code.line('const behind = start + extra;');
        base = 'behind';
        continue;
      }
      offset = loadField(unit, code, type, field, 'it', base, offset);
    }
    code.lines('it.$valid = true;', 'it.$touched = true;');
    code.line(`at = start + ${length} + extra;`);
    code.line('return 0;');
    code.close();
  });
}

/** The bits of a scalar field, to be written. */
function fieldItem(unit: Unit, code: Code, owner: StructDataType, { name, type }: IrField, object: string): Item {
  const targets = unit.types.fieldNames(owner, name, type).map((each) => `${object}.${each}`);
  const [first = ''] = targets;
  if (type.kind === 'bool') return { words: [`(${first} ? 1 : 0)`], width: 1, isCut: true };
  const { width, isSigned } = bitsOf(type);
  if (width <= WORDS_WIDTH) return { words: targets, width, isCut: width > NUMBER_WIDTH || !isSigned };
  const count = (width + 31) >>> 5;
  code.line(`${unit.helper('splitWords')}(${first}, ${count});`);
  const words = Array.from({ length: count }, (_, index) => {
    const temporary = unit.temporary();
    code.line(`const ${temporary} = ${unit.helper('word')}[${index}];`);
    return temporary;
  });
  return { words, width, isCut: false };
}

/** The bits of a field; for a struct within a header, those of all its fields. */
function fieldItems(unit: Unit, code: Code, owner: StructDataType, field: IrField, object: string): readonly Item[] {
  const { name, type } = field;
  if (type.kind !== 'struct') return [fieldItem(unit, code, owner, field, object)];
  return type.fields.flatMap((each) => fieldItems(unit, code, type, each, `${object}.${propertyOf(name)}`));
}

/** Name of a function that appends the valid headers of a value to the output. */
export function emitFunction(unit: Unit, type: AggregateType): string {
  return unit.types.once(`emit ${typeKey(type)}`, `${typeKey(type)}$emit`, (name, code) => {
    code.open(`function ${name}(it) {`);
    if (type.kind === 'header') emitHeader(unit, type, code);
    else if (type.kind === 'stack') {
      code.line(`for (let i = 0; i < it.$used; i++) ${emitFunction(unit, type.element)}(it.items[i]);`);
    } else if (type.kind !== 'varbit') {
      for (const field of type.fields) {
        if (isAggregate(field.type) && hasHeaders(field.type)) {
          code.line(`${emitFunction(unit, field.type)}(it.${propertyOf(field.name)});`);
        }
      }
    }
    code.close();
  });
}

function emitHeader(unit: Unit, type: StructDataType, code: Code): void {
  const length = fixedWidth(type) >> 3;
  const varbit = type.fields.find((field) => field.type.kind === 'varbit');
  code.line('if (!it.$valid) return;');
  code.line('const start = position;');
  const extra = varbit === undefined ? '' : ` + (it.${propertyOf(varbit.name)}.bits >>> 3)`;
  // An unaligned varbit touches one byte more.
  code.line(`const target = ${unit.helper('growOutput')}(output, start, ${length + (varbit ? 1 : 0)}${extra});`);
  let items: Item[] = [];
  let base = 'start';
  let offset = 0;
  let first = 0;
  let joins = false;
  const flush = (): void => {
    for (const [index, byte] of packBytes(items, first & 7).entries()) {
      const place = `target[${plus(base, (first >> 3) + index)}]`;
      code.line(`${place} ${joins && index === 0 && (first & 7) !== 0 ? '|=' : '='} ${byte};`);
    }
    items = [];
    first = offset;
  };
  for (const field of type.fields) {
    if (field.type.kind === 'varbit') {
      flush();
      const from = plus(base, offset >> 3);
      code.line(`${unit.helper('storeVarbit')}(it.${propertyOf(field.name)}, target, ${from}, ${offset & 7});`);
      code.line(`const behind = start${extra};`);
      base = 'behind';
      // The first bits after it go into the byte that the bits before it, or its own last bits, began.
      joins = true;
      continue;
    }
    items.push(...fieldItems(unit, code, type, field, 'it'));
    offset += fixedWidth(field.type);
  }
  flush();
  code.line(`position = start + ${length}${extra};`);
}
