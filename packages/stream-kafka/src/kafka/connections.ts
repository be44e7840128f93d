import { isIP } from 'node:net';
import type { ConnectionOptions as TlsOptions } from 'node:tls';
import { ConnectionLogin, type KafkaLogin } from '@int/sink-kafka';
import { Connection, type ConnectionOptions } from '@platformatic/kafka';
import { isAnswer } from './answers.js';
import { within } from './deadline.js';

const CONNECT_MS = 5000;
/**
 * Added to a request's time limit for the client, so that the limit here expires first, with a message that names the
 * request.
 */
const SPARE_MS = 5000;

/** Access to the brokers. */
export interface KafkaAccess {
  /** `host:port` of one or more brokers. */
  readonly bootstrap: readonly string[];
  /** Login with SASL. */
  readonly sasl?: KafkaLogin;
  /** TLS options, see `tls.connect`. */
  readonly tls?: TlsOptions;
}

/** A connection, and its use. */
interface Line {
  readonly made: Promise<Connection>;
  readonly login: ConnectionLogin | null;
  /** Requests without an answer. */
  questions: number;
}

/**
 * Connections to brokers, one to each, for sequential requests.
 *
 * The client library's own producer and consumer are unsuitable. Their retries have no time limit, they merge
 * simultaneous requests, they keep asking a coordinator that has moved, and the loss of a broker can cause an exception
 * that cannot be caught. Here each request has a time limit, and any failure other than an error answer closes the
 * connection.
 */
export class Connections {
  readonly #access: KafkaAccess;
  readonly #clientId: string;
  readonly #lines = new Map<string, Line>();
  #isClosed = false;

  constructor(access: KafkaAccess, clientId: string) {
    this.#access = access;
    this.#clientId = clientId;
  }

  /**
   * @param address `host:port`
   * @param what name of the request, for messages
   * @param limitMs time limit for the answer, in milliseconds
   * @throws the client's Error, or ProcessError `ERR_PROCESS_REQUEST` after the limit
   */
  async ask<T>(
    address: string,
    what: string,
    limitMs: number,
    question: (connection: Connection) => Promise<T>,
  ): Promise<T> {
    const line = this.#lineTo(address, limitMs);
    line.questions++;
    try {
      const connection = await within(CONNECT_MS + SPARE_MS, `connecting to ${address}`, line.made);
      return await within(limitMs, what, question(connection));
    } catch (error) {
      if (!isAnswer(error)) this.#end(address, line);
      throw error;
    } finally {
      line.questions--;
      if (line.questions === 0 && this.#lines.get(address) !== line) this.#end(address, line);
    }
  }

  /** Ends all connections at once. */
  close(): void {
    this.#isClosed = true;
    for (const [address, line] of [...this.#lines]) this.#end(address, line);
  }

  #lineTo(address: string, limitMs: number): Line {
    const existing = this.#lines.get(address);
    if (existing !== undefined && existing.login?.isOver !== true) return existing;
    if (this.#isClosed) throw new Error('closed');
    // The connection closes after its last answer.
    this.#lines.delete(address);
    if (existing?.questions === 0) this.#end(address, existing);
    const { sasl, tls } = this.#access;
    const login = sasl === undefined ? null : new ConnectionLogin(sasl);
    const colon = address.lastIndexOf(':');
    const host = address.slice(0, colon).replace(/^\[(.*)\]$/, '$1');
    const options: ConnectionOptions = {
      // The server name must be a host name; TLS has none for addresses.
      ...(tls === undefined ? {} : { tls, tlsServerName: tls.servername ?? isIP(host) === 0 }),
      connectTimeout: CONNECT_MS,
      requestTimeout: limitMs + SPARE_MS,
    };
    const connection = new Connection(this.#clientId, login?.within(options) ?? options);
    const made = Promise.resolve(connection.connect(host, Number(address.slice(colon + 1)))).then(() => connection);
    const forget = (): void => {
      if (this.#lines.get(address)?.made === made) this.#lines.delete(address);
    };
    // Without a listener an error event would end the process.
    connection.on('error', forget);
    connection.on('close', forget);
    made.catch(forget);
    const line = { made, login, questions: 0 };
    this.#lines.set(address, line);
    return line;
  }

  #end(address: string, line: Line): void {
    if (this.#lines.get(address) === line) this.#lines.delete(address);
    line.made.then((connection) => connection.socket?.destroy()).catch(() => {});
  }
}
