import { constants, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import { Code, ConnectError, type ConnectRouter, createConnectRouter, createContextValues } from '@connectrpc/connect';
import { universalRequestFromNodeRequest, universalResponseToNodeResponse } from '@connectrpc/connect-node';
import { metadataRoom, metadataRoomOf } from './batch-errors.js';
import type { P4RuntimeLimits } from './limits.js';

const STREAM_CHANNEL = '/p4.v1.P4Runtime/StreamChannel';
const READ = '/p4.v1.P4Runtime/Read';

/** Longest pause in milliseconds between two parts of a request. */
const STALL_MS = 15_000;

/** Answers requests of HTTP/2 by the RPCs of a router. Nothing that a client sends makes it throw. */
export function requestHandler(
  routes: (router: ConnectRouter) => void,
  limits: P4RuntimeLimits,
): (request: Http2ServerRequest, response: Http2ServerResponse) => void {
  const router = createConnectRouter({ connect: false, grpcWeb: false, grpc: true, acceptCompression: [] });
  routes(router);
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
  const budget = new Budget(limits.requestBytes);
  return (request, response) => {
    const { stream } = request;
    stream.on('error', () => {});
    const cancel = (): void => stream.close(constants.NGHTTP2_CANCEL);
    const path = request.url.split('?', 1)[0]!;
    const handler = handlers.get(path);
    if (handler === undefined) {
      refuse(response, Code.Unimplemented, 'there is no such method');
      return;
    }
    const isStream = path === STREAM_CHANNEL;
    if (path === READ) deadline(request, limits.readMs, cancel);
    const values = createContextValues();
    const { session } = stream;
    if (session !== undefined) values.set(metadataRoom, metadataRoomOf(session, request.headers['user-agent']));
    try {
      const universal = universalRequestFromNodeRequest(request, response, undefined, values);
      const { body } = universal;
      if (!isStream && isBytes(body)) {
        const receiving = deadline(request, limits.requestMs, cancel);
        Object.assign(universal, { body: budget.counted(body, request, receiving) });
      }
      handler(universal)
        .then((answer) => universalResponseToNodeResponse(answer, response))
        .then(() => {
          // A client that was answered before it had sent everything need not send the rest.
          // Not at once: Node's HTTP/2 frees a stream that is closed within a read, and then reads on in it.
          setImmediate(() => {
            if (!request.complete) stream.close(constants.NGHTTP2_NO_ERROR);
          });
        })
        .catch(cancel);
    } catch {
      // Such as an authority that is no host name.
      cancel();
    }
  };
}

function isBytes(body: unknown): body is AsyncIterable<Uint8Array> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body;
}

/** Answers with a status alone: one frame of headers, which ends the stream. */
function refuse({ stream }: Http2ServerResponse, code: Code, message: string): void {
  if (stream.destroyed) return;
  stream.respond(
    {
      ':status': 200,
      'content-type': 'application/grpc',
      'grpc-status': String(code),
      'grpc-message': encodeURIComponent(message),
    },
    { endStream: true },
  );
}

/** Calls back after a time, unless the request ends before. @returns the timer */
function deadline(request: Http2ServerRequest, ms: number, callback: () => void): NodeJS.Timeout {
  const timer = setTimeout(callback, ms);
  timer.unref();
  request.on('close', () => clearTimeout(timer));
  return timer;
}

/** Bytes of requests that are being received, of all clients together. */
class Budget {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  /** The body of a request, counted until the request is done. A client that pauses for long is cut off. */
  async *counted(
    body: AsyncIterable<Uint8Array>,
    request: Http2ServerRequest,
    receiving: NodeJS.Timeout,
  ): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    request.on('close', () => {
      this.#left += bytes;
      bytes = 0;
    });
    const { stream } = request;
    const stall = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), STALL_MS);
    stall.unref();
    try {
      for await (const chunk of body) {
        stall.refresh();
        if (chunk.length > this.#left) {
          throw new ConnectError('too many requests at once', Code.ResourceExhausted);
        }
        if (stream.destroyed) return;
        this.#left -= chunk.length;
        bytes += chunk.length;
        yield chunk;
      }
    } finally {
      clearTimeout(stall);
      clearTimeout(receiving);
    }
  }
}
