import type { DataType, Expression, IrArgument } from '../ir/program.js';
import { comparison, decided, decidedAs, once, onceStatement } from './definedness.js';
import { decidedCondition, decidedValue, expressionValue, unsigned64 } from './expressions.js';
import { asBits, convert } from './operators.js';
import { bufferOf, namedValues, packData } from './pack.js';
import { aggregatePlace, enclosingHeader, type Place, placeOf, writePlace } from './places.js';
import type { Routine } from './routine.js';
import { bitsOf, isAggregate, NUMBER_WIDTH } from './storage.js';
import { traceExtern, traceValue } from './trace.js';
import { refuse, shortName } from './unit.js';
import { atom, bigOf, booleanOf, NOTHING, numberOf, type Value } from './value.js';

type ExternCall = Expression<'call-extern'>;
type MethodCall = Expression<'call-method'>;

/** An argument that a decision depends on. */
function decidedArgument(routine: Routine, call: ExternCall | MethodCall, index: number): Value {
  const name = call.kind === 'call-extern' ? call.name : `${call.instance.type}.${call.method}`;
  return decidedValue(routine, name, argument(call, index));
}

function argument(call: ExternCall | MethodCall, index: number): Expression {
  const value = call.arguments[index]?.value;
  if (value === undefined) {
    const name = call.kind === 'call-extern' ? call.name : call.method;
    return refuse('missing-argument', call.span, `argument ${index + 1} of ${name} is missing`);
  }
  return value;
}

/** Writes a value of any width to an out argument, if there is one. */
function writeResult(routine: Routine, given: IrArgument | undefined, place: Place | undefined, value: Value): void {
  if (given?.value === undefined || place === undefined || place.kind === 'aggregate') return;
  const { type } = given.value;
  if (value.kind === 'boolean' || type.kind === 'bool') writePlace(routine, place, value);
  else {
    const { width, isSigned } = bitsOf(type);
    writePlace(routine, place, convert(routine, asBits(value), width, isSigned));
  }
  traceValue(routine, given.value);
}

function resultPlace(routine: Routine, given: IrArgument | undefined): Place | undefined {
  return given?.value === undefined ? undefined : placeOf(routine, given.value);
}

/** Name of the algorithm of an argument, as declared in `HashAlgorithm`. */
function algorithmOf(call: ExternCall, index: number): string {
  const value = argument(call, index);
  const { type } = value;
  const name = value.kind === 'constant' && type.kind === 'enum' ? type.members[Number(value.value)] : undefined;
  return name ?? refuse('unknown-algorithm', call.span, 'the algorithm is not known at compile time');
}

