import type { DataType, Expression, IrArgument, Table, TableKey } from '../ir/program.js';
import { hasEffects } from './analysis.js';
import { callRoutine } from './calls.js';
import { decided, once } from './definedness.js';
import { expressionValue } from './expressions.js';
import { aggregatePlace, enclosingHeader } from './places.js';
import { Routine } from './routine.js';
import { bitsOf, isAggregate, WORDS_WIDTH } from './storage.js';
import { traceTable } from './trace.js';
import { shortName, type Unit } from './unit.js';
import { atom, booleanOf, mapCodes, type Value, wrapBig } from './value.js';

/** Applies a table. With `isNeeded`, returns the name of the lookup's result (hit, action). */
export function applyTable(routine: Routine, table: Table, isNeeded: boolean): string {
  const { unit, code } = routine;
  const name = tableFunction(unit, table);
  const mayExit = unit.analysis.mayExit(table);
  let result = '';
  if (isNeeded) result = routine.keep(`${name}()`);
  else code.line(`${name}();`);
  if (mayExit) code.line('if (exited) return;');
  return result;
}

/**
 * Name of the function that applies a table: it looks up the keys, runs the action, and returns the lookup's result.
 */
function tableFunction(unit: Unit, table: Table): string {
  return unit.callable(table, `apply_${shortName(table.name)}`, (name) => {
    const routine = new Routine(unit, table);
    const { code } = routine;
    code.open(`function ${name}() {`);
    const keys = keyValues(routine, table.keys);
    const isTraced = unit.options.trace === true;
    const kept = isTraced ? keys.map((each) => routine.keepValue(each)) : keys;
    code.line(`const entry = ${found(routine, table, kept)};`);
    const ready = isTraced ? kept.map((each) => routine.pattern(each)) : [];
    traceTable(routine, table, ready);
    const cases = routine.capture(() => {
      for (const [index, { action, bound }] of table.actions.entries()) {
        const given = bound.map((value, position): IrArgument => {
          return { direction: action.parameters[position]?.direction ?? 'in', value };
        });
        const body = routine.capture(() => {
          const parameters = action.parameters.slice(bound.length).map(({ variable }) => variable.type);
          callRoutine(routine, action, given, dataArguments(parameters));
        });
        routine.code.open(`case ${index}: {`);
        routine.code.append(body.code);
        // After `exit` in an action the table's function returns as well, and its result is unused.
        routine.code.line('break;');
        routine.code.close();
      }
    });
    if (!cases.code.isEmpty) {
      code.open('switch (entry.action) {');
      code.append(cases.code);
      code.close();
    }
    code.line('return entry;');
    code.close();
    unit.functions.append(code);
  });
}

/** Code of the lookup's result. Without entries it is known, unless a key must be evaluated for what it does beside. */
function found(routine: Routine, table: Table, keys: readonly Value[]): string {
  const { unit } = routine;
  const code = lookup(routine, table, keys);
  // The second run gets the result of the first, when the table may have been applied again.
  if (unit.undefinedValues !== undefined) return once(routine, `${code}.copy()`);
  const isPlain = unit.options.trace !== true && !table.keys.some(({ expression }) => hasEffects(expression));
  if (!isPlain) return code;
  const name = unit.tableName(table);
  const isCounted = table.counter !== undefined || table.meter !== undefined;
  return isCounted ? `${name}.isEmpty ? ${name}.miss() : ${code}` : `${name}.empty ?? ${code}`;
}

/** Code of the lookup. It passes keys as words if the table accepts them, to avoid bigints for wide keys. */
function lookup(routine: Routine, table: Table, keys: readonly Value[]): string {
  const name = routine.unit.tableName(table);
  if (table.keys.some((each) => each.matchKind === 'selector')) {
    return `${name}.lookup(${keys.map((each) => routine.pattern(each)).join(', ')})`;
  }
  const words = keys.flatMap((each) =>
    each.kind === 'number' || each.kind === 'boolean' ? [routine.pattern(each)] : routine.packedWords(unsigned(each)),
  );
  return `${name}.lookupWords(${words.join(', ')})`;
}

/** A wide value's bit pattern. */
function unsigned(value: Value): Value {
  if (value.kind !== 'big' || !value.isSigned) return value;
  return { ...value, code: wrapBig(value.code, value.width, false), isSigned: false };
}

/** JavaScript arguments for the data parameters, from an entry. */
function dataArguments(types: readonly DataType[]): readonly string[] {
  const codes: string[] = [];
  let word = 0;
  for (const [position, type] of types.entries()) {
    if (isAggregate(type)) throw new TypeError('action data are scalars');
    const { width } = bitsOf(type);
    const count = Math.max(1, (width + 31) >>> 5);
    if (type.kind === 'bool') codes.push(`entry.words[${word}] !== 0`);
    else if (width > WORDS_WIDTH) codes.push(`entry.data[${position}]`);
    else if (width === 32 && !(type.kind === 'bits' && type.isSigned)) codes.push(`(entry.words[${word}] >>> 0)`);
    else for (let index = 0; index < count; index++) codes.push(`entry.words[${word + index}]`);
    word += count;
  }
  return codes;
}

/** The keys' values, from left to right. */
function keyValues(routine: Routine, keys: readonly TableKey[]): readonly Value[] {
  return keys.map(({ expression }, index) => {
    const value = decided(routine, 'table key', expression, keyValue(routine, expression));
    return keys.slice(index + 1).some((each) => hasEffects(each.expression)) ? routine.keepValue(value) : value;
  });
}

/** A field of a header that is invalid matches as 0. */
function keyValue(routine: Routine, expression: Expression): Value {
  const header = expression.kind === 'member' ? enclosingHeader(expression) : undefined;
  const value = expressionValue(routine, expression);
  if (header === undefined || routine.unit.undefinedValues !== undefined) return value;
  const valid = `${aggregatePlace(routine, header).code}.$valid`;
  if (value.kind === 'boolean') return booleanOf(`(${valid} && ${value.code})`);
  const zero = value.kind === 'big' ? '0n' : '0';
  return mapCodes(value, (code) => `(${valid} ? ${atom(code)} : ${zero})`);
}
