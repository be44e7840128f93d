/**
 * Queries of a store. Only one process can have a folder open. While `int dart listen` writes into it, that process
 * answers over a Unix socket in the folder; request and reply are a line of JSON each.
 */
import { unlinkSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Policy, StatusName } from '@int/dart';
import {
  type DamagedFile,
  DartStoreError,
  type EpochAnswer,
  EpochReader,
  type EpochStore,
  type HistoryQuery,
} from '@int/dart/node';
import { given, ifGiven } from '../given.js';
import { CliError, EXIT } from '../io.js';
import { storeFailure } from './open-store.js';

export interface Question {
  readonly key: Uint8Array;
  readonly query: HistoryQuery;
}

/** An answer of an epoch, in the printed form. */
export interface AnswerJson {
  readonly epoch: string;
  readonly source: 'live' | 'flushing' | 'disk';
  readonly from: string;
  readonly to: string | null;
  /** Whether files of the epoch are damaged. */
  readonly incomplete: boolean;
  readonly status: StatusName;
  /** The value in hexadecimal. */
  readonly value: string | null;
  readonly matching: number;
  readonly agreeing: number;
}

export interface Reply {
  readonly answers: readonly AnswerJson[];
  /** Damaged files that may have had further answers, a line each. */
  readonly damage: readonly string[];
}

/** A query in the form sent over the socket. */
interface QuestionJson {
  readonly key: string;
  readonly policy?: Policy;
  readonly at?: string;
  readonly from?: string;
  readonly to?: string;
}
type ReplyJson = Reply | { readonly error: string };

/** Most characters of a query: a key of 65,535 bytes has twice as many digits. */
const MOST_CHARACTERS = 1 << 18;

const socketOf = (directory: string): string => join(directory, 'query');

function answerJson({ epoch, source, from, to, incomplete, answer }: EpochAnswer): AnswerJson {
  const { status, value, matching, agreeing } = answer;
  return {
    epoch: String(epoch),
    source,
    from: String(from),
    to: to === null ? null : String(to),
    incomplete,
    status,
    value: value === null ? null : Buffer.from(value).toString('hex'),
    matching,
    agreeing,
  };
}

function damageText({ path, kind, reason, soundSlots, isSetAside }: DamagedFile): string {
  if (isSetAside) return `${path}: ${reason}; what is lost with it is not in the answer`;
  const read =
    kind === 'history' || soundSlots === 0 ? 'nothing of it is in the answer' : `${soundSlots} slots of it are sound`;
  return `${path} is damaged: ${reason}; ${read}`;
}

/** @throws DartStoreError */
async function ask(store: EpochReader | EpochStore, { key, query }: Question): Promise<Reply> {
  const answers = (await store.query(key, query)).map(answerJson);
  return { answers, damage: store.damageTo(query).map(damageText) };
}

/**
 * Queries a store: its files, or the process that has it open.
 * @param salvage whether to answer from the sound parts of damaged files
 * @throws CliError if there is no store, or it cannot be read, or files are damaged
 */
export async function askStore(directory: string, question: Question, salvage: boolean): Promise<Reply> {
  try {
    const reader = await EpochReader.open(directory, { salvage });
    try {
      return await ask(reader, question);
    } finally {
      await reader.close();
    }
  } catch (error) {
    if (!DartStoreError.is(error)) throw storeFailure(error, directory);
    if (error.code === 'ERR_DART_LOCKED') return askOwner(directory, question, error);
    const failure = storeFailure(error, directory);
    const isPart = error.code === 'ERR_DART_DAMAGED' && /\.(ckpt|parquet)$/.test(error.path ?? '');
    throw isPart
      ? new CliError(`${failure.message}; --salvage answers from what is sound`, EXIT.INPUT, error)
      : failure;
  }
}

function askOwner(directory: string, { key, query }: Question, locked: Error): Promise<Reply> {
  const { policy, at, from, to } = query;
  const asked: QuestionJson = {
    key: Buffer.from(key).toString('hex'),
    ...given({ policy, at: ifGiven(at, String), from: ifGiven(from, String), to: ifGiven(to, String) }),
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
      const reply = parse<ReplyJson>(text);
      if (reply === null) refuse(`the process that has ${directory} open gave no answer`);
      else if ('error' in reply) refuse(reply.error);
      else resolve(reply);
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

/** Answers queries of other processes for a store that this process has open. */
export class QueryServer {
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
      // Remove the socket of a killed process: nobody else has the folder open.
      unlinkSync(path);
    } catch {
      // No socket to remove.
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

  async #answer(text: string): Promise<ReplyJson> {
    try {
      const { key, policy, at, from, to } = JSON.parse(text) as QuestionJson;
      const query = given({ policy, at: ifGiven(at, BigInt), from: ifGiven(from, BigInt), to: ifGiven(to, BigInt) });
      const reply = await ask(this.#store, { key: Buffer.from(key, 'hex'), query });
      this.answered++;
      return reply;
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) };
    }
  }
}
