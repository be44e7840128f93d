import { isIP } from 'node:net';
import { Connection } from '@platformatic/kafka';
import { clientOptions, type KafkaAccess } from './access.js';
import { isAnswer } from './answers.js';
import { within } from './deadline.js';

const CONNECT_MS = 5000;
/** Beyond the limit of a question, so that the limit here ends first and says what the question was. */
const SPARE_MS = 5000;

/**
 * Connections to brokers, one to each, for questions that are asked one after the other.
 *
 * The client library's own producer and consumer are not used. Their retries have no limit in time, requests that
 * are made at the same time are taken for one, they keep asking a coordinator that has moved, and an answer for a broker
 * that is gone ends in an exception that nobody can catch. Here each question has a limit, and any failure that is no
 * answer ends the connection.
 */
export class Connections {
  readonly #access: KafkaAccess;
  readonly #clientId: string;
  readonly #made = new Map<string, Promise<Connection>>();
  #isClosed = false;

  constructor(access: KafkaAccess, clientId: string) {
    this.#access = access;
    this.#clientId = clientId;
  }

  /**
   * @param address `host:port`
   * @param what for messages
   * @param limitMs for the answer
   * @throws Error as the client gives it, or ProcessError `request` after the limit
   */
  async ask<T>(
    address: string,
    what: string,
    limitMs: number,
    question: (connection: Connection) => Promise<T>,
  ): Promise<T> {
    const made = this.#connect(address, limitMs);
    try {
      const connection = await within(CONNECT_MS + SPARE_MS, `connecting to ${address}`, made);
      return await within(limitMs, what, question(connection));
    } catch (error) {
      if (!isAnswer(error)) this.#forget(address, made);
      throw error;
    }
  }

  /** Ends all connections at once. */
  close(): void {
    this.#isClosed = true;
    for (const [address, made] of [...this.#made]) this.#forget(address, made);
  }

  #connect(address: string, limitMs: number): Promise<Connection> {
    const existing = this.#made.get(address);
    if (existing !== undefined) return existing;
    if (this.#isClosed) return Promise.reject(new Error('closed'));
    const { clientId, bootstrapBrokers: _, ...login } = clientOptions(this.#access, this.#clientId);
    const colon = address.lastIndexOf(':');
    const host = address.slice(0, colon).replace(/^\[(.*)\]$/, '$1');
    const connection = new Connection(clientId, {
      ...login,
      // A name; the standard has none for addresses.
      ...(login.tls === undefined ? {} : { tlsServerName: login.tls.servername ?? isIP(host) === 0 }),
      connectTimeout: CONNECT_MS,
      requestTimeout: limitMs + SPARE_MS,
    });
    const made = Promise.resolve(connection.connect(host, Number(address.slice(colon + 1)))).then(() => connection);
    const forget = (): void => {
      if (this.#made.get(address) === made) this.#made.delete(address);
    };
    // Without a listener an error event would end the process.
    connection.on('error', forget);
    connection.on('close', forget);
    made.catch(forget);
    this.#made.set(address, made);
    return made;
  }

  #forget(address: string, made: Promise<Connection>): void {
    if (this.#made.get(address) === made) this.#made.delete(address);
    made.then((connection) => connection.socket?.destroy()).catch(() => {});
  }
}
