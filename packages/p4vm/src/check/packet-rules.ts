import type { Span } from '../source/position.js';
import { describeType } from '../types/describe.js';
import { typeSize } from '../types/measure.js';
import type { Type } from '../types/type.js';
import type { Checker } from './checker.js';

function canEmit(type: Type): boolean {
  switch (type.kind) {
    case 'unknown':
    case 'variable':
    case 'header':
    case 'union':
      return true;
    case 'stack':
      return canEmit(type.element);
    case 'struct':
      return type.fields.every((field) => canEmit(field.type));
    case 'tuple':
      return type.elements.every(canEmit);
    default:
      return false;
  }
}

/**
 * Checks rules for the methods of `packet_in` and `packet_out` that their declarations do not express. `type` is the
 * argument of their type parameter. Source: P4_16 language specification, "Data extraction" and "Data insertion into
 * packets".
 */
export function checkPacketMethod(
  c: Checker,
  extern: string,
  method: string,
  count: number,
  type: Type | undefined,
  span: Span,
): void {
  if (type === undefined || type.kind === 'unknown' || type.kind === 'variable') return;
  if (extern === 'packet_out' && method === 'emit' && !canEmit(type)) {
    c.error('emit-type', span, `${describeType(type)} cannot be emitted: only headers and what is made of headers`);
  }
  if (extern !== 'packet_in') return;
  if (method === 'extract') {
    if (type.kind !== 'header') {
      c.error('extract-type', span, `${describeType(type)} cannot be extracted: only headers can`);
      return;
    }
    const varbits = type.fields.filter((field) => field.type.kind === 'varbit').length;
    if (count === 1 && varbits > 0) {
      const message = `header "${type.name}" has a varbit: "extract" needs its size as a second argument`;
      c.error('extract-type', span, message);
    } else if (count === 2 && varbits !== 1) {
      const rule = 'must have one varbit for "extract" with a size';
      c.error('extract-type', span, `header "${type.name}" ${rule}, it has ${varbits}`);
    }
  } else if (method === 'lookahead') {
    const size = typeSize(type);
    if (size === undefined || size.minimum !== size.maximum) {
      c.error('extract-type', span, `${describeType(type)} has no fixed size: "lookahead" cannot read it`);
    }
  }
}
