/** Additional code for poison mode: it compares reads and decisions between the two runs. */
import type { Expression } from '../ir/program.js';
import type { Span } from '../source/position.js';
import type { Place, ScalarPlace } from './places.js';
import type { Routine } from './routine.js';
import { describe } from './trace.js';
import { atom, mapCodes, type Value } from './value.js';

/** Characters of the program's text that stand for an expression. */
const MAX_TEXT = 80;

/** An expression as it stands in the program. */
function textOf({ span, kind }: Expression): string {
  const text = span.file.text.slice(span.start, span.end).replace(/\s+/g, ' ').trim();
  if (text === '') return kind;
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT - 3)}...` : text;
}

/**
 * The value of a scalar, as read in poison mode: a random value for a field of an invalid header. Elsewhere the value
 * itself.
 */
export function observed(routine: Routine, expression: Expression, place: Place, value: Value): Value {
  const { undefinedValues } = routine.unit;
  if (undefinedValues === undefined || place.kind !== 'scalar') return value;
  return observedField(routine, place, value, describe(expression), expression.span);
}

/** As `observed`, of a field that no expression stands for. */
export function observedField(routine: Routine, place: ScalarPlace, value: Value, what: string, span: Span): Value {
  const { unit } = routine;
  if (unit.undefinedValues === undefined) return value;
  const { header, type } = place;
  const random = unit.undefinedValues.codes(type, false);
  const number = unit.readPlace({ use: '', what, span });
  return mapCodes(value, (code, word) => {
    const read = header === undefined ? code : `${header}.$valid ? ${atom(code)} : ${random[word] ?? '0'}`;
    return routine.keep(`poison.read(${number}, ${read})`);
  });
}

/** A value that a decision depends on: poison mode demands that it is defined. */
export function decided(routine: Routine, use: string, expression: Expression, value: Value): Value {
  return decidedAs(routine, use, textOf(expression), expression.span, value);
}

/** As `decided`, with the words for the report. */
export function decidedAs(routine: Routine, use: string, what: string, span: Span, value: Value): Value {
  const { unit } = routine;
  if (unit.undefinedValues === undefined) return value;
  const number = unit.readPlace({ use, what, span });
  return mapCodes(value, (code) => (isConstant(code) ? code : routine.keep(`poison.decide(${number}, ${code})`)));
}

function isConstant(code: string): boolean {
  return /^(-?\d+n?|true|false)$/.test(code);
}

/** Code of a comparison of values. In poison mode the result is undefined if the operands are. */
export function comparison(routine: Routine, code: string, ...operands: readonly Value[]): string {
  if (routine.unit.undefinedValues === undefined) return code;
  const codes = operands.flatMap((each): readonly string[] => {
    if (each.kind === 'words') return each.words;
    return each.kind === 'number' || each.kind === 'big' || each.kind === 'boolean' ? [each.code] : [];
  });
  const variable = codes.filter((each) => !isConstant(each));
  return variable.length === 0 ? code : routine.keep(`poison.test(${[code, ...variable].join(', ')})`);
}

/** Code with effects beyond the packet: in poison mode only the first run has them. */
export function once(routine: Routine, code: string): string {
  if (routine.unit.undefinedValues === undefined) return code;
  return `poison.isFirst ? poison.keep(${code}) : poison.kept()`;
}

/** A statement with effects beyond the packet. */
export function onceStatement(routine: Routine, code: string): string {
  return routine.unit.undefinedValues === undefined ? code : `if (poison.isFirst) ${code}`;
}
