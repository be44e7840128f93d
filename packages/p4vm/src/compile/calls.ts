import type { Call, Expression, IrArgument, IrFunction, IrParameter, Table, Variable } from '../ir/program.js';
import { isLValue } from '../ir/walk.js';
import { type Callable, hasEffects, isInstance } from './analysis.js';
import { copyInto, pushOrPop, setValidity } from './assign.js';
import { copied, expressionValue, referenceOf } from './expressions.js';
import { callExtern, callMethod } from './externs.js';
import { callPacket } from './packets.js';
import { type AggregatePlace, aggregatePlace, placeOf, readPlace, scalarPlace, writePlace } from './places.js';
import type { Routine } from './routine.js';
import { actionName, functionName, instanceName, parameterNames } from './routines.js';
import { bitsOf, hasHeaders, isAggregate, NUMBER_WIDTH, WORDS_WIDTH, wordCount, zeroOf } from './storage.js';
import { applyTable } from './tables.js';
import { traceValue } from './trace.js';
import { bigOf, booleanOf, NOTHING, numberOf, type Value, wordsOf } from './value.js';

/** What a call of the program runs, except for tables. */
type Callee = Exclude<Callable, Table>;

/** Writes a call, and gives its value. */
export function call(routine: Routine, expression: Call): Value {
  switch (expression.kind) {
    case 'set-validity': {
      const place = aggregatePlace(routine, expression.header);
      setValidity(routine, place, expression.valid, true);
      traceValue(routine, expression.header, `'${expression.valid ? 'valid' : 'invalid'}'`);
      return NOTHING;
    }
    case 'push-pop':
      pushOrPop(routine, expression);
      return NOTHING;
    case 'call-function':
    case 'call-action':
    case 'apply-instance':
      return callRoutine(routine, expression.target, expression.arguments);
    case 'apply-table': {
      const result = applyTable(routine, expression.table, expression.result !== 'none');
      if (expression.result === 'none') return NOTHING;
      return booleanOf(expression.result === 'hit' ? `${result}.isHit` : `!${result}.isHit`);
    }
    case 'call-extern':
      return callExtern(routine, expression);
    case 'call-packet':
      return callPacket(routine, expression);
    case 'call-method':
      return callMethod(routine, expression);
  }
}

function nameOf(routine: Routine, target: Callee): string {
  if (isInstance(target)) return instanceName(routine.unit, target);
  if ('returnType' in target) return functionName(routine.unit, target);
  return actionName(routine.unit, target);
}

/** An argument that is passed to a parameter. */
interface Argument {
  readonly parameter: IrParameter;
  readonly value: Expression | undefined;
  /** No later argument may change it before the call. */
  readonly isLast: boolean;
  /** Whether an aggregate can be passed by reference to the caller's object without a visible difference. */
  readonly mayShare: (place: AggregatePlace) => boolean;
}

/** How an argument is passed. */
interface Passed {
  /** JavaScript arguments. */
  readonly values?: readonly string[];
  /** Writes the code before and after the call. */
  readonly before?: () => void;
  readonly after?: () => void;
}

/**
 * Calls a function, action, parser or control: evaluates the arguments from left to right, calls, then copies results
 * back in the order of the parameters. `data` are JavaScript arguments for the parameters behind those of `given`.
 */
export function callRoutine(
  routine: Routine,
  target: Callee,
  given: readonly IrArgument[],
  data: readonly string[] = [],
): Value {
  const name = nameOf(routine, target);
  const last = lastChange(target, given);
  const passed = target.parameters.slice(0, given.length).map((parameter, index) =>
    pass(routine, target, {
      parameter,
      value: given[index]?.value,
      isLast: index >= last,
      mayShare: (place) => mayShare(routine, target, index, given, place),
    }),
  );
  for (const { before } of passed) before?.();
  const invocation = `${name}(${[...passed.flatMap(({ values }) => values ?? []), ...data].join(', ')})`;
  const result = invoke(routine, target, invocation);
  for (const { after } of passed) after?.();
  leaveAfter(routine, target, result);
  return 'returnType' in target ? resultValue(routine, target, result) : NOTHING;
}

function invoke(routine: Routine, target: Callable, invocation: string): string {
  routine.code.forgetMarks();
  const isParser = 'states' in target;
  const hasResult = isParser || ('returnType' in target && target.returnType.kind !== 'void');
  if (hasResult) return routine.keep(invocation);
  routine.code.line(`${invocation};`);
  return '';
}

