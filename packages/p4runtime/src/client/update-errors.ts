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
  const tls = tlsFailureOf(given);
  if (tls !== undefined) {
    // The gRPC code is of the client's own making: there was no answer.
    return tls.isCertificate
      ? new P4RuntimeError('ERR_P4RUNTIME_CERTIFICATE', `a certificate is not accepted: ${tls.text}`, { cause: error })
      : new P4RuntimeError('ERR_P4RUNTIME_CONNECTION', `no connection by TLS: ${tls.text}`, { cause: error });
  }
  switch (given.code) {
    case Code.Unavailable:
      return new P4RuntimeError('ERR_P4RUNTIME_CONNECTION', `no connection: ${given.rawMessage}`, options);
    case Code.Canceled: {
      // With TLS 1.3 a switch that refuses the client's certificate looks like one that hangs up.
      const text = 'the switch closed the connection without an answer; it may want TLS, or another certificate';
      return new P4RuntimeError('ERR_P4RUNTIME_CONNECTION', text, options);
    }
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

/** Deepest cause within others that is looked at. */
const MOST_CAUSES = 8;

/** What kept TLS from being set up, by the names of Node and OpenSSL; undefined: something else failed. */
function tlsFailureOf(error: Error): { readonly isCertificate: boolean; readonly text: string } | undefined {
  let cause: unknown = error;
  for (let depth = 0; depth < MOST_CAUSES && cause instanceof Error; depth++) {
    const { code, message } = cause as Error & { readonly code?: unknown };
    if (typeof code === 'string') {
      // CERT_HAS_EXPIRED, UNABLE_TO_VERIFY_LEAF_SIGNATURE, ERR_TLS_CERT_ALTNAME_INVALID, ERR_SSL_TLSV1_ALERT_UNKNOWN_CA, ...
      if (/CERT|CRL|ISSUER|SIGNATURE|HOSTNAME|_CA$/.test(code))
        return { isCertificate: true, text: `${message} (${code})` };
      if (/^ERR_(?:SSL|TLS)_/.test(code)) return { isCertificate: false, text: code };
    }
    ({ cause } = cause);
  }
  return undefined;
}
