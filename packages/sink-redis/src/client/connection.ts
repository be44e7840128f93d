import { createClient } from '@redis/client';
import { RedisSinkError } from '../errors.js';

/** Certificates of a `rediss://` connection, as `node:tls` takes them. */
export interface RedisTls {
  readonly ca?: string | Buffer;
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  /** The name that the server's certificate must have, if not that of the host. */
  readonly servername?: string;
}

/** Where the server is and who connects. */
export interface RedisAddress {
  /**
   * `redis://[user:password@]host[:port][/database]`, `rediss://` with TLS, or `unix:///path/to/socket`.
   * Default `redis://localhost:6379`.
   */
  readonly url?: string;
  readonly username?: string;
  readonly password?: string;
  /** Number of the database. */
  readonly database?: number;
  readonly tls?: RedisTls;
}

/** One connection, from its making to its end; it is never made anew. */
export interface Connection {
  /** Resolves with the reply; rejects with the server's error or because the connection ended. */
  send(args: readonly (string | Buffer)[]): Promise<unknown>;
  /** Ends it at once. What has no reply yet is rejected. */
  destroy(): void;
}

/**
 * Connects once, authenticates and chooses the database.
 *
 * Nothing is queued while there is no connection and nothing is sent again by the client: what happens to a command whose
 * connection ended is for the caller to decide.
 *
 * @param timeoutMs for all of that
 * @param onEnd is told once that a connection which was established has ended, other than by `destroy`
 * @param signal gives up connecting
 * @throws RedisSinkError ERR_REDIS_TIMEOUT; the client's or server's own error
 */
export async function connect(
  address: RedisAddress,
  timeoutMs: number,
  onEnd: (error: unknown) => void,
  signal: AbortSignal,
): Promise<Connection> {
  const { url = 'redis://localhost:6379', username, password, database, tls } = address;
  const client = createClient({
    url,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(database === undefined ? {} : { database }),
    RESP: 2,
    maintNotifications: 'disabled',
    disableClientInfo: true,
    disableOfflineQueue: true,
    // A command whose connection is slow waits; the pipeline has a time limit of its own.
    commandOptions: { timeout: 0 },
    socket: {
      ...(url.startsWith('rediss:') ? { ...tls, tls: true as const } : {}),
      connectTimeout: timeoutMs,
      reconnectStrategy: false,
    },
  });
  let isEstablished = false;
  let isOver = false;
  let reason: unknown;
  const end = (error: unknown): void => {
    if (isOver) return;
    isOver = true;
    reason = error;
    client.destroy();
    if (isEstablished) onEnd(error);
  };
  client.on('error', end);
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new RedisSinkError('ERR_REDIS_TIMEOUT', `no connection after ${timeoutMs} ms`));
    }, timeoutMs);
    signal.onabort = () => reject(signal.reason);
  });
  try {
    await Promise.race([client.connect(), tooLate]);
    // It may have ended before this function went on.
    if (isOver) throw reason;
  } catch (error) {
    end(error);
    throw error;
  } finally {
    clearTimeout(timer);
  }
  isEstablished = true;
  return {
    // The client does not change its arguments; its type does not say so.
    send: (args) => client.sendCommand(args as (string | Buffer)[]),
    destroy: () => {
      isOver = true;
      client.destroy();
    },
  };
}
