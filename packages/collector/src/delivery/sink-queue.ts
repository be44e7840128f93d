import { DEGRADED, type DegradedState } from '../health/degraded-state.js';
import { DegradedStates } from '../health/degraded-states.js';
import type { RecordKind, Sink, SinkTotals } from '../stage.js';
import { addTotals } from './add-totals.js';
import { SinkAccount, takesOf } from './sink-account.js';

/** A call of a sink that has not settled. */
interface Call {
  readonly kind: RecordKind;
  readonly records: number;
  /** Lets the pipeline go on. */
  readonly release: () => void;
}

/** The records that a sink has dropped, over all kinds and reasons. */
function droppedOf(totals: SinkTotals): number {
  const counts = Object.values(totals).flatMap(({ dropped }) => Object.values(dropped));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** A sink with the kinds it takes and its state. */
export class SinkQueue {
  readonly sink: Sink;
  readonly takes: Readonly<Record<RecordKind, boolean>>;
  /** `null`: it keeps its own. */
  readonly #account: SinkAccount | null;
  readonly #onFailure: (error: unknown) => void;
  readonly #calls = new Set<Call>();
  /** It holds up the pipeline and is about to go: it is given nothing. */
  #isAbandoned = false;
  /** What a sink that keeps its own account was not given. */
  #skipped: SinkAccount | null = null;
  readonly #states = new DegradedStates();
  /** Message of the last failure; `null` after a success. */
  failure: string | null = null;
  /** Takes what is offered after the end; `null` before it. */
  #late: ((kind: RecordKind, records: number) => void) | null = null;

  /** @param onFailure called with what the sink has thrown */
  constructor(sink: Sink, onFailure: (queue: SinkQueue, error: unknown) => void) {
    this.sink = sink;
    this.takes = takesOf(sink);
    this.#onFailure = (error) => onFailure(this, error);
    this.#account = sink.totals === undefined ? new SinkAccount() : null;
    this.#states.watch(
      DEGRADED.SHEDDING,
      () => droppedOf(this.totals()),
      (records) => `${records} records dropped`,
    );
  }

  /** Gives the sink records. @returns a promise if it is not done with them, which never rejects */
  give(kind: RecordKind, records: number, give: (sink: Sink) => Promise<void> | undefined): Promise<void> | undefined {
    if (this.#late !== null) {
      this.#late(kind, records);
      return undefined;
    }
    const account = this.#account;
    if (this.#isAbandoned) {
      this.#skip(kind, records);
      return undefined;
    }
    account?.offer(kind, records);
    let busy: Promise<void> | undefined;
    try {
      busy = give(this.sink);
    } catch (error) {
      account?.fail(kind, records);
      this.#onFailure(error);
      return undefined;
    }
    if (busy === undefined) {
      account?.deliver(kind, records);
      this.failure = null;
      return undefined;
    }
    return this.#wait(kind, records, busy);
  }

  /**
   * Waits no longer for the calls that have not settled, and gives the sink nothing more. The records are dropped as
   * `failed`.
   * @returns whether there were any such calls
   */
  abandon(): boolean {
    if (this.#calls.size > 0) this.#isAbandoned = true;
    const calls = [...this.#calls];
    this.#calls.clear();
    for (const { kind, records, release } of calls) {
      this.#account?.fail(kind, records);
      release();
    }
    return calls.length > 0;
  }

  /** Gives the sink records again. */
  resume(): void {
    this.#isAbandoned = false;
  }

  /** Ends the account. @param late takes what is offered from now on. @returns the last counters */
  end(late: (kind: RecordKind, records: number) => void): SinkTotals {
    this.abandon();
    this.#late = late;
    return this.totals();
  }

  /** The outage, the dropped records and the sink's own states. */
  degraded(): DegradedState[] {
    const reason = this.sink.health === undefined ? this.failure : this.sink.health();
    if (reason === null) this.#states.end(DEGRADED.OUTAGE);
    else this.#states.begin(DEGRADED.OUTAGE, reason);
    return [...this.#states.list(), ...(this.sink.degraded?.() ?? [])];
  }

  totals(): SinkTotals {
    if (this.#account !== null) return this.#account.totals(this.takes);
    const own = this.sink.totals!();
    return this.#skipped === null ? own : addTotals(own, this.#skipped.totals(this.takes));
  }

  #skip(kind: RecordKind, records: number): void {
    if (this.#account === null) this.#skipped ??= new SinkAccount();
    const account = this.#account ?? this.#skipped!;
    account.offer(kind, records);
    account.fail(kind, records);
  }

  #wait(kind: RecordKind, records: number, busy: Promise<void>): Promise<void> {
    return new Promise((resolve) => {
      const call: Call = { kind, records, release: resolve };
      this.#calls.add(call);
      busy
        .then(
          () => {
            if (!this.#calls.has(call)) return;
            this.#account?.deliver(kind, records);
            this.failure = null;
          },
          (error: unknown) => {
            if (!this.#calls.has(call)) return;
            this.#account?.fail(kind, records);
            this.#onFailure(error);
          },
        )
        .then(() => {
          this.#calls.delete(call);
          resolve();
        });
    });
  }
}
