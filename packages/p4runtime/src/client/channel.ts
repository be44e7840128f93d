import { setImmediate } from 'node:timers/promises';
import { type Client, createClient, type Transport } from '@connectrpc/connect';
import { createGrpcTransport, Http2SessionManager } from '@connectrpc/connect-node';
import * as p4v1 from '../messages/p4v1.js';

/** TLS of a connection: contents in PEM. */
export interface ClientTls {
  /** Who may have signed the switch's certificate; by default those that Node trusts. */
  readonly ca?: string | Uint8Array | undefined;
  /** The client's own certificate and key, for mutual TLS. */
  readonly cert?: string | Uint8Array | undefined;
  readonly key?: string | Uint8Array | undefined;
  /** The name in the switch's certificate, if it is not that of the address. */
  readonly serverName?: string | undefined;
}

/**
 * Room for the metadata of an answer in bytes: errors of updates come as metadata. Node takes no longer value; a switch that
 * knows so can answer by RESOURCE_EXHAUSTED, and need not lose the connection.
 */
const METADATA_BYTES = 1 << 16;
/** Largest message. Configurations of pipelines are larger than gRPC's default. */
const MESSAGE_BYTES = 256 << 20;

/** A connection that is made when it is needed, and made anew when it has broken. */
export interface Channel {
  readonly client: Client<typeof p4v1.P4Runtime>;
  close(): Promise<void>;
}

/** @param target `HOST:PORT` */
export function openChannel(target: string, tls: ClientTls | undefined, pingMs: number): Channel {
  const baseUrl = `${tls === undefined ? 'http' : 'https'}://${target}`;
  const sessions = new Http2SessionManager(
    baseUrl,
    // A peer that is gone without a word is found by pings. An idle connection gets none: connect starts their timer anew when
    // it closes a connection, and the ping of a closed one throws. A session is never idle, because it has its stream.
    { pingIntervalMs: pingMs, pingTimeoutMs: pingMs },
    {
      settings: { maxHeaderListSize: METADATA_BYTES, enablePush: false },
      ...(tls && {
        ...(tls.ca !== undefined && { ca: bufferOf(tls.ca) }),
        ...(tls.cert !== undefined && { cert: bufferOf(tls.cert) }),
        ...(tls.key !== undefined && { key: bufferOf(tls.key) }),
        ...(tls.serverName !== undefined && { servername: tls.serverName }),
      }),
    },
  );
  const transport = createGrpcTransport({
    baseUrl,
    sessionManager: sessions,
    readMaxBytes: MESSAGE_BYTES,
    writeMaxBytes: MESSAGE_BYTES,
  });
  return {
    client: createClient(p4v1.P4Runtime, transport),
    async close() {
      // Who has just got an answer is still within the read that brought it. Node's HTTP/2 frees the streams of a session that
      // is destroyed there, and then reads on in them.
      await setImmediate();
      sessions.abort();
    },
  };
}

const bufferOf = (content: string | Uint8Array): string | Buffer =>
  typeof content === 'string' ? content : Buffer.from(content);

/** A channel over a transport that another owns, such as one to a server in this process. */
export function channelOver(transport: Transport): Channel {
  return { client: createClient(p4v1.P4Runtime, transport), close: async () => {} };
}
