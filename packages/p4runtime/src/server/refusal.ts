import { Code } from '@connectrpc/connect';
import { TargetError, type TargetErrorCode } from './target.js';

/** The canonical code OK, which `Code` lacks. */
export const OK = 0;

/**
 * A refused update or request. It is thrown, but is no Error: a batch may have thousands of them, and none needs a stack.
 */
export class Refusal {
  constructor(
    readonly code: Code,
    readonly message: string,
  ) {}
}

/** @throws Refusal always */
export function refuse(code: Code, message: string): never {
  throw new Refusal(code, message);
}

/** @throws Refusal always, with INVALID_ARGUMENT */
export function invalid(message: string): never {
  throw new Refusal(Code.InvalidArgument, message);
}

const OF_TARGET: Readonly<Record<TargetErrorCode, Code>> = {
  ERR_TARGET_INVALID: Code.InvalidArgument,
  ERR_TARGET_MISSING: Code.NotFound,
  ERR_TARGET_EXISTS: Code.AlreadyExists,
  ERR_TARGET_IN_USE: Code.FailedPrecondition,
  ERR_TARGET_FULL: Code.ResourceExhausted,
  ERR_TARGET_CONSTANT: Code.PermissionDenied,
  ERR_TARGET_UNSUPPORTED: Code.Unimplemented,
};

/** Longest message of an error in characters: it may hold names that strangers chose. */
const MOST_CHARACTERS = 300;

/** Whether something thrown is an answer to a client. Anything else is a fault of ours, or of the target. */
export function isRefusal(error: unknown): boolean {
  return error instanceof Refusal || TargetError.is(error);
}

/** Gets what should not have been thrown. */
export type FaultConsumer = (error: unknown) => void;

/** What to tell the client about anything thrown. A fault of ours is INTERNAL, without its text, which `onFault` gets. */
export function refusalOf(error: unknown, onFault: FaultConsumer = () => {}): Refusal {
  if (error instanceof Refusal) {
    const { code, message } = error;
    return message.length <= MOST_CHARACTERS ? error : new Refusal(code, `${message.slice(0, MOST_CHARACTERS)}...`);
  }
  if (TargetError.is(error)) return refusalOf(new Refusal(OF_TARGET[error.code], error.message));
  onFault(error);
  return new Refusal(Code.Internal, 'internal error');
}
