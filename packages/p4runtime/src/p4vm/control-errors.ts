import { ControlError, type ControlErrorCode } from '@int/p4vm';
import { TargetError, type TargetErrorCode } from '../server/target.js';

const CODES: Partial<Record<ControlErrorCode, TargetErrorCode>> = {
  ERR_CONTROL_TABLE_FULL: 'ERR_TARGET_FULL',
  ERR_CONTROL_NO_ROOM: 'ERR_TARGET_FULL',
  ERR_CONTROL_DUPLICATE_ENTRY: 'ERR_TARGET_EXISTS',
  ERR_CONTROL_BAD_HANDLE: 'ERR_TARGET_MISSING',
  ERR_CONTROL_EXPIRED_HANDLE: 'ERR_TARGET_MISSING',
  ERR_CONTROL_BAD_MEMBER: 'ERR_TARGET_MISSING',
  ERR_CONTROL_BAD_GROUP: 'ERR_TARGET_MISSING',
  ERR_CONTROL_MEMBER_IN_USE: 'ERR_TARGET_IN_USE',
  ERR_CONTROL_GROUP_IN_USE: 'ERR_TARGET_IN_USE',
  ERR_CONTROL_CONST_TABLE: 'ERR_TARGET_CONSTANT',
  ERR_CONTROL_CONST_DEFAULT: 'ERR_TARGET_CONSTANT',
};

/** Runs a request to a machine. @throws TargetError if the machine refuses it */
export function controlled<Result>(request: () => Result): Result {
  try {
    return request();
  } catch (error) {
    if (!ControlError.is(error)) throw error;
    throw new TargetError(CODES[error.code] ?? 'ERR_TARGET_INVALID', error.message, { cause: error });
  }
}
