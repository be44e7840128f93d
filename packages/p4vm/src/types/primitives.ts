import type {
  AnyType,
  BitsType,
  BoolType,
  ErrorType,
  IntegerType,
  InvalidHeaderType,
  MatchKindType,
  StringType,
  UnknownType,
  VoidType,
} from './type.js';

/** Types without parts: one object each. */
export const BOOL: BoolType = /* @__PURE__ */ Object.freeze({ kind: 'bool' });
export const ERROR: ErrorType = /* @__PURE__ */ Object.freeze({ kind: 'error' });
export const STRING: StringType = /* @__PURE__ */ Object.freeze({ kind: 'string' });
export const MATCH_KIND: MatchKindType = /* @__PURE__ */ Object.freeze({ kind: 'match-kind' });
export const VOID: VoidType = /* @__PURE__ */ Object.freeze({ kind: 'void' });
export const INTEGER: IntegerType = /* @__PURE__ */ Object.freeze({ kind: 'integer' });
export const ANY: AnyType = /* @__PURE__ */ Object.freeze({ kind: 'any' });
export const INVALID_HEADER: InvalidHeaderType = /* @__PURE__ */ Object.freeze({ kind: 'invalid-header' });
export const UNKNOWN: UnknownType = /* @__PURE__ */ Object.freeze({ kind: 'unknown' });

/** `bit<width>`. */
export function bit(width: number): BitsType {
  return { kind: 'bits', width, isSigned: false };
}

/** `int<width>`. */
export function int(width: number): BitsType {
  return { kind: 'bits', width, isSigned: true };
}
