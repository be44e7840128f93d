import type { ExternInstance } from '../ir/program.js';

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
