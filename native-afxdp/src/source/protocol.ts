import { XdpError } from '../errors.js';
import type { QueueGeometry } from './options.js';
import type { ReceiverSetup } from './receiver.js';

/** The start parameters of a thread. */
export interface WorkerSetup extends ReceiverSetup {
  /** One word that all threads count up for each batch: the pipeline's thread waits on it. */
  readonly bell: SharedArrayBuffer;
}

/** An XdpError on its way between threads, which would only leave its message. */
export type ErrorText = Pick<XdpError, 'code' | 'message' | 'hint' | 'syscall' | 'errno'>;

/** What a thread says: that it is ready, or why it has ended. */
export type WorkerMessage =
  | {
      readonly name: 'ready';
      readonly geometry: QueueGeometry;
      readonly buffer: SharedArrayBuffer;
      /** Where the socket has put its frames. */
      readonly umemOffset: number;
      readonly umemBytes: number;
      readonly zeroCopy: boolean;
      readonly usesAccelerator: boolean;
    }
  | { readonly name: 'failed'; readonly error: ErrorText };

export function errorText({ code, message, hint, syscall, errno }: XdpError): ErrorText {
  return { code, message, hint, syscall, errno };
}

export function errorOf({ code, message, hint, syscall, errno }: ErrorText): XdpError {
  // The constructor puts the hint behind the message.
  const what = message.endsWith(`. ${hint}`) ? message.slice(0, -hint.length - 2) : message;
  return new XdpError(code, what, { hint, syscall, errno });
}
