import { type Entity, P4RuntimeError, type UpdateError } from '@int/p4runtime';
import type { Change } from '../change/change.js';
import type { DesiredState } from '../change/desired-state.js';
import { type Clock, SYSTEM_CLOCK } from './clock.js';
import { Dependencies } from './dependencies.js';
import type { Obstacle } from './differences.js';
import { KnownRooms } from './known-rooms.js';
import { KnownSwitch } from './known-switch.js';
import type { Ownership } from './ownership.js';
import { type PlannedChanges, planChanges } from './plan-changes.js';
import type { Cause, ReconcilerOptions, ReconcilerState, SwitchStatus, WrittenChanges } from './reconciler-state.js';
import { Refusals } from './refusals.js';
import { Requests } from './requests.js';
import { Suspects } from './suspects.js';
import type { SwitchConnection } from './switch-connection.js';

const HEALING: Cause = { owner: 'reconciler', reason: 'a switch differed from what it shall have' };
const MOST_WAITING = 100;

/**
 * Makes switches have what they shall have, and keeps it so: reads, plans, writes step by step, reads back. What a switch refuses
 * is told with its words, and tried again later and later; what depends on it waits. There is no state beside that of the switches:
 * a reconciler that starts reads before it writes, and one that is not the primary does neither.
 */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #clock: Clock;
  readonly #ownership: Ownership;
  readonly #switches = new Map<number, KnownSwitch>();
  readonly #refusals: Refusals;
  readonly #rooms = new KnownRooms();
  #desired: DesiredState | null = null;
  #cause: Cause = HEALING;
  readonly #suspects = new Suspects();
  #obstacles: readonly Obstacle[] = [];
  #waiting: ReadonlySet<string> = new Set();
  #behind: ReadonlySet<number> = new Set();
  #isSettled = false;
  #isClosed = false;
  #isRunning = false;
  /** Something has happened that the round under way does not know of. */
  #news = true;
  #running: Promise<void> = Promise.resolve();
  #lastAdditionMs = Number.NEGATIVE_INFINITY;
  #cancelTimer: () => void = () => {};
  #interrupt: () => void = () => {};
  readonly #requests: Requests;
  #settledWaiters: (() => void)[] = [];

  constructor(options: ReconcilerOptions = {}) {
    this.#options = options;
    this.#clock = options.clock ?? SYSTEM_CLOCK;
    this.#ownership = options.ownership ?? {};
    this.#refusals = new Refusals(options.retry ?? { firstMs: 200, maxMs: 30_000 });
    const { answerMs = 10_000, requests = 16 } = options;
    this.#requests = new Requests(this.#clock, answerMs, requests, {
      failed: (known, error) => this.#failed(known, error),
      cameLate: (known) => {
        if (this.#switches.get(known.switchId) !== known) return;
        known.isRead = false;
        this.#wake();
      },
    });
    for (const connection of options.connections ?? []) this.add(connection);
  }

  /** Takes a switch in. @throws TypeError if there is one of that id */
  add(connection: SwitchConnection): void {
    const { switchId } = connection;
    if (this.#switches.has(switchId)) throw new TypeError(`there are two connections to switch ${switchId}`);
    const known = new KnownSwitch(connection);
    this.#switches.set(switchId, known);
    connection.onChange(() => {
      if (this.#switches.get(switchId) !== known) return;
      known.epoch++;
      known.isRead = false;
      known.failures = 0;
      known.nextAttemptMs = 0;
      known.forgetAcknowledged();
      this.#isSettled = false;
      this.#refusals.forgive(switchId);
      this.#rooms.forgetSwitch(switchId);
      this.#wake();
    });
    this.#wake();
  }

  /** Lets go of a switch, which keeps what it has. Its connection stays open. */
  remove(switchId: number): void {
    this.#switches.delete(switchId);
    this.#refusals.forgive(switchId);
    this.#wake();
  }

  /** From now on the switches shall have this, and nothing else of this controller. */
  want(desired: DesiredState, cause: Cause): void {
    this.#desired = desired;
    this.#cause = cause;
    this.#isSettled = false;
    this.#wake();
  }

  /** What the switches shall have; `null` before anything was wanted. */
  get desired(): DesiredState | null {
    return this.#desired;
  }

  /** What the switches had when they were read, with what they have acknowledged since; without those that cannot be read now. */
  get found(): ReadonlyMap<number, readonly Entity[]> {
    return new Map(
      [...this.#switches.values()].filter(({ isRead }) => isRead).map((each) => [each.switchId, each.found]),
    );
  }

  /** What would be done if this were wanted now, by what is known of the switches that were read. */
  plan(desired: DesiredState): PlannedChanges {
    return this.#plan(desired, new Set());
  }

  #plan(desired: DesiredState, givenUp: ReadonlySet<string>): PlannedChanges {
    const { leadsTo } = this.#options;
    const read = [...this.#switches.values()].filter(({ isRead }) => isRead);
    return planChanges(desired, this.found, {
      switches: new Map(read.map((each) => [each.switchId, { p4info: each.p4info! }])),
      ownership: this.#ownership,
      suspect: this.#suspects.names,
      givenUp,
      rooms: this.#rooms.all,
      ...(leadsTo !== undefined && { leadsTo }),
    });
  }

  /** Reads all switches anew. */
  refresh(): void {
    for (const known of this.#switches.values()) known.mustRead = true;
    this.#wake();
  }

  get state(): ReconcilerState {
    return {
      isSettled: this.#isSettled,
      switches: [...this.#switches.values()].map((each) => ({
        switchId: each.switchId,
        phase: this.#phaseOf(each),
        error: each.error,
      })),
      refusals: this.#refusals.list,
      obstacles: this.#obstacles,
      waiting: [...this.#waiting].slice(0, MOST_WAITING),
    };
  }

  /** Resolves when all switches have what they shall have, or when the reconciler is closed. */
  settled(): Promise<void> {
    if (this.#isSettled || this.#isClosed) return Promise.resolve();
    return new Promise((resolve) => this.#settledWaiters.push(resolve));
  }

  /** Ends the work; the switches keep what they have, and the connections stay open. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelTimer();
    this.#interrupt();
    this.#requests.stop();
    await this.#running;
    this.#tellSettled();
  }

  #phaseOf(known: KnownSwitch): SwitchStatus['phase'] {
    if (!known.connection.isPrimary) return 'absent';
    if (known.isLate) return 'late';
    if (known.error !== undefined) return 'failing';
    return !known.isRead || this.#behind.has(known.switchId) || this.#desired === null ? 'behind' : 'settled';
  }

  #wake(): void {
    this.#news = true;
    this.#interrupt();
    if (this.#isRunning || this.#isClosed) return;
    this.#isRunning = true;
    this.#cancelTimer();
    this.#running = this.#run();
  }

  async #run(): Promise<void> {
    // What comes in one turn of the event loop is dealt with together.
    await Promise.resolve();
    while (!this.#isClosed) {
      this.#news = false;
      const hasWritten = await this.#round();
      this.#options.onRound?.();
      if (!this.#news && !hasWritten) break;
    }
    this.#isRunning = false;
    if (!this.#isClosed) this.#sleep();
  }

  /** @returns whether anything was written, which is to be read back */
  async #round(): Promise<boolean> {
    const nowMs = this.#clock.nowMs();
    const unread = [...this.#switches.values()].filter((each) => canBeRead(each) && each.nextAttemptMs <= nowMs);
    await this.#requests.forEach(unread, (each) => this.#read(each));
    if (this.#desired === null || this.#news || this.#isClosed) return false;
    const switches = [...this.#switches.values()];
    const dependencies = new Dependencies(this.#desired, switches, this.#suspects);
    dependencies.giveUp(this.#refusals.hopeless);
    const planned = this.#plan(this.#desired, dependencies.givenUp);
    this.#obstacles = planned.obstacles;
    this.#behind = new Set([
      ...planned.plan.flatMap((step) => step.map(({ switchId }) => switchId)),
      ...planned.obstacles.map(({ switchId }) => switchId),
    ]);
    this.#refusals.keepOnly(new Set(planned.plan.flatMap((step) => step.map((each) => this.#idOf(each)))));
    this.#options.onPlan?.(planned.plan);
    const hasWritten = await this.#carryOut(planned, dependencies);
    this.#waiting = dependencies.blocked;
    const isComplete = planned.plan.length === 0 && planned.obstacles.length === 0;
    this.#isSettled = isComplete && !this.#news && switches.every(({ isRead, mustRead }) => isRead && !mustRead);
    if (planned.plan.length === 0) this.#cause = HEALING;
    if (this.#isSettled) this.#tellSettled();
    return hasWritten;
  }

  async #carryOut(planned: PlannedChanges, dependencies: Dependencies): Promise<boolean> {
    const { plan, graceBefore, earlySteps, delayed } = planned;
    dependencies.delay(delayed);
    let hasWritten = false;
    let isClean = true;
    for (const [index, step] of plan.entries()) {
      // What is left of a broken path might send packets back to where an entry comes. It is not waited for without end.
      const isHeldBack =
        index === earlySteps &&
        plan.slice(0, earlySteps).some((early) => early.some((each) => this.#refusals.hasHope(this.#idOf(each))));
      if (index >= graceBefore && !isHeldBack) await this.#grace();
      if (isHeldBack || this.#news || this.#isClosed) {
        // Of the steps that were left out nobody knows what will become.
        isClean = false;
        break;
      }
      const nowMs = this.#clock.nowMs();
      const bySwitch = new Map<number, Change[]>();
      for (const change of step) {
        const known = this.#switches.get(change.switchId);
        const canBe = known?.isRead === true && !known.isBusy && known.connection.isPrimary;
        const wasRefused = this.#refusals.mustWait(this.#idOf(change), nowMs);
        if (!canBe || wasRefused || dependencies.mustWait(change)) {
          dependencies.block(change, wasRefused ? 'refused' : 'waits');
          if (index < earlySteps) isClean = false;
          continue;
        }
        const list = bySwitch.get(change.switchId);
        if (list === undefined) bySwitch.set(change.switchId, [change]);
        else list.push(change);
      }
      if (bySwitch.size > 0) hasWritten = true;
      await this.#requests.forEach([...bySwitch], async ([switchId, changes]) => {
        const done = await this.#write(this.#switches.get(switchId)!, changes, dependencies);
        if (!done && index < earlySteps) isClean = false;
      });
    }
    // Broken paths are removed from all switches. Paths that are not whole again stay suspect, and all do while a switch is away:
    // what another lacks, or may have lost, is not in the plan.
    const isAllRead = [...this.#switches.values()].every(({ isRead }) => isRead);
    if (isClean && isAllRead && !this.#news) {
      const { blocked, givenUp } = dependencies;
      // Of what is given up nothing is left that leads to a gap.
      this.#suspects.keepOnly(new Set([...blocked].filter((name) => !givenUp.has(name))));
    }
    return hasWritten;
  }

  async #read(known: KnownSwitch): Promise<void> {
    const { epoch } = known;
    const isFirst = !known.isKnown;
    const contents = await this.#requests.answer(known, () => known.connection.read());
    if (contents === undefined || known.epoch !== epoch || this.#switches.get(known.switchId) !== known) return;
    try {
      const { lost, isOthers, ineffective } = known.learn(contents, this.#ownership);
      for (const change of ineffective) {
        this.#refuse(known, change, 'it was acknowledged, and the switch does not have it');
      }
      // What others have written since is a path of theirs, whole or not.
      if (isFirst || isOthers) this.#suspects.addAll();
      else this.#suspects.add(lost, known.switchId);
      known.failures = 0;
      known.error = undefined;
    } catch (error) {
      this.#failed(known, error);
    }
  }

  /** @returns whether all changes are done */
  async #write(known: KnownSwitch, changes: readonly Change[], dependencies: Dependencies): Promise<boolean> {
    const { epoch } = known;
    let refused = new Map<number, UpdateError>();
    let unknown: string | undefined;
    const answer = await this.#requests.answer(known, async () => {
      try {
        await known.connection.write(changes);
      } catch (error) {
        if (!P4RuntimeError.is(error) || error.updates.length === 0) throw error;
        refused = new Map(error.updates.map((each) => [each.index, each]));
      }
      return true;
    });
    if (answer === undefined) unknown = known.error ?? 'no answer in time';
    else if (known.epoch !== epoch) unknown = 'the session ended meanwhile';
    // What is there is read again, whatever the answer says.
    known.mustRead = true;
    if (unknown !== undefined) known.isRead = false;
    const atMs = this.#clock.nowMs();
    const results = changes.map((change, index): WrittenChanges['results'][number] => {
      const place = known.placeOf(change);
      if (unknown !== undefined) return { change, place, result: 'unknown', message: unknown };
      const refusal = refused.get(index);
      if (refusal === undefined) return { change, place, result: 'done', message: '' };
      return { change, place, result: 'refused', message: `${refusal.grpcName}: ${refusal.message}` };
    });
    for (const { change, result } of results) {
      if (result === 'unknown') known.doubt(change);
      if (result !== 'done') dependencies.block(change, 'refused');
      else {
        known.acknowledge(change);
        if (change.type !== 'delete') this.#lastAdditionMs = atMs;
        if (change.type === 'insert') this.#rooms.forget(known, change);
      }
    }
    for (const [index, { change, result, message }] of results.entries()) {
      if (result !== 'refused') continue;
      const isFull = refused.get(index)?.grpcCode === RESOURCE_EXHAUSTED && change.type === 'insert';
      // What had no room is planned anew at once, with what is known of the room now.
      if (!(isFull && this.#rooms.learn(known, change))) this.#refuse(known, change, message);
    }
    this.#options.onWritten?.({ switchId: known.switchId, atMs, cause: this.#cause, results });
    return results.every(({ result }) => result === 'done');
  }

  #refuse(known: KnownSwitch, change: Change, message: string): void {
    this.#refusals.note(known.idOf(change), change, message, this.#clock.nowMs());
  }

  #idOf(change: Change): string {
    return this.#switches.get(change.switchId)?.idOf(change) ?? '';
  }

  #failed(known: KnownSwitch, error: unknown): void {
    const { firstMs, maxMs } = this.#refusals.retry;
    known.isRead = false;
    known.error = error instanceof Error ? error.message : String(error);
    known.nextAttemptMs = this.#clock.nowMs() + Math.min(firstMs * 2 ** Math.min(known.failures++, 30), maxMs);
  }

  /** Waits for packets that are on their way by what is to be removed. News ends it. */
  async #grace(): Promise<void> {
    const { graceMs = 100 } = this.#options;
    const waitMs = this.#lastAdditionMs + graceMs - this.#clock.nowMs();
    if (waitMs <= 0 || this.#news || this.#isClosed) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.schedule(waitMs, resolve);
      this.#interrupt = () => {
        cancel();
        resolve();
      };
    });
    this.#interrupt = () => {};
  }

  /** Until the next attempt, or the next check. */
  #sleep(): void {
    const { checkMs = 30_000 } = this.#options;
    const nowMs = this.#clock.nowMs();
    const attempts = [
      ...this.#refusals.list.map(({ nextAttemptMs }) => nextAttemptMs),
      ...[...this.#switches.values()].filter(canBeRead).map(({ nextAttemptMs }) => nextAttemptMs),
    ];
    const checkAtMs = nowMs + checkMs;
    const nextMs = Math.min(checkAtMs, ...attempts);
    this.#cancelTimer = this.#clock.schedule(Math.max(1, nextMs - nowMs), () => {
      if (nextMs === checkAtMs) for (const known of this.#switches.values()) known.mustRead = true;
      this.#wake();
    });
  }

  #tellSettled(): void {
    const waiters = this.#settledWaiters;
    this.#settledWaiters = [];
    for (const resolve of waiters) resolve();
  }
}

/** Whether a switch is to be read, and can be asked. */
const canBeRead = ({ isRead, mustRead, isBusy, connection }: KnownSwitch): boolean =>
  (!isRead || mustRead) && !isBusy && connection.isPrimary;

/** gRPC's code for a table that is full. */
const RESOURCE_EXHAUSTED = 8;
