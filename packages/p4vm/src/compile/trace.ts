import type { DataType, Expression, StructDataType, Table } from '../ir/program.js';
import { propertyOf } from './names.js';
import { placeOf, readPlace } from './places.js';
import type { Routine } from './routine.js';
import { hasHeaders, isAggregate } from './storage.js';
import { headerBits } from './type-code.js';

/** Writes the report of an event, in code that is compiled for tracing. `properties` is the inside of an object literal. */
export function traceEvent(routine: Routine, properties: string): void {
  if (routine.unit.options.trace !== true) return;
  routine.code.line(`if (runtime.trace !== undefined) runtime.trace.event({ ${properties} });`);
}

/** An l-value as text, with `?` for run-time indices. */
export function describe(expression: Expression): string {
  switch (expression.kind) {
    case 'variable':
      return expression.variable.name;
    case 'member':
      return `${describe(expression.base)}.${expression.field}`;
    case 'element':
      return `${describe(expression.base)}[${expression.index.kind === 'constant' ? expression.index.value : '?'}]`;
    case 'stack-next':
      return `${describe(expression.base)}.next`;
    case 'stack-last':
      return `${describe(expression.base)}.last`;
    case 'slice':
      return `${describe(expression.base)}[${expression.high}:${expression.low}]`;
    default:
      return expression.kind;
  }
}

/** Reports the present value of a target, or `value` (code) instead. */
export function traceValue(routine: Routine, target: Expression, value?: string): void {
  if (routine.unit.options.trace !== true) return;
  let code = value;
  if (code === undefined) {
    if (isAggregate(target.type)) code = `'copied'`;
    // Evaluating an index anew would count its faults twice.
    else if (hasRuntimeIndex(target)) code = `'written'`;
    else code = routine.runtimeValue(readPlace(routine, placeOf(routine, target)));
  }
  traceEvent(routine, `kind: 'assign', target: ${JSON.stringify(describe(target))}, value: ${code}`);
}

function hasRuntimeIndex(target: Expression): boolean {
  switch (target.kind) {
    case 'element':
      return target.index.kind !== 'constant' || hasRuntimeIndex(target.base);
    case 'member':
    case 'slice':
      return hasRuntimeIndex(target.base);
    case 'variable':
      return false;
    default:
      return true;
  }
}

export function traceExtern(routine: Routine, call: string): void {
  traceEvent(routine, `kind: 'extern', call: ${JSON.stringify(call)}`);
}

export function traceExtract(routine: Routine, header: Expression, type: StructDataType, code: string): void {
  traceEvent(routine, `kind: 'extract', header: ${JSON.stringify(describe(header))}, bits: ${headerBits(type, code)}`);
}

/** Reports the headers that `emit` writes, each by its own name. */
export function traceEmit(routine: Routine, value: Expression, object: string): void {
  if (routine.unit.options.trace === true) traceHeaders(routine, value.type, describe(value), object);
}

function traceHeaders(routine: Routine, type: DataType, name: string, object: string): void {
  if (!isAggregate(type) || !hasHeaders(type) || type.kind === 'varbit') return;
  if (type.kind === 'header') {
    routine.code.open(`if (${object}.$valid) {`);
    const bits = `${routine.unit.types.functionOf('bits', type)}(${object})`;
    traceEvent(routine, `kind: 'emit', header: ${JSON.stringify(name)}, bits: ${bits}`);
    routine.code.close();
  } else if (type.kind === 'stack') {
    for (let index = 0; index < type.size; index++) {
      traceHeaders(routine, type.element, `${name}[${index}]`, `${object}.items[${index}]`);
    }
  } else {
    for (const field of type.fields) {
      traceHeaders(routine, field.type, `${name}.${field.name}`, `${object}.${propertyOf(field.name)}`);
    }
  }
}

/** Reports the result of a table's lookup. `keys` are codes of the key values. */
export function traceTable(routine: Routine, table: Table, keys: readonly string[]): void {
  if (routine.unit.options.trace !== true) return;
  const { unit } = routine;
  const names = JSON.stringify(table.actions.map((each) => each.action.name));
  const actions = unit.constant(`actions of ${table.id}`, `actions_${table.id}`, names);
  const list = keys.map((code, index) => `{ name: ${JSON.stringify(table.keys[index]?.name ?? '')}, value: ${code} }`);
  traceEvent(
    routine,
    `kind: 'table', table: ${JSON.stringify(table.name)}, keys: [${list.join(', ')}], hit: entry.isHit, ` +
      `handle: entry.handle, action: ${actions}[entry.action], data: entry.data`,
  );
}