/** Ends the caller too if the callee did `exit`, or was a parser that rejected. */
function leaveAfter(routine: Routine, target: Callable, result: string): void {
  if ('states' in target) routine.code.line(`if (${result} !== 0) return ${result};`);
  else if (routine.unit.analysis.mayExit(target)) routine.code.line('if (exited) return;');
}

/** Wide results come back as words: the first as the value, the others in variables of the closure. */
function resultValue(routine: Routine, target: IrFunction, result: string): Value {
  const type = target.returnType;
  if (type.kind === 'void') return NOTHING;
  // The function's next call overwrites its result object, perhaps within this expression: copy it.
  if (isAggregate(type)) return { kind: 'aggregate', code: copied(routine, type, result) };
  if (type.kind === 'bool') return booleanOf(result);
  if (type.kind === 'string') return { kind: 'string', code: result };
  const { width, isSigned } = bitsOf(type);
  if (width <= NUMBER_WIDTH) return numberOf(result, width, isSigned);
  if (width > WORDS_WIDTH) return bigOf(result, width, isSigned);
  const rest = Array.from({ length: wordCount(width) - 1 }, (_, index) => routine.keep(resultWord(routine, index + 1)));
  return wordsOf([result, ...rest], width, isSigned);
}

/** The closure's variable for a word of a result. */
export function resultWord(routine: Routine, index: number): string {
  const { unit } = routine;
  return unit.types.once(`result ${index}`, `result$${index}`, (name, code) => code.line(`let ${name} = 0;`));
}

/** The variable an l-value is part of, and the members on the way, as far as they are known. */
function rootOf(expression: Expression): { readonly variable: Variable; readonly path: readonly string[] } | undefined {
  switch (expression.kind) {
    case 'variable':
      return { variable: expression.variable, path: [] };
    case 'member': {
      const base = rootOf(expression.base);
      return base && { variable: base.variable, path: [...base.path, expression.field] };
    }
    case 'element':
    case 'stack-next':
    case 'stack-last':
    case 'slice':
      return rootOf(expression.base);
    default:
      return undefined;
  }
}

/** Whether two l-values may share storage. */
function mayOverlap(one: Expression, other: Expression): boolean {
  const a = rootOf(one);
  const b = rootOf(other);
  if (a === undefined || b === undefined || a.variable !== b.variable) return false;
  const length = Math.min(a.path.length, b.path.length);
  for (let index = 0; index < length; index++) if (a.path[index] !== b.path[index]) return false;
  return true;
}

/** See `Argument.mayShare`; `index` is the position of the argument. */
function mayShare(
  routine: Routine,
  target: Callable,
  index: number,
  given: readonly IrArgument[],
  place: AggregatePlace,
): boolean {
  const argument = given[index];
  const value = argument?.value;
  if (argument === undefined || value === undefined) return false;
  const isWritten = argument.direction === 'out' || argument.direction === 'inout';
  // A callee does not know that a header is a member of a union.
  if (isWritten && place.membership !== undefined) return false;
  const root = rootOf(value);
  // Actions see the variables of their control.
  if (root !== undefined && reachesVariable(routine, target, root.variable)) return false;
  return given.every((other, position) => {
    if (position === index || other.value === undefined) return true;
    const isOtherWritten = other.direction === 'out' || other.direction === 'inout';
    // A scalar has been read before the callee writes anything.
    if (!isOtherWritten && !isAggregate(other.value.type)) return true;
    return !(isWritten || isOtherWritten) || !mayOverlap(value, other.value);
  });
}

function reachesVariable(routine: Routine, target: Callable, variable: Variable): boolean {
  const { analysis, budget } = routine.unit;
  return analysis.reaches(target, variable, (calls) => budget.spend('work', calls, target.span));
}

/**
 * The last argument that may change arguments evaluated before: by its effects, or because objects are cleared for out
 * parameters.
 */
function lastChange({ parameters }: Pick<IrFunction, 'parameters'>, given: readonly IrArgument[]): number {
  const isCleared = parameters.some(({ direction, variable }) => direction === 'out' && isAggregate(variable.type));
  if (isCleared) return given.length;
  let last = given.length - 1;
  for (; last >= 0; last--) {
    const value = given[last]?.value;
    if (value !== undefined && hasEffects(value)) break;
  }
  return last;
}