/** A function of core.p4 or v1model.p4. */
export function callExtern(routine: Routine, call: ExternCall): Value {
  traceExtern(routine, call.name);
  const { code, unit } = routine;
  switch (call.name) {
    case 'verify':
      return verify(routine, call);
    case 'mark_to_drop': {
      const [given] = call.arguments;
      const standard = given?.value === undefined ? 'standard' : aggregatePlace(routine, given.value).code;
      code.line(`${standard}.egress_spec = 511;`);
      code.line(`${standard}.mcast_grp = 0;`);
      return NOTHING;
    }
    case 'random':
      return random(routine, call);
    case 'hash':
      return hash(routine, call);
    case 'verify_checksum':
    case 'verify_checksum_with_payload':
      return checksum(routine, call, true);
    case 'update_checksum':
    case 'update_checksum_with_payload':
      return checksum(routine, call, false);
    case 'digest': {
      const receiver = routine.keep(routine.index(decidedArgument(routine, call, 0)));
      const data = argument(call, 1);
      const name = 'name' in data.type ? data.type.name : data.type.kind;
      const fields = namedValues(routine, data, 'digest').map(
        (each) => `{ name: ${JSON.stringify(each.name)}, value: ${each.value} }`,
      );
      code.line(`runtime.digest(${receiver}, ${JSON.stringify(name)}, [${fields.join(', ')}]);`);
      return NOTHING;
    }
    case 'clone':
    case 'clone3':
    case 'clone_preserving_field_list':
      return clone(routine, call);
    case 'resubmit':
    case 'recirculate':
      onlyWithoutData(call, 0);
      code.line(`requests.${call.name} = -2;`);
      return NOTHING;
    case 'resubmit_preserving_field_list':
    case 'recirculate_preserving_field_list': {
      const list = routine.index(decidedArgument(routine, call, 0));
      code.line(`requests.${call.name.startsWith('resubmit') ? 'resubmit' : 'recirculate'} = ${list};`);
      return NOTHING;
    }
    case 'truncate': {
      const length = routine.keep(routine.index(decidedArgument(routine, call, 0)));
      code.line(`if (requests.truncate < 0 || ${length} < requests.truncate) requests.truncate = ${length};`);
      return NOTHING;
    }
    case 'assert':
    case 'assume': {
      const condition = decidedCondition(routine, call.name, argument(call, 0));
      code.line(`if (!${atom(condition)}) faults.assertion++;`);
      return NOTHING;
    }
    case 'static_assert':
      return booleanOf('true');
    case 'log_msg': {
      const text = expressionValue(routine, argument(call, 0));
      const values = call.arguments.length > 1 ? namedValues(routine, argument(call, 1), 'log_msg') : [];
      if (text.kind !== 'string') throw new TypeError('the text of log_msg is no string');
      const list = values.map((each) => each.value).join(', ');
      code.line(`runtime.log(${unit.helper('formatLog')}(${text.code}, [${list}]));`);
      return NOTHING;
    }
    default:
      return refuse('ERR_CONTROL_UNKNOWN_EXTERN', call.span, `the extern function ${call.name} is none of v1model's`);
  }
}

function verify(routine: Routine, call: ExternCall): Value {
  const { code } = routine;
  if (routine.fail === undefined)
    return refuse('verify-outside-parser', call.span, 'verify can be called in parsers only');
  const condition = decidedCondition(routine, 'verify', argument(call, 0));
  const error = argument(call, 1);
  if (error.kind === 'constant') {
    code.line(`if (!${atom(condition)}) ${routine.fail(Number(error.value))}`);
    return NOTHING;
  }
  const kept = routine.keep(condition);
  const value = decided(routine, 'verify', error, routine.keepValue(expressionValue(routine, error)));
  const position = routine.index(value);
  code.line(`if (!${kept}) return ${position} === 0 ? -1 : ${position};`);
  return NOTHING;
}

function random(routine: Routine, call: ExternCall): Value {
  const [result] = call.arguments;
  const place = resultPlace(routine, result);
  const low = routine.keep(unsigned64(routine, routine.keepValue(decidedArgument(routine, call, 1))));
  const high = routine.keep(unsigned64(routine, decidedArgument(routine, call, 2)));
  // With reversed bounds the result stays unchanged.
  routine.code.open(`if (${low} <= ${high}) {`);
  const drawn = routine.keep(once(routine, `runtime.random(${low}, ${high})`));
  writeResult(routine, result, place, bigOf(drawn, 64));
  routine.code.close();
  return NOTHING;
}

/** Code of the full result of a hash over the buffer: a number for short hashes, otherwise a bigint. */
function hashOf(routine: Routine, call: ExternCall, algorithm: string, length: string): Value {
  const { unit } = routine;
  const bytes = `${bufferOf(routine)}.bytes`;
  if (algorithm === 'csum16') return numberOf(`${unit.helper('sum16')}(${bytes}, ${length})`, 16);
  // Calculations whose polynomial can be set have names of their own.
  const name = algorithm.endsWith('_custom') ? (unit.calculationName(call) ?? algorithm) : algorithm;
  const full = `runtime.hash(${JSON.stringify(name)}, ${bytes}, ${length})`;
  return /^(crc|xor)/.test(algorithm) ? numberOf(`Number(${full})`, 32) : bigOf(full, 64);
}

/**
 * `result = base + hash(data) % max` in 64 bits, a `max` of 0 counts as 1. Fields of invalid headers count at full
 * width.
 */
