/**
 * Questions to a store. Only one process can have a folder open: while `int dart listen` writes into it, that one answers,
 * over a Unix socket in the folder; a line of JSON each way.
 */
import { unlinkSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Policy, StatusName } from '@int/dart';
import { DartStoreError, type EpochAnswer, EpochStore, type HistoryQuery } from '@int/dart/node';
import { CliError, EXIT } from '../io.js';
import { hasStore, storeFailure } from './open-store.js';

/** What is asked of a store. */
export interface Question {
  readonly key: Uint8Array;
  readonly query: HistoryQuery;
}

/** An answer of an epoch, as it is printed. */
export interface AnswerJson {
  readonly epoch: string;
  readonly source: 'live' | 'flushing' | 'disk';
  readonly from: string;
  readonly to: string | null;
  readonly status: StatusName;
  /** Hexadecimal. */
  readonly value: string | null;
  readonly matching: number;
  readonly agreeing: number;
}

/** Over the socket. */
interface QuestionJson {
  readonly key: string;
  readonly policy?: Policy;
  readonly at?: string;
  readonly from?: string;
  readonly to?: string;
}
type Reply = { readonly answers: AnswerJson[] } | { readonly error: string };

/** Characters of a question: a key of 65,535 bytes has twice as many digits. */
const MOST_CHARACTERS = 1 << 18;

const socketOf = (directory: string): string => join(directory, 'query');

function answerJson({ epoch, source, from, to, answer }: EpochAnswer): AnswerJson {
  const { status, value, matching, agreeing } = answer;
  return {
    epoch: String(epoch),
    source,
    from: String(from),
    to: to === null ? null : String(to),
    status,
    value: value === null ? null : Buffer.from(value).toString('hex'),
    matching,
    agreeing,
  };
}

/**
 * Asks a store: its files, or the process that has it open.
 * @throws CliError if there is none, or it cannot be read
 */
export async function askStore(directory: string, question: Question): Promise<AnswerJson[]> {
  if (!(await hasStore(directory))) {
    throw new CliError(`there is no store in ${directory}: int dart write or int dart listen makes one`, EXIT.OPEN);
  }
  let store: EpochStore;
  try {
    store = await EpochStore.open(directory, { checkpointMs: 0 });
  } catch (error) {
    if (error instanceof DartStoreError && error.code === 'LOCKED') return askOwner(directory, question, error);
    throw storeFailure(error, directory);
  }
  try {
    return (await store.query(question.key, question.query)).map(answerJson);
  } catch (error) {
    throw storeFailure(error, directory);
  } finally {
    await store.close();
  }
}

function askOwner(directory: string, { key, query }: Question, locked: Error): Promise<AnswerJson[]> {
  const { policy, at, from, to } = query;
  const asked: QuestionJson = {
    key: Buffer.from(key).toString('hex'),
    ...(policy !== undefined && { policy }),
    ...(at !== undefined && { at: String(at) }),
    ...(from !== undefined && { from: String(from) }),
    ...(to !== undefined && { to: String(to) }),
  };
  return new Promise((resolve, reject) => {
    const socket = connect(socketOf(directory));
    const refuse = (reason: string): void => reject(new CliError(reason, EXIT.OPEN, locked));
    let text = '';
    socket.setEncoding('utf8');
    socket.on('error', () => refuse(`${locked.message}, and it answers no questions`));
    socket.on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('end', () => {
      const reply = parse<Reply>(text);
      if (reply === null) refuse(`the process that has ${directory} open gave no answer`);
      else if ('error' in reply) refuse(reply.error);
      else resolve(reply.answers);
    });
    socket.end(`${JSON.stringify(asked)}\n`);
  });
}

function parse<T>(text: string): T | null {
  try {
    return JSON.parse(text) as T;
  } catch {
    return null;
  }
}

/** Answers questions of other processes to a store that this one has open. */
export class QueryServer {
  /** Questions answered. */
  answered = 0;
  readonly #store: EpochStore;
  readonly #server: Server;
  readonly #open = new Set<Socket>();

  private constructor(store: EpochStore) {
    this.#store = store;
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#serve(socket));
  }

  /** @returns null if the folder cannot have a socket: its path is too long, or its file system has none */
  static async start(store: EpochStore): Promise<QueryServer | null> {
    const server = new QueryServer(store);
    const path = socketOf(store.directory);
    try {
      // One that a killed process left: nobody else has the folder open.
      unlinkSync(path);
    } catch {
      // There is none.
    }
    return new Promise((resolve) => {
      server.#server.once('error', () => resolve(null));
      server.#server.listen(path, () => resolve(server));
    });
  }

  async close(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #serve(socket: Socket): void {
    this.#open.add(socket);
    let text = '';
    socket.setEncoding('utf8');
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#open.delete(socket));
    socket.on('data', (chunk: string) => {
      text += chunk;
      if (text.length > MOST_CHARACTERS) socket.destroy();
    });
    socket.on('end', () => {
      void this.#answer(text).then((reply) => socket.end(JSON.stringify(reply)));
    });
  }

  async #answer(text: string): Promise<Reply> {
    try {
      const { key, policy, at, from, to } = JSON.parse(text) as QuestionJson;
      const answers = await this.#store.query(Buffer.from(key, 'hex'), {
        ...(policy !== undefined && { policy }),
        ...(at !== undefined && { at: BigInt(at) }),
        ...(from !== undefined && { from: BigInt(from) }),
        ...(to !== undefined && { to: BigInt(to) }),
      });
      this.answered++;
      return { answers: answers.map(answerJson) };
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) };
    }
  }
}
