import { Code, ConnectError } from '@connectrpc/connect';
import * as p4v1 from '../messages/p4v1.js';
import { P4RuntimeError, type UpdateError } from '../values/p4runtime-error.js';

/** The name of a canonical code of gRPC, such as `ALREADY_EXISTS`. */
export function grpcNameOf(code: number): string {
  if (code === 0) return 'OK';
  if (code === Code.Canceled) return 'CANCELLED';
  const name = Code[code];
  return name === undefined ? `CODE_${code}` : name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();
}

/**
 * An error of a call as one of this package. What the switch says about updates is decoded.
 *
 * @param first position of the call's first update in the list that was written
 */
export function errorOf(error: unknown, first = 0): P4RuntimeError {
  if (P4RuntimeError.is(error)) return error;
  const given = ConnectError.from(error);
  const grpcCode = given.code as number;
  const grpcName = grpcNameOf(grpcCode);
  const updates = given
    .findDetails(p4v1.ErrorSchema)
    .map(
      (each, at): UpdateError => ({
        index: first + at,
        grpcCode: each.canonicalCode,
        grpcName: grpcNameOf(each.canonicalCode),
        message: each.message,
        space: each.space,
        targetCode: each.code,
      }),
    )
    .filter((each) => each.grpcCode !== 0);
  const options = { cause: error, grpcCode, grpcName, updates };
  switch (given.code) {
    case Code.Unavailable:
      return new P4RuntimeError('ERR_P4RUNTIME_CONNECTION', `no connection: ${given.rawMessage}`, options);
    case Code.DeadlineExceeded:
      return new P4RuntimeError('ERR_P4RUNTIME_TIMEOUT', 'no answer in time', options);
    default: {
      const [one] = updates;
      const more = updates.length > 1 ? `, and ${updates.length - 1} more` : '';
      const text =
        one === undefined
          ? `${grpcName}: ${given.rawMessage}`
          : `update ${one.index}: ${one.grpcName}: ${one.message}${more}`;
      const isBackup = given.code === Code.PermissionDenied && updates.length === 0;
      return new P4RuntimeError(isBackup ? 'ERR_P4RUNTIME_NOT_PRIMARY' : 'ERR_P4RUNTIME_REFUSED', text, options);
    }
  }
}
