import type { Expression, Statement } from '../ir/program.js';
import { assign, assignAggregate, copyInto } from './assign.js';
import { resultWord } from './calls.js';
import { type Costs, steps } from './costs.js';
import { decided } from './definedness.js';
import { decidedCondition, expressionValue, keptValue, referenceOf } from './expressions.js';
import { asBits, compare } from './operators.js';
import { aggregatePlace, objectPlace, placeOf, writePlace } from './places.js';
import type { Loop, Routine } from './routine.js';
import { bitsOf, isAggregate, NUMBER_WIDTH, WORDS_WIDTH } from './storage.js';
import { applyTable } from './tables.js';
import { traceValue } from './trace.js';
import { atom, type Value } from './value.js';

export function writeStatement(routine: Routine, statement: Statement): void {
  const { budget } = routine.unit;
  budget.enter(statement.span);
  writeKind(routine, statement);
  budget.leave();
}

function writeKind(routine: Routine, statement: Statement): void {
  const { code } = routine;
  switch (statement.kind) {
    case 'block':
      for (const each of statement.statements) writeStatement(routine, each);
      return;
    case 'declare':
      declare(routine, statement);
      return;
    case 'assign':
      assign(routine, statement.target, statement.value);
      traceValue(routine, statement.target);
      return;
    case 'evaluate':
      expressionValue(routine, statement.expression);
      return;
    case 'if': {
      const condition = decidedCondition(routine, 'condition', statement.condition);
      code.open(`if (${condition}) {`);
      writeStatement(routine, statement.whenTrue);
      if (statement.whenFalse !== undefined) {
        code.turn('} else {');
        writeStatement(routine, statement.whenFalse);
      }
      code.close();
      return;
    }
    case 'return':
      writeReturn(routine, statement.value);
      return;
    case 'exit':
      code.line('exited = true;');
      code.line('return;');
      return;
    case 'switch-action':
      switchAction(routine, statement);
      return;
    case 'switch-value':
      switchValue(routine, statement);
      return;
    case 'for':
      loopWhile(routine, statement);
      return;
    case 'for-range':
      loopOverRange(routine, statement);
      return;
    case 'for-elements':
      loopOverElements(routine, statement);
      return;
    case 'break':
      code.line(`break ${innermost(routine).label};`);
      return;
    case 'continue':
      code.line(`break ${innermost(routine).bodyLabel};`);
  }
}

function innermost(routine: Routine): Loop {
  const loop = routine.loops.at(-1);
  if (loop === undefined) throw new TypeError('break outside of a loop');
  return loop;
}

function declare(routine: Routine, { variable, value, span }: Statement<'declare'>): void {
  const target: Expression = { kind: 'variable', type: variable.type, variable, span };
  if (value !== undefined) {
    assign(routine, target, value);
    traceValue(routine, target);
  } else if (isAggregate(variable.type)) {
    const place = aggregatePlace(routine, target);
    if (place.type.kind !== 'varbit') {
      const what = routine.unit.undefinedValues === undefined ? 'invalidate' : 'zero';
      routine.code.line(`${routine.unit.types.functionOf(what, place.type)}(${place.code});`);
    }
  } else {
    const home = routine.unit.homeOf(variable);
    // Outside of poison mode the variable keeps its value from the previous turn of the loop.
    if (routine.unit.undefinedValues !== undefined && home.kind === 'scalar') routine.initialise(home, variable.type);
  }
}

function writeReturn(routine: Routine, value: Expression | undefined): void {
  const { code, unit, callable } = routine;
  if (value === undefined) {
    code.line('return;');
    return;
  }
  const { type } = value;
  if (isAggregate(type)) {
    const owner = unit.callable(callable, '', () => undefined);
    const room = unit.constant(`result of ${owner}`, 'result', unit.types.create(type));
    assignAggregate(routine, objectPlace(type, room, true, [], { isTemporary: true }), value);
    code.line(`return ${room};`);
    return;
  }
  const result = expressionValue(routine, value);
  const { width } = bitsOf(type);
  if ((type.kind === 'bits' && width <= NUMBER_WIDTH) || width > WORDS_WIDTH || type.kind !== 'bits') {
    code.line(`return ${returned(routine, result, width)};`);
    return;
  }
  const words = routine.words(asBits(result), width).map((each) => routine.keep(each));
  for (const [index, each] of words.entries()) if (index > 0) code.line(`${resultWord(routine, index)} = ${each};`);
  code.line(`return ${words[0] ?? '0'};`);
}

function returned(routine: Routine, value: Value, width: number): string {
  if (value.kind === 'void') return 'undefined';
  if (width > WORDS_WIDTH) return routine.big(value);
  if (value.kind === 'words') throw new TypeError('words for a narrow result');
  return value.code;
}

