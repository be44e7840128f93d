/** The thread that runs a command on P4 programs: see command-aside. */
import { Readable, Writable } from 'node:stream';
import { parentPort, workerData } from 'node:worker_threads';
import { given } from '../given.js';
import type { Terminal } from '../io.js';
import { run } from '../run.js';
import {
  errorOf,
  type Failure,
  type FromThread,
  type OutputName,
  type Shape,
  type ThreadStart,
  type ToThread,
} from './thread-messages.js';

const port = parentPort!;
const post = (message: FromThread): void => port.postMessage(message);

/** Writes through the process's stream, one piece at a time. */
class Outlet extends Writable {
  #written: ((error?: Error | null) => void) | undefined;

  constructor(readonly to: OutputName) {
    super();
  }

  override _write(bytes: Uint8Array, _encoding: BufferEncoding, written: (error?: Error | null) => void): void {
    this.#written = written;
    post({ kind: 'write', to: this.to, bytes });
  }

  override _writev(pieces: readonly { readonly chunk: Uint8Array }[], written: (error?: Error | null) => void): void {
    this.#written = written;
    post({ kind: 'write', to: this.to, bytes: Buffer.concat(pieces.map(({ chunk }) => chunk)) });
  }

  settle(failure: Failure | undefined): void {
    const written = this.#written;
    this.#written = undefined;
    written?.(failure && errorOf(failure));
  }
}

class Inlet extends Readable {
  override _read(): void {
    post({ kind: 'read' });
  }

  receive(bytes: Uint8Array | undefined, failure: Failure | undefined): void {
    if (failure !== undefined) this.destroy(errorOf(failure));
    else this.push(bytes ?? null);
  }
}

function terminal(outlet: Outlet, { isTTY, columns, rows }: Shape): Terminal {
  return Object.assign(outlet, { isTTY, ...given({ columns, rows }) });
}

const start = workerData as ThreadStart;
const outlets = { stdout: new Outlet('stdout'), stderr: new Outlet('stderr') };
// If standard error is closed, messages are lost.
outlets.stderr.on('error', () => {});
const stdin = new Inlet();
const stopping = new AbortController();
port.on('message', (message: ToThread) => {
  if (message.kind === 'written') outlets[message.to].settle(message.failure);
  else if (message.kind === 'input') stdin.receive(message.bytes, message.failure);
  else stopping.abort(message.signal);
});

const exitCode = await run(start.argv, {
  stdin,
  stdout: terminal(outlets.stdout, start.stdout),
  stderr: terminal(outlets.stderr, start.stderr),
  env: process.env,
  signal: stopping.signal,
});
// Wait for all pending writes; not every writer does.
await Promise.all(Object.values(outlets).map((each) => new Promise((resolve) => each.write('', resolve))));
post({ kind: 'done', exitCode });