function hash(routine: Routine, call: ExternCall): Value {
  const { code } = routine;
  const [result] = call.arguments;
  const place = resultPlace(routine, result);
  const algorithm = algorithmOf(call, 1);
  const base = routine.keepValue(expressionValue(routine, argument(call, 2)));
  code.open('{');
  const length = packData(routine, argument(call, 3), 'full-width');
  const max = routine.keepValue(expressionValue(routine, argument(call, 4)));
  const full = hashOf(routine, call, algorithm, length);
  const resultType = result?.value?.type;
  const isShort = full.kind === 'number' && isUnsignedNumber(base) && isUnsignedNumber(max);
  if (isShort && resultType !== undefined && bitsOf(resultType).width <= NUMBER_WIDTH) {
    const sum = `${atom(base.code)} + ${remainder(full.code, max.code, '0', '1')}`;
    // Below 2^33, so exact before it is cut.
    writeResult(routine, result, place, numberOf(routine.keep(sum), 33));
  } else {
    const rest = remainder(routine.big(full), routine.keep(unsigned64(routine, max)), '0n', '1n');
    const sum = `BigInt.asUintN(64, ${atom(unsigned64(routine, base))} + ${rest})`;
    writeResult(routine, result, place, bigOf(routine.keep(sum), 64));
  }
  code.close();
  return NOTHING;
}

function isUnsignedNumber(value: Value): value is Value<'number'> {
  return value.kind === 'number' && !value.isSigned;
}

/** Code of `value % max`, with a `max` of zero taken as one. */
function remainder(value: string, max: string, zero: string, one: string): string {
  if (max === zero) return `${atom(value)} % ${one}`;
  return /^\d+n?$/.test(max) ? `${atom(value)} % ${max}` : `${atom(value)} % (${max} === ${zero} ? ${one} : ${max})`;
}

/** verify_checksum and update_checksum: they do nothing if the checksum's own header is invalid. */
function checksum(routine: Routine, call: ExternCall, isVerify: boolean): Value {
  const { code, unit } = routine;
  const condition = decidedCondition(routine, call.name, argument(call, 0));
  const target = argument(call, 2);
  const owner = enclosingHeader(target);
  const header = owner && aggregatePlace(routine, owner).code;
  const tests = [condition, ...(header === undefined ? [] : [`${header}.$valid`])].filter((each) => each !== 'true');
  code.open(
    tests.length === 0 ? '{' : `if (${tests.map((each) => (tests.length > 1 ? atom(each) : each)).join(' && ')}) {`,
  );
  const algorithm = algorithmOf(call, 3);
  const length = packData(routine, argument(call, 1), 'left-out');
  const buffer = bufferOf(routine);
  let total = length;
  if (call.name.endsWith('_with_payload')) {
    total = unit.names.take('total');
    code.line(`const ${total} = ${length} + runtime.payloadLength;`);
    code.line(`${buffer}.reserve(${length}, runtime.payloadLength);`);
    code.open('for (let i = 0; i < runtime.payloadLength; i++) {');
    code.line(`${buffer}.bytes[${length} + i] = input.bytes[runtime.payloadStart + i];`);
    code.close();
  }
  const value = hashOf(routine, call, algorithm, total);
  if (isVerify) {
    const sum = routine.keepValue(value);
    const actual = asBits(expressionValue(routine, target));
    const isNumber = sum.kind === 'number' && actual.kind === 'number';
    const [a, b] = isNumber ? [sum.code, actual.code] : [unsigned64(routine, sum), unsigned64(routine, actual)];
    const differ = comparison(routine, `${atom(a)} !== ${atom(b)}`, sum, actual);
    const result = decidedAs(routine, call.name, call.name, call.span, booleanOf(differ));
    code.line(`if (${result.kind === 'boolean' ? result.code : differ}) standard.checksum_error = 1;`);
  } else writeResult(routine, call.arguments[2], placeOf(routine, target), routine.keepValue(value));
  code.close();
  return NOTHING;
}

/** No current switch carries the data of the older functions in the packet: accept only empty data. */
function onlyWithoutData(call: ExternCall, index: number): void {
  const data = call.arguments[index]?.value;
  if (data === undefined) return;
  const { type } = data;
  if ((type.kind === 'struct' || type.kind === 'header') && type.fields.length === 0) return;
  refuse(
    'extern-with-data',
    call.span,
    `${call.name} with data is not supported: use ${call.name.replace('3', '')}_preserving_field_list`,
  );
}

