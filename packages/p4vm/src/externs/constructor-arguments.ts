import type { ExternInstance } from '../ir/program.js';
import { ControlError } from '../tables/control-error.js';

/** The n-th constructor argument as a number of elements (0 to 2^32 - 1). */
export function sizeArgument(declaration: ExternInstance, position: number): number {
  const argument = declaration.arguments[position];
  if (argument?.kind !== 'integer' || argument.value < 0n || argument.value > 0xffffffffn) {
    throw new TypeError(`${declaration.type} ${declaration.name}: argument ${position + 1} must be a size`);
  }
  return Number(argument.value);
}

/** The n-th constructor argument as the name of an enum's member. */
export function memberArgument(declaration: ExternInstance, position: number): string {
  const argument = declaration.arguments[position];
  if (argument?.kind !== 'enum') {
    throw new TypeError(`${declaration.type} ${declaration.name}: argument ${position + 1} must be an enum's member`);
  }
  return argument.member;
}

/** Checks an index of a counter, meter or register. @throws ControlError `ERR_CONTROL_BAD_INDEX` */
export function checkIndex(
  array: { readonly declaration: ExternInstance; readonly size: number },
  index: number,
): void {
  if (Number.isInteger(index) && index >= 0 && index < array.size) return;
  const { type, name } = array.declaration;
  throw new ControlError('ERR_CONTROL_BAD_INDEX', `${type} ${name} has no index ${index}`);
}
