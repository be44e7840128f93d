import type { Expression } from '../ir/program.js';
import { isCall, someExpression } from '../ir/walk.js';
import { expressionValue, keptValue, referenceOf } from './expressions.js';
import { propertyOf } from './names.js';
import { type AggregatePlace, aggregatePlace, memberOf, objectPlace, ownMark, placeOf, writePlace } from './places.js';
import type { Routine } from './routine.js';
import { headerBits } from './type-code.js';

/** `target = value`. The target's indices are evaluated first. */
export function assign(routine: Routine, target: Expression, value: Expression): void {
  const place = placeOf(routine, target);
  if (place.kind === 'aggregate') assignAggregate(routine, place, value);
  else writePlace(routine, place, expressionValue(routine, value));
}

/** Copies a value into an aggregate's place. */
export function assignAggregate(routine: Routine, place: AggregatePlace, value: Expression): void {
  if (value.kind === 'default') {
    assignDefault(routine, place);
    return;
  }
  if (value.kind !== 'aggregate') {
    copyInto(routine, place, referenceOf(routine, value));
    return;
  }
  if (place.type.kind === 'varbit' || place.type.kind === 'union')
    throw new TypeError(`no list for a ${place.type.kind}`);
  const isTold = value.elements.some((each) => mayRead(routine, each));
  // All elements are read before the first is written, if one of them reads what is written.
  const values = isTold
    ? value.elements.map((each) => keptValue(routine, each.type, expressionValue(routine, each)))
    : [];
  // A header that a list is assigned to becomes valid, and counts for the packet's length.
  if (place.type.kind === 'header') setValidity(routine, place, true, false);
  for (const [index, element] of value.elements.entries()) {
    const part = partOf(routine, place, index);
    const kept = values[index];
    if (part.kind !== 'aggregate') writePlace(routine, part, kept ?? expressionValue(routine, element));
    else if (kept?.kind === 'aggregate') copyInto(routine, part, kept.code);
    else assignAggregate(routine, part, element);
  }
  if (place.type.kind === 'stack') routine.code.line(`${place.code}.next = 0;`);
}

/** Whether an expression may read an aggregate that is being written: only scalars are certain not to. */
function mayRead(routine: Routine, expression: Expression): boolean {
  return someExpression(expression, (each) =>
    each.kind === 'variable' ? routine.unit.homeOf(each.variable).kind === 'aggregate' : isCall(each),
  );
}

function partOf(routine: Routine, place: AggregatePlace, index: number): ReturnType<typeof memberOf> {
  const { type } = place;
  if (type.kind === 'stack') {
    const code = `${place.code}.items[${index}]`;
    const marks = [...place.marks, `${place.code}.$used = ${type.size};`];
    return objectPlace(type.element, code, false, marks, { isTemporary: place.isTemporary });
  }
  if (type.kind === 'varbit') throw new TypeError('varbit has no fields');
  const field = type.fields[index];
  if (field === undefined) throw new TypeError(`${type.name} has no field ${index}`);
  return memberOf(routine.unit, place, field.name, field.type);
}

/**
 * Copies an object into a place. For a member of a union, the union's rules apply. With `what` as `move`, fields of
 * invalid headers are copied as well.
 */
export function copyInto(routine: Routine, place: AggregatePlace, from: string, what: 'copy' | 'move' = 'copy'): void {
  const { types } = routine.unit;
  routine.code.forgetMarks();
  routine.code.line(`${types.functionOf(what, place.type)}(${place.code}, ${from});`);
  // The function has already marked the object itself.
  routine.mark(place.marks.filter((each) => each !== ownMark(place.code)));
  // A valid header makes the others of its union invalid; an invalid one makes the union invalid.
  invalidateOthers(routine, place);
}

/** Makes the other members of a union invalid. */
export function invalidateOthers(routine: Routine, { membership }: AggregatePlace): void {
  if (membership === undefined) return;
  for (const { name } of membership.type.fields) {
    if (name !== membership.field) routine.code.line(`${membership.union}.${propertyOf(name)}.$valid = false;`);
  }
}

/** Zeros; headers become invalid. */
function assignDefault(routine: Routine, place: AggregatePlace): void {
  const { types } = routine.unit;
  routine.code.forgetMarks();
  if (place.type.kind === 'header' || place.type.kind === 'union') {
    routine.code.line(`${types.functionOf('invalidate', place.type)}(${place.code});`);
    invalidateOthers(routine, place);
  } else routine.code.line(`${types.functionOf('clear', place.type)}(${place.code});`);
}

/**
 * `setValid` and `setInvalid`. `isZeroed`: sets a header to zero that was invalid, which is needless if all its fields
 * are written next. The change counts for the length of the packet.
 */
export function setValidity(routine: Routine, place: AggregatePlace, isValid: boolean, isZeroed: boolean): void {
  const { code, unit } = routine;
  if (place.type.kind === 'union') {
    for (const field of place.type.fields) code.line(`${place.code}.${propertyOf(field.name)}.$valid = ${isValid};`);
    routine.mark(place.marks);
    return;
  }
  if (place.type.kind !== 'header') throw new TypeError('only headers and unions are valid');
  code.open(`if (${isValid ? '!' : ''}${place.code}.$valid) {`);
  if (isValid && isZeroed) code.line(`${unit.types.functionOf('zero', place.type)}(${place.code});`);
  code.line(`${place.code}.$valid = ${isValid};`);
  if (isValid) routine.mark(place.marks);
  const change = `${isValid ? '+' : '-'}= ${headerBits(place.type, place.code)}`;
  if (!place.isTemporary) code.line(`requests.lengthChange ${change};`);
  code.close();
  invalidateOthers(routine, place);
}

/** Moves the elements of a stack. New elements are invalid. */
export function pushOrPop(routine: Routine, { stack: target, method, count }: Expression<'push-pop'>): void {
  const { code, unit } = routine;
  const stack = aggregatePlace(routine, target);
  const isPush = method === 'push_front';
  const { type } = stack;
  if (type.kind !== 'stack') throw new TypeError('only stacks are pushed');
  const move = unit.types.functionOf('move', type.element);
  const invalidate = unit.types.functionOf('invalidate', type.element);
  const { size } = type;
  const items = routine.keep(`${stack.code}.items`);
  const shift = Math.min(count, size);
  code.forgetMarks();
  routine.mark(stack.marks);
  // Elements from `$used` on are still new and need not be moved.
  const used = routine.keep(isPush ? `Math.min(${size}, ${stack.code}.$used + ${shift})` : `${stack.code}.$used`);
  if (isPush) {
    code.line(`for (let i = ${used} - 1; i >= ${shift}; i--) ${move}(${items}[i], ${items}[i - ${shift}]);`);
    code.line(`for (let i = 0; i < ${shift}; i++) ${invalidate}(${items}[i]);`);
    code.line(`${stack.code}.$used = ${used};`);
    code.line(`${stack.code}.next = Math.min(${size}, ${stack.code}.next + ${count});`);
  } else {
    code.line(`for (let i = 0; i < ${used} && i < ${size - shift}; i++) ${move}(${items}[i], ${items}[i + ${shift}]);`);
    code.line(`for (let i = ${size - shift}; i < ${used}; i++) ${invalidate}(${items}[i]);`);
    code.line(`${stack.code}.next = Math.max(0, ${stack.code}.next - ${count});`);
  }
  code.forgetMarks();
}
