import type { Expression } from '../ir/program.js';
import type { Span } from '../source/position.js';
import { invalidateOthers } from './assign.js';
import { loadBits } from './bits.js';
import { decidedAs } from './definedness.js';
import { decidedValue, referenceOf } from './expressions.js';
import {
  emitFunction,
  extractFunction,
  extractVariableFunction,
  joinedWords,
  loadWords,
  lookaheadFunction,
} from './headers.js';
import { type AggregatePlace, aggregatePlace, leavesOf, objectPlace, ownMark, readPlace } from './places.js';
import type { Routine } from './routine.js';
import { bitsOf, fixedWidth, hasHeaders, isAggregate, NUMBER_WIDTH, WORDS_WIDTH } from './storage.js';
import { describe, traceEmit, traceExtract } from './trace.js';
import { refuse } from './unit.js';
import { bigOf, booleanOf, cutTop, NOTHING, numberOf, type Value, wordsOf, wrapNumber } from './value.js';

type PacketCall = Expression<'call-packet'>;

/** Methods of packet_in and packet_out. */
export function callPacket(routine: Routine, expression: PacketCall): Value {
  switch (expression.method) {
    case 'extract':
      extract(routine, expression);
      return NOTHING;
    case 'advance':
      advance(routine, expression);
      return NOTHING;
    case 'lookahead':
      return lookahead(routine, expression);
    case 'length':
      return numberOf('input.length', 32);
    case 'emit': {
      const [argument] = expression.arguments;
      if (argument?.value === undefined || !isAggregate(argument.value.type)) throw new TypeError('emit of no header');
      const { type } = argument.value;
      checkAligned(type, expression);
      if (!hasHeaders(type)) return NOTHING;
      const object = referenceOf(routine, argument.value);
      traceEmit(routine, argument.value, object);
      checkEmitted(routine, objectPlace(type, object, false), describe(argument.value), argument.value.span);
      routine.code.line(`${emitFunction(routine.unit, type)}(${object});`);
      return NOTHING;
    }
  }
}

/** In poison mode: checks that all fields of the emitted headers are defined. */
function checkEmitted(routine: Routine, place: AggregatePlace, what: string, span: Span): void {
  const { unit, code } = routine;
  if (unit.undefinedValues === undefined) return;
  let header: string | undefined;
  const begin = (next: string | undefined): void => {
    if (header !== undefined) code.close();
    if (next !== undefined) code.open(`if (${next}.$valid) {`);
    header = next;
  };
  for (const { place: part, what: name } of leavesOf(unit, place, what)) {
    // Only headers are emitted.
    if (part.kind !== 'scalar' || part.header === undefined) continue;
    if (part.header !== header) begin(part.header);
    decidedAs(routine, 'emit', name, span, readPlace(routine, part));
  }
  begin(undefined);
}

/** Bytes of the longest header: as many as the longest IP packet has. */
const MAX_HEADER = 65_535;

/** Headers in packets are whole bytes, as the reference compiler demands. */
function checkAligned(type: PacketCall['type'], at: Pick<PacketCall, 'span'>): void {
  const { span } = at;
  if (type.kind === 'header') {
    if (type.fields.filter((field) => field.type.kind === 'varbit').length > 1) {
      refuse('two-varbits', span, `header ${type.name} has more than one varbit field`);
    }
    if (fixedWidth(type) > 8 * MAX_HEADER) {
      refuse('header-too-large', span, `header ${type.name} is longer than ${MAX_HEADER} bytes`);
    }
    if ((fixedWidth(type) & 7) !== 0) {
      const message = `header ${type.name} has ${fixedWidth(type)} bits, no whole number of bytes`;
      refuse('header-not-byte-aligned', span, message);
    }
  } else if (type.kind === 'stack') checkAligned(type.element, at);
  else if (type.kind === 'struct' || type.kind === 'union') {
    for (const field of type.fields) checkAligned(field.type, at);
  }
}

function failing(routine: Routine, { span }: PacketCall): (error: number) => string {
  return routine.fail ?? refuse('packet-outside-parser', span, 'a packet can be read in parsers only');
}

function extract(routine: Routine, expression: PacketCall): void {
  const fail = failing(routine, expression);
  const { unit, code } = routine;
  const [header, size] = expression.arguments;
  if (header?.value === undefined) throw new TypeError('extract into nothing');
  const place = aggregatePlace(routine, header.value);
  const { type } = place;
  if (type.kind !== 'header') throw new TypeError('extract of no header');
  checkAligned(type, expression);
  if (size?.value === undefined) {
    code.line(`if (!${extractFunction(unit, type)}(${place.code})) ${fail(unit.errorOf('PacketTooShort'))}`);
  } else {
    const bits = routine.index(decidedValue(routine, 'extract', size.value));
    const result = routine.keep(`${extractVariableFunction(unit, type)}(${place.code}, ${bits})`);
    code.line(`if (${result} !== 0) return ${result};`);
  }
  routine.mark(place.marks.filter((each) => each !== ownMark(place.code)));
  if (place.nextOf !== undefined) {
    code.line(`${place.nextOf}.next++;`);
    code.forgetMarks();
  }
  invalidateOthers(routine, place);
  traceExtract(routine, header.value, type, place.code);
}

function advance(routine: Routine, expression: PacketCall): void {
  const fail = failing(routine, expression);
  const { unit, code } = routine;
  const [amount] = expression.arguments;
  if (amount?.value === undefined) throw new TypeError('advance by nothing');
  const value = decidedValue(routine, 'advance', amount.value);
  const bits = routine.keep(routine.index(value));
  code.line(`if ((${bits} & 7) !== 0) ${fail(unit.errorOf('ParserInvalidArgument'))}`);
  code.line(`if (end - at < ${bits} >>> 3) ${fail(unit.errorOf('PacketTooShort'))}`);
  code.line(`at += ${bits} >>> 3;`);
}

function lookahead(routine: Routine, expression: PacketCall): Value {
  const fail = failing(routine, expression);
  const { unit, code } = routine;
  const { type } = expression;
  const tooShort = fail(unit.errorOf('PacketTooShort'));
  if (isAggregate(type)) {
    const object = unit.temporaryObject(type);
    code.line(`if (!${lookaheadFunction(unit, type)}(${object})) ${tooShort}`);
    return { kind: 'aggregate', code: object };
  }
  const { width, isSigned } = bitsOf(type);
  if (width === 0) return numberOf('0', width, isSigned);
  code.line(`if (end - at < ${(width + 7) >> 3}) ${tooShort}`);
  if (type.kind === 'bool') return booleanOf(routine.keep(`(${loadBits('at', 0, 1)}) !== 0`));
  if (width <= NUMBER_WIDTH) {
    return numberOf(routine.keep(wrapNumber(loadBits('at', 0, width), width, isSigned)), width, isSigned);
  }
  const words = cutTop(loadWords('at', 0, width), width).map((each) => routine.keep(each));
  if (width <= WORDS_WIDTH) return wordsOf(words, width, isSigned);
  return bigOf(routine.keep(joinedWords(unit, code, words, width, isSigned)), width, isSigned);
}
