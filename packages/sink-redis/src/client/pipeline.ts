import type { OutageListener } from '@int/collector';
import { type BackOff, OutageLog } from '@int/collector/internals';
import { ErrorReply } from '@redis/client';
import { isNoScript, RedisSinkError, toSinkError } from '../errors.js';
import type { ServerCounts } from '../outlet/counters.js';
import { type Batch, KINDS, type Outlet } from '../outlet/outlet.js';
import type { Connection } from './connection.js';
import { BATCH_REPLY, HELLO_REPLY, SCRIPTS, type ScriptName } from './scripts.js';
import { Watchdog } from './watchdog.js';

/** A batch with its number. It is kept until the server is known to have applied it. */
interface Numbered {
  readonly number: number;
  readonly batch: Batch;
  sends: number;
  sentAt: number;
  /** An unexpected error in reply to the batch. If the batch is applied nevertheless, it may be incomplete. */
  failure: RedisSinkError | null;
}

export interface PipelineOptions extends OutageListener<RedisSinkError> {
  connect(onEnd: (error: unknown) => void, signal: AbortSignal): Promise<Connection>;
  readonly outlets: readonly Outlet[];
  readonly prefix: string;
  /** Key of the writer's hash. */
  readonly writerKey: string;
  readonly session: string;
  /** Most unacknowledged batches. */
  readonly inFlight: number;
  readonly replyTimeoutMs: number;
  readonly backOff: BackOff;
  /** Called when records have been settled. */
  onProgress(): void;
  /** Called when it has ended because another session has taken over. */
  onFenced(): void;
}

/** Counts of network traffic. */
export interface PipelineTotals {
  /** Batches acknowledged. */
  readonly batches: number;
  /** Batches sent again, and the records in them. */
  readonly resentBatches: number;
  readonly resentRecords: number;
  /** Batches found to be applied although their acknowledgement never came. */
  readonly confirmedBatches: number;
  /** Bytes of encoded records sent, including those sent again. */
  readonly bytes: number;
  /** Connections established after the first. */
  readonly reconnects: number;
  /** Attempts that failed: connections not made or broken, batches that the server could not write. */
  readonly failedAttempts: number;
}

/** The epoch in a greeting that does not yet take over. */
const NO_EPOCH = -1;

/** Most greetings without a delay. */
const MAX_GREETINGS = 8;

type State = 'idle' | 'connecting' | 'greeting' | 'open' | 'waiting' | 'ended';

/**
 * Delivers batches to the server, each exactly once and in order.
 *
 * Several may be unacknowledged at a time. Every problem has the same remedy: treat all batches as unsent, wait,
 * reconnect if needed, ask the server for the last batch applied (`hello`), and continue after it. Replies to earlier
 * sends are ignored. The scripts ensure that a batch that arrives twice, late, or out of order does no harm.
 */