function pass(routine: Routine, target: Callee, argument: Argument): Passed {
  const { parameter, value, isLast } = argument;
  const { direction, variable } = parameter;
  if (direction === 'in' || direction === 'none') return passIn(routine, target, argument);
  if (value === undefined) return passNowhere(routine, variable);
  const place = placeOf(routine, value);
  if (place.kind === 'aggregate') return passAggregate(routine, target, argument, place);
  const { unit } = routine;
  const home = unit.homeOf(variable);
  if (home.kind !== 'scalar') throw new TypeError('an aggregate parameter for a scalar');
  const inner = scalarPlace(variable.type, home);
  const isZero = direction === 'out' && (unit.undefinedValues !== undefined || unit.analysis.beginsAtZero(target));
  // An out parameter of a control or parser begins with the argument's value, so an unwritten one leaves the argument
  // unchanged.
  const before = isZero ? undefined : readPlace(routine, place);
  const initial = before === undefined || isLast ? before : routine.keepValue(before);
  return {
    before: () => {
      if (initial !== undefined) writePlace(routine, inner, initial);
      else routine.initialise(home, variable.type);
    },
    after: () => {
      writePlace(routine, place, readPlace(routine, inner));
      traceValue(routine, value);
    },
  };
}

function passIn(
  routine: Routine,
  target: Callee,
  { parameter, value, isLast, mayShare: mayBeShared }: Argument,
): Passed {
  const { unit } = routine;
  const { variable } = parameter;
  const { type } = variable;
  const home = unit.homeOf(variable);
  if (home.kind === 'aggregate') {
    if (value === undefined) return passNowhere(routine, variable);
    const place = isLValue(value) ? aggregatePlace(routine, value) : undefined;
    const object = place?.code ?? referenceOf(routine, value);
    const isShared = isLast && (place === undefined || mayBeShared(place));
    const reference = isShared ? object : copied(routine, type, object);
    return { before: () => routine.code.line(`${home.name} = ${reference};`) };
  }
  const names = parameterNames(unit, target, parameter);
  if (value === undefined) return { values: names.map(() => zeroOf(type)) };
  const result = expressionValue(routine, value);
  const kept = isLast ? result : routine.keepValue(result);
  if (names.length > 0) return { values: jsArguments(routine, kept, names.length) };
  return { before: () => writePlace(routine, scalarPlace(type, home), kept) };
}

/** A scalar as JavaScript arguments: as many as it has words. */
function jsArguments(routine: Routine, value: Value, count: number): readonly string[] {
  if (value.kind === 'words') return value.words;
  if (value.kind === 'big' && value.width <= WORDS_WIDTH) return routine.words(value, value.width);
  if (value.kind === 'number' && count > 1) return routine.words(value, value.width);
  if (value.kind === 'void') throw new TypeError('no value for an argument');
  return [value.code];
}

/** An argument that is left out, or `_`: the parameter begins as zero, and nothing comes back. */
function passNowhere(routine: Routine, variable: Variable): Passed {
  const { unit } = routine;
  const { type } = variable;
  const home = unit.homeOf(variable);
  if (home.kind === 'scalar') return { before: () => routine.initialise(home, type) };
  if (!isAggregate(type)) throw new TypeError('no aggregate');
  const object = unit.temporaryObject(type);
  return {
    before: () => routine.code.lines(`${unit.types.functionOf('zero', type)}(${object});`, `${home.name} = ${object};`),
  };
}

function passAggregate(routine: Routine, target: Callee, argument: Argument, place: AggregatePlace): Passed {
  const { unit } = routine;
  const { variable, direction } = argument.parameter;
  const { type } = variable;
  const home = unit.homeOf(variable);
  if (home.kind !== 'aggregate' || !isAggregate(type)) throw new TypeError('a scalar parameter for an aggregate');
  const isShared = argument.mayShare(place);
  const reference = isShared ? place.code : copied(routine, type, place.code);
  return {
    before: () => {
      if (direction === 'out') {
        const isZero = unit.analysis.beginsAtZero(target);
        const what = unit.undefinedValues !== undefined ? 'zero' : isZero ? 'clear' : 'invalidate';
        if (what !== 'invalidate' || hasHeaders(type)) {
          routine.code.line(`${unit.types.functionOf(what, type)}(${reference});`);
        }
      }
      routine.code.line(`${home.name} = ${reference};`);
    },
    after: () => {
      if (isShared) routine.mark(place.marks);
      // Move all fields, so that the result is the same whether or not the argument is passed by reference.
      else copyInto(routine, place, reference, 'move');
    },
  };
}
