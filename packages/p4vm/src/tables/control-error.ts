const BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/p4vm.ControlError') as never;

/** Stable code of a refused request. */
export type ControlErrorCode =
  | 'ERR_CONTROL_UNKNOWN_TABLE'
  | 'ERR_CONTROL_UNKNOWN_ACTION'
  | 'ERR_CONTROL_UNKNOWN_EXTERN'
  | 'ERR_CONTROL_UNKNOWN_KEY'
  | 'ERR_CONTROL_UNKNOWN_PARAMETER'
  | 'ERR_CONTROL_WRONG_ARITY'
  | 'ERR_CONTROL_WRONG_KIND'
  | 'ERR_CONTROL_BAD_VALUE'
  | 'ERR_CONTROL_BAD_MATCH'
  | 'ERR_CONTROL_BAD_PRIORITY'
  | 'ERR_CONTROL_VALUE_TOO_WIDE'
  | 'ERR_CONTROL_TABLE_FULL'
  | 'ERR_CONTROL_DUPLICATE_ENTRY'
  | 'ERR_CONTROL_BAD_HANDLE'
  | 'ERR_CONTROL_EXPIRED_HANDLE'
  | 'ERR_CONTROL_CONST_TABLE'
  | 'ERR_CONTROL_CONST_DEFAULT'
  | 'ERR_CONTROL_NO_KEY'
  | 'ERR_CONTROL_NOT_INDIRECT'
  | 'ERR_CONTROL_INDIRECT'
  | 'ERR_CONTROL_BAD_MEMBER'
  | 'ERR_CONTROL_MEMBER_IN_USE'
  | 'ERR_CONTROL_MEMBER_IN_GROUP'
  | 'ERR_CONTROL_MEMBER_NOT_IN_GROUP'
  | 'ERR_CONTROL_BAD_GROUP'
  | 'ERR_CONTROL_GROUP_IN_USE'
  | 'ERR_CONTROL_EMPTY_GROUP'
  | 'ERR_CONTROL_NO_SELECTOR'
  | 'ERR_CONTROL_NO_COUNTER'
  | 'ERR_CONTROL_NO_METER'
  | 'ERR_CONTROL_NO_TIMEOUT'
  | 'ERR_CONTROL_BAD_INDEX'
  | 'ERR_CONTROL_BAD_RATES'
  | 'ERR_CONTROL_BAD_SESSION'
  | 'ERR_CONTROL_BAD_MULTICAST'
  /** No memory left, or the largest number of objects reached. */
  | 'ERR_CONTROL_NO_ROOM'
  /** More than can be shown at once. */
  | 'ERR_CONTROL_TOO_MANY';

/** A refused request of the control plane. It changed nothing. */
export class ControlError extends Error {
  override readonly name = 'ControlError';

  constructor(
    readonly code: ControlErrorCode,
    message: string,
  ) {
    super(message);
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Works across the ESM and the CommonJS copy of this package, where `instanceof` does not. */
  static is(value: unknown): value is ControlError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}

/** @throws ControlError always */
export function refuse(code: ControlErrorCode, message: string): never {
  throw new ControlError(code, message);
}