export class Pipeline {
  readonly #options: PipelineOptions;
  readonly #scripts = new Map<ScriptName, string>();
  #state: State = 'idle';
  #connection: Connection | null = null;
  #connecting: AbortController | null = null;
  #connections = 0;
  /** Increases with each problem. Replies to sends of a lower attempt are ignored. */
  #attempt = 0;
  /** Batches not known to be applied, oldest first; the first `#sent` of them were sent in this attempt. */
  #flight: Numbered[] = [];
  #sent = 0;
  /** Epoch of this session; 0 before it has begun. */
  #epoch = 0;
  /** Number of the last greeting. */
  #greeting = 0;
  #acknowledged = 0;
  #lastNumber = 0;
  #turn = 0;
  /** Successive greetings without an acknowledged batch between them. */
  #greetings = 0;
  #greetedAt = 0;
  #isRefusing = false;
  #retryTimer: NodeJS.Timeout | undefined;
  readonly #outages: OutageLog<RedisSinkError>;
  readonly #watchdog: Watchdog;
  readonly #totals = {
    batches: 0,
    resentBatches: 0,
    resentRecords: 0,
    confirmedBatches: 0,
    bytes: 0,
    failedAttempts: 0,
  };

  constructor(options: PipelineOptions) {
    this.#options = options;
    this.#outages = new OutageLog(options);
    const { replyTimeoutMs } = options;
    this.#watchdog = new Watchdog(
      replyTimeoutMs,
      () => this.#awaitedSince(),
      () => this.#fail(new RedisSinkError('ERR_REDIS_TIMEOUT', `no answer for ${replyTimeoutMs} ms`), false),
    );
  }

  get totals(): PipelineTotals {
    return { ...this.#totals, reconnects: Math.max(0, this.#connections - 1) };
  }

  /** Whether the server has answered and there has been no problem since. */
  get isOpen(): boolean {
    return this.#state === 'open' && !this.#outages.isOutage;
  }

  start(): void {
    if (this.#state === 'idle') this.#connect();
  }

  /** Sends ready batches, as far as the window allows. */
  pump(): void {
    if (this.#state !== 'open') return;
    // In an outage, one batch at a time tests whether it is over.
    const window = this.#outages.isOutage ? 1 : this.#options.inFlight;
    while (this.#sent < window) {
      if (this.#sent === this.#flight.length) {
        const batch = this.#next();
        if (batch === null) return;
        this.#lastNumber += 1;
        this.#flight.push({ number: this.#lastNumber, batch, sends: 0, sentAt: 0, failure: null });
      }
      this.#send(this.#flight[this.#sent]!);
    }
  }

  /**
   * Ends at once. Sent batches are settled as unconfirmed, the others with `reason`.
   * @returns the connection, if there is one, for a last command
   */
  end(reason: 'closed' | 'fenced'): Connection | null {
    if (this.#state === 'ended') return null;
    const isUsable = this.#state === 'open' && this.#sent === 0;
    this.#state = 'ended';
    this.#attempt += 1;
    clearTimeout(this.#retryTimer);
    this.#watchdog.stop();
    this.#connecting?.abort();
    for (const { batch, sends } of this.#flight) {
      batch.outlet.counters.inFlight -= batch.records;
      batch.outlet.counters.dropped[sends > 0 ? 'unconfirmed' : reason] += batch.records;
    }
    this.#flight = [];
    this.#sent = 0;
    const connection = this.#connection;
    this.#connection = null;
    if (isUsable) return connection;
    connection?.destroy();
    return null;
  }

  #next(): Batch | null {
    const { outlets } = this.#options;
    for (let k = 0; k < outlets.length; k++) {
      const outlet = outlets[(this.#turn + k) % outlets.length]!;
      if (!outlet.isReady) continue;
      this.#turn = (this.#turn + k + 1) % outlets.length;
      return outlet.next();
    }
    return null;
  }

  #send(numbered: Numbered): void {
    const { batch, number } = numbered;
    this.#sent += 1;
    if (numbered.sends > 0) {
      this.#totals.resentBatches += 1;
      this.#totals.resentRecords += batch.records;
    }
    numbered.sends += 1;
    numbered.sentAt = performance.now();
    this.#totals.bytes += batch.bytes;
    const { writerKey, session } = this.#options;
    const sha = this.#scripts.get(batch.script) ?? '';
    const args = [writerKey, session, String(number), batch.outlet.name, ...batch.args];
    this.#expect(
      this.#connection!.send(['EVALSHA', sha, '1', ...args]),
      (reply) => this.#onReply(numbered, reply),
      (error) => this.#onError(numbered, error),
    );
    this.#watchdog.start();
  }

  /** Waits for a reply of this attempt: one to an earlier attempt is ignored. */
  #expect<T>(
    reply: Promise<T>,
    onReply: (reply: T) => void,
    onError = (error: unknown) => this.#fail(toSinkError(error), error instanceof ErrorReply),
  ): void {
    const attempt = this.#attempt;
    reply.then(
      (value) => {
        if (attempt === this.#attempt) onReply(value);
      },
      (error: unknown) => {
        if (attempt === this.#attempt) onError(error);
      },
    );
  }

  #onReply(numbered: Numbered, reply: unknown): void {
    const [status, refused, incomplete, why] = reply as [number, number, number, string];
    if (status !== BATCH_REPLY.APPLIED && status !== BATCH_REPLY.APPLIED_BEFORE) {
      // The other batches of this attempt are not applied either. The reply to hello gives the server's state.
      this.#greetAgain();
      return;
    }
    this.#flight.shift();
    this.#sent -= 1;
    // It was applied just now, and so completely.
    if (status === BATCH_REPLY.APPLIED) numbered.failure = null;
    numbered.batch.outlet.counters.update(refused, incomplete);
    this.#settle(numbered);
    this.#onRefused(why);
    this.#recover();
    this.#options.onProgress();
    this.pump();
  }

  #settle({ batch, number, failure }: Numbered): void {
    const { counters } = batch.outlet;
    this.#acknowledged = number;
    this.#greetings = 0;
    this.#totals.batches += 1;
    counters.inFlight -= batch.records;
    if (failure === null) counters.acknowledged += batch.records;
    else counters.dropped.unconfirmed += batch.records;
    batch.release();
  }

  #onRefused(why: string): void {
    if (why !== '' && !this.#isRefusing) this.#options.onProblem(new RedisSinkError('ERR_REDIS_REFUSED', why));
    this.#isRefusing = why !== '';
  }

  #onError(numbered: Numbered, error: unknown): void {
    if (isNoScript(error)) {
      this.#greetAgain();
      return;
    }
    const problem = toSinkError(error);
    if (problem.code === 'ERR_REDIS_UNEXPECTED') numbered.failure = problem;
    this.#fail(problem, error instanceof ErrorReply);
  }

  /** Treats all batches as unsent; later replies to them are ignored. */
  #forgetSent(): void {
    this.#attempt += 1;
    this.#sent = 0;
    this.#watchdog.stop();
  }

  /** Retries after a problem, with a delay. @param canStay whether the connection itself is sound */
  #fail(problem: RedisSinkError, canStay: boolean): void {
    if (this.#state === 'ended') return;
    this.#forgetSent();
    this.#totals.failedAttempts += 1;
    // The host name may now belong to another server, and the password may have changed.
    const mustReconnect = problem.code === 'ERR_REDIS_READONLY' || problem.code === 'ERR_REDIS_AUTH';
    if (!canStay || mustReconnect) {
      this.#connection?.destroy();
      this.#connection = null;
    }
    this.#outages.fail(problem);
    this.#state = 'waiting';
    clearTimeout(this.#retryTimer);
    this.#retryTimer = setTimeout(() => {
      if (this.#connection === null) this.#connect();
      else this.#greet();
    }, this.#options.backOff.next());
  }

  #recover(): void {
    this.#options.backOff.reset();
    this.#outages.succeed();
  }

  #connect(): void {
    this.#state = 'connecting';
    const attempt = this.#attempt;
    const onEnd = (error: unknown): void => {
      if (this.#connection === made) this.#fail(toSinkError(error), false);
    };
    let made: Connection | undefined;
    this.#connecting = new AbortController();
    this.#options.connect(onEnd, this.#connecting.signal).then(
      (connection) => {
        if (attempt !== this.#attempt) {
          connection.destroy();
          return;
        }
        made = connection;
        this.#connection = connection;
        this.#connections += 1;
        this.#greet();
      },
      (error: unknown) => {
        if (attempt === this.#attempt) this.#fail(toSinkError(error), false);
      },
    );
  }

  /** Greets again after the server has lost the scripts or the writer's hash. */
  #greetAgain(): void {
    this.#greetings += 1;
    if (this.#greetings > MAX_GREETINGS) {
      this.#greetings = 0;
      this.#fail(
        new RedisSinkError('ERR_REDIS_UNEXPECTED', 'the server forgets scripts or keys again and again'),
        true,
      );
    } else {
      this.#forgetSent();
      this.#greet();
    }
  }

  #greet(): void {
    this.#state = 'greeting';
    this.#greetedAt = performance.now();
    const connection = this.#connection!;
    const loaded = Object.entries(SCRIPTS).filter(([name]) => name !== 'hello');
    // Load the scripts first. Before login, the server ends the connection without a reason on a command of more than
    // ten arguments.
    const loads = loaded.map(([, source]) => connection.send(['SCRIPT', 'LOAD', source]));
    const replies = Promise.all([...loads, this.#hello(NO_EPOCH)]);
    this.#watchdog.start();
    this.#expect(replies, (values) => {
      loaded.forEach(([name], index) => {
        this.#scripts.set(name as ScriptName, String(values[index]));
      });
      this.#onHello(values.at(-1) as number[]);
    });
  }

  /** @param follows the epoch after which this session is to begin */
  #hello(follows: number): Promise<unknown> {
    this.#greeting += 1;
    const numbers = [this.#epoch, this.#greeting, this.#acknowledged, this.#lastNumber, follows].map(String);
    const { prefix, session, writerKey } = this.#options;
    return this.#connection!.send(['EVAL', SCRIPTS.hello, '1', writerKey, session, ...numbers, prefix]);
  }

  #onHello([status, epoch = 0, applied = 0, ...numbers]: readonly number[]): void {
    if (status === HELLO_REPLY.CLAIM) {
      // Takes over the writer id, if its epoch is still the one just received.
      this.#expect(this.#hello(epoch), (reply) => this.#onHello(reply as number[]));
      return;
    }
    this.#watchdog.stop();
    if (status === HELLO_REPLY.STALE) {
      this.#fail(new RedisSinkError('ERR_REDIS_UNEXPECTED', 'the server knows of a later greeting'), true);
      return;
    }
    if (status === HELLO_REPLY.FENCED) {
      this.#options.onProblem(
        new RedisSinkError('ERR_REDIS_FENCED', `another sink has taken over ${this.#options.writerKey}`),
      );
      this.#options.onFenced();
      return;
    }
    const server = KINDS.map((_, outlet): ServerCounts => {
      const [written = 0, refused = 0, incomplete = 0] = numbers.slice(3 * outlet, 3 * outlet + 3);
      return { written, refused, incomplete };
    });
    if (this.#epoch === 0) {
      this.#epoch = epoch;
      this.#acknowledged = applied;
      this.#lastNumber = applied;
      for (const outlet of this.#options.outlets) outlet.counters.begin(server[KINDS.indexOf(outlet.name)]!);
    } else if (status === HELLO_REPLY.LOST) {
      this.#onLost(server);
    } else {
      this.#confirm(applied, server);
    }
    this.#state = 'open';
    if (this.#flight.length === 0 && !this.#options.outlets.some((outlet) => outlet.isReady)) this.#recover();
    this.#options.onProgress();
    this.pump();
  }

  /** Settles batches up to number `applied`, whose acknowledgement may not have arrived. */
  #confirm(applied: number, server: readonly ServerCounts[]): void {
    for (const outlet of this.#options.outlets) {
      const { refused, incomplete } = server[KINDS.indexOf(outlet.name)]!;
      outlet.counters.update(refused, incomplete);
    }
    while (this.#flight.length > 0 && this.#flight[0]!.number <= applied) {
      this.#totals.confirmedBatches += 1;
      this.#settle(this.#flight.shift()!);
    }
  }

  #onLost(server: readonly ServerCounts[]): void {
    const lost = this.#options.outlets.map((outlet) => {
      const records = outlet.counters.lose(server[KINDS.indexOf(outlet.name)]!);
      return `${records} ${outlet.name}`;
    });
    this.#options.onProblem(
      new RedisSinkError('ERR_REDIS_LOST', `the server no longer has ${lost.join(', ')} that it had acknowledged`),
    );
  }

  /** Time of the oldest request without a reply. */
  #awaitedSince(): number | null {
    if (this.#state === 'greeting') return this.#greetedAt;
    return this.#state === 'open' && this.#sent > 0 ? this.#flight[0]!.sentAt : null;
  }
}
