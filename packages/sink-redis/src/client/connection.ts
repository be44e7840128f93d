import { createClient } from '@redis/client';
import { RedisSinkError } from '../errors.js';

/** Certificates of a `rediss://` connection, in the form of `node:tls`. */
export interface RedisTls {
  readonly ca?: string | Buffer;
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  /** Required name in the server's certificate. Default: the host name. */
  readonly servername?: string;
}

/** Address of the server, and credentials. */
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

/** One connection. It never reconnects. */
export interface Connection {
  /** Resolves with the reply; rejects with the server's error, or if the connection ends. */
  send(args: readonly (string | Buffer)[]): Promise<unknown>;
  /** Ends it at once. Commands without a reply are rejected. */
  destroy(): void;
}

/**
 * Connects once, authenticates and chooses the database.
 *
 * The client neither queues commands without a connection nor sends them again. The caller handles commands whose
 * connection ended.
 *
 * @param timeoutMs time limit for all of these steps
 * @param onEnd called once if an established connection ends, except by `destroy`
 * @param signal aborts connecting
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
    // No time limit per command: the pipeline has its own.
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
    // The connection may have ended meanwhile.
    if (isOver) throw reason;
  } catch (error) {
    end(error);
    throw error;
  } finally {
    clearTimeout(timer);
  }
  isEstablished = true;
  return {
    // The client does not change its arguments, although its type permits it.
    send: (args) => client.sendCommand(args as (string | Buffer)[]),
    destroy: () => {
      isOver = true;
      client.destroy();
    },
  };
}
