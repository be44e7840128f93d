import type { BitsType, PlainType } from './type.js';

/** Types without parts: one object each. */
export const BOOL: PlainType<'bool'> = /* @__PURE__ */ Object.freeze({ kind: 'bool' });
export const ERROR: PlainType<'error'> = /* @__PURE__ */ Object.freeze({ kind: 'error' });
export const STRING: PlainType<'string'> = /* @__PURE__ */ Object.freeze({ kind: 'string' });
export const MATCH_KIND: PlainType<'match-kind'> = /* @__PURE__ */ Object.freeze({ kind: 'match-kind' });
export const VOID: PlainType<'void'> = /* @__PURE__ */ Object.freeze({ kind: 'void' });
export const INTEGER: PlainType<'integer'> = /* @__PURE__ */ Object.freeze({ kind: 'integer' });
export const ANY: PlainType<'any'> = /* @__PURE__ */ Object.freeze({ kind: 'any' });
export const INVALID_HEADER: PlainType<'invalid-header'> = /* @__PURE__ */ Object.freeze({ kind: 'invalid-header' });
export const UNKNOWN: PlainType<'unknown'> = /* @__PURE__ */ Object.freeze({ kind: 'unknown' });

/** `bit<width>`. */
export function bit(width: number): BitsType {
  return { kind: 'bits', width, isSigned: false };
}

/** `int<width>`. */
export function int(width: number): BitsType {
  return { kind: 'bits', width, isSigned: true };
}