function clone(routine: Routine, call: ExternCall): Value {
  const { code } = routine;
  if (call.name === 'clone3') onlyWithoutData(call, 2);
  const session = routine.index(decidedArgument(routine, call, 1));
  code.line(`requests.cloneSession = ${session};`);
  const list = call.name === 'clone_preserving_field_list' ? routine.index(decidedArgument(routine, call, 2)) : '-1';
  code.line(`requests.cloneFieldList = ${list};`);
  return NOTHING;
}

/** A method of an extern object. */
export function callMethod(routine: Routine, call: MethodCall): Value {
  const { code, unit } = routine;
  const { instance } = call;
  traceExtern(routine, `${instance.name}.${call.method}`);
  const object = unit.constant(`extern ${instance.id}`, shortName(instance.name), `runtime.externs[${instance.id}]`);
  switch (`${instance.type}.${call.method}`) {
    case 'counter.count':
      code.line(onceStatement(routine, `${object}.count(${routine.index(decidedArgument(routine, call, 0))});`));
      return NOTHING;
    case 'direct_counter.count':
      return NOTHING;
    case 'meter.execute_meter': {
      const index = routine.keep(routine.index(decidedArgument(routine, call, 0)));
      const place = resultPlace(routine, call.arguments[1]);
      const color = routine.keep(once(routine, `${object}.execute(${index})`));
      return writeColor(routine, call.arguments[1], place, color);
    }
    case 'direct_meter.read': {
      const place = resultPlace(routine, call.arguments[0]);
      return writeColor(routine, call.arguments[0], place, routine.keep(once(routine, `${object}.color`)));
    }
    case 'register.read':
    case 'register.write':
      return register(routine, call, object);
    case 'Checksum16.get': {
      const length = packData(routine, argument(call, 0), 'left-out');
      const sum = `${unit.helper('sum16')}(${bufferOf(routine)}.bytes, ${length})`;
      return numberOf(routine.keep(sum), 16);
    }
    default:
      return refuse('ERR_CONTROL_UNKNOWN_EXTERN', call.span, `${instance.type} has no method ${call.method} here`);
  }
}

/** A colour below 0 means no colour: the result stays unchanged. */
function writeColor(routine: Routine, given: IrArgument | undefined, place: Place | undefined, color: string): Value {
  routine.code.open(`if (${color} >= 0) {`);
  writeResult(routine, given, place, numberOf(color, 2));
  routine.code.close();
  return NOTHING;
}

/** A register's cell as a value. */
function readCell(routine: Routine, cell: string, type: DataType): Value {
  const code = once(routine, cell);
  return routine.fromRuntime(code === cell ? cell : routine.keep(code), type);
}

/** Reads and writes cells in place. An index out of bounds is counted and does nothing. */
function register(routine: Routine, call: MethodCall, object: string): Value {
  const { code, unit } = routine;
  const cells = unit.constant(`cells ${object}`, `${object}_cells`, `${object}.cells`);
  const type = call.instance.typeArguments[0];
  if (type === undefined || isAggregate(type)) {
    return refuse('register-of-aggregates', call.span, 'registers hold values of bit, int and bool types only');
  }
  const isRead = call.method === 'read';
  const result = call.arguments[0];
  const place = isRead ? resultPlace(routine, result) : undefined;
  const index = routine.keep(routine.index(decidedArgument(routine, call, isRead ? 1 : 0)));
  const value = isRead ? undefined : routine.keepValue(decidedArgument(routine, call, 1));
  const size = unit.constant(`size ${object}`, `${object}_size`, `${object}.size`);
  code.open(`if (${index} < ${size}) {`);
  if (value === undefined) {
    if (place !== undefined) writeResult(routine, result, place, readCell(routine, `${cells}[${index}]`, type));
  } else code.line(onceStatement(routine, `${cells}[${index}] = ${routine.runtimeValue(value)};`));
  code.turn('} else {');
  code.line('faults.externIndex++;');
  code.close();
  return NOTHING;
}