function switchAction(routine: Routine, statement: Statement<'switch-action'>): void {
  const { code } = routine;
  const entry = applyTable(routine, statement.table, true);
  code.open(`switch (${entry}.action) {`);
  for (const { action, body } of statement.cases) {
    code.open(`case ${action}: {`);
    writeStatement(routine, body);
    code.line('break;');
    code.close();
  }
  if (statement.otherwise !== undefined) {
    code.open('default: {');
    writeStatement(routine, statement.otherwise);
    code.close();
  }
  code.close();
}

function switchValue(routine: Routine, statement: Statement<'switch-value'>): void {
  const { code } = routine;
  const { type } = statement.subject;
  const value = keptValue(routine, type, expressionValue(routine, statement.subject));
  const subject = decided(routine, 'switch', statement.subject, value);
  let isFirst = true;
  for (const { values, body } of statement.cases) {
    const tests = values.map((each) => equality(routine, subject, expressionValue(routine, each)));
    const test = tests.map((each) => (tests.length > 1 ? `(${each})` : each)).join(' || ');
    if (isFirst) code.open(`if (${test}) {`);
    else code.turn(`} else if (${test}) {`);
    isFirst = false;
    writeStatement(routine, body);
  }
  if (statement.otherwise !== undefined) {
    if (isFirst) code.open('{');
    else code.turn('} else {');
    isFirst = false;
    writeStatement(routine, statement.otherwise);
  }
  if (!isFirst) code.close();
}

/** Code of `a == b` for scalars of one type. */
export function equality(routine: Routine, a: Value, b: Value): string {
  if (a.kind === 'boolean' && b.kind === 'boolean') return `${atom(a.code)} === ${atom(b.code)}`;
  return compare(routine, '==', asBits(a), asBits(b));
}

/** Writes a loop's body so that `continue` can leave it. */
function writeBody(routine: Routine, body: Statement, loop: Loop): void {
  routine.loops.push(loop);
  const inner = routine.capture(() => writeStatement(routine, body));
  routine.loops.pop();
  routine.code.open(`${loop.bodyLabel}: {`);
  routine.code.append(inner.code);
  routine.code.close();
}

/** Takes the steps of a turn from those of the packet. A packet without steps leaves all its loops and is dropped. */
function countTurn(routine: Routine, loop: Parameters<Costs['turn']>[0]): void {
  const cost = steps(routine.unit.costs.turn(loop));
  routine.code.line(`if ((work.left -= ${cost}) < 0) break;`);
}

function newLoop(routine: Routine): Loop {
  const { names } = routine.unit;
  return { label: names.take('loop'), bodyLabel: names.take('turn') };
}

function loopWhile(routine: Routine, statement: Statement<'for'>): void {
  const { code } = routine;
  const loop = newLoop(routine);
  code.open('{');
  for (const each of statement.initial) writeStatement(routine, each);
  code.open(`${loop.label}: for (;;) {`);
  const condition = decidedCondition(routine, 'condition', statement.condition);
  code.line(`if (!${atom(condition)}) break;`);
  countTurn(routine, statement);
  writeBody(routine, statement.body, loop);
  for (const each of statement.update) writeStatement(routine, each);
  code.close();
  code.close();
}

function loopOverRange(routine: Routine, statement: Statement<'for-range'>): void {
  const { code, unit } = routine;
  const loop = newLoop(routine);
  const target = placeOf(routine, statement.variable);
  if (target.kind === 'aggregate') throw new TypeError('a range of aggregates');
  const { width, isSigned } = bitsOf(statement.variable.type);
  const low = decided(routine, 'range', statement.low, routine.keepValue(expressionValue(routine, statement.low)));
  const high = decided(routine, 'range', statement.high, routine.keepValue(expressionValue(routine, statement.high)));
  const isNumber = width <= NUMBER_WIDTH;
  const first = isNumber ? asCode(low) : routine.keep(routine.big(low));
  const last = isNumber ? asCode(high) : routine.keep(routine.big(high));
  const at = unit.names.take('at');
  code.open(`${loop.label}: for (let ${at} = ${first}; ${at} <= ${last}; ${at}++) {`);
  countTurn(routine, statement);
  writePlace(routine, target, { kind: isNumber ? 'number' : 'big', code: at, width, isSigned });
  writeBody(routine, statement.body, loop);
  code.close();
}

function asCode(value: Value): string {
  const bits = asBits(value);
  if (bits.kind === 'words') throw new TypeError('words where a number was expected');
  return bits.code;
}

function loopOverElements(routine: Routine, statement: Statement<'for-elements'>): void {
  const { code, unit } = routine;
  const { type } = statement.collection;
  if (type.kind !== 'stack') throw new TypeError('loops go over stacks');
  const loop = newLoop(routine);
  const target = aggregatePlace(routine, statement.variable);
  const stack = routine.keep(referenceOf(routine, statement.collection));
  const at = unit.names.take('at');
  code.open(`${loop.label}: for (let ${at} = 0; ${at} < ${type.size}; ${at}++) {`);
  countTurn(routine, statement);
  copyInto(routine, target, `${stack}.items[${at}]`);
  writeBody(routine, statement.body, loop);
  code.close();
}
