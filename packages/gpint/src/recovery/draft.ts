/** A state in the making: the changes of `recoveryStep`, and its records. */
import type {
  IgnoredReason,
  LinkState,
  LinkStatus,
  ProbeProgress,
  RecoveryAction,
  RecoveryConfig,
  RecoveryCounters,
  RecoveryState,
  SendRecord,
  SessionResult,
  SwitchReason,
  SwitchRecord,
  SwitchState,
  UncollectedSwitch,
} from './model.js';
import { emptyTrie, trieEach, trieGet, trieSet } from './trie.js';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Request ids have 15 bits. */
const ID_MASK = 0x7fff;

export const NO_COUNTERS: RecoveryCounters = /* @__PURE__ */ Object.freeze({
  feedback: 0,
  lateFeedback: 0,
  home: 0,
  lateHome: 0,
  notice: 0,
  lateNotice: 0,
  duplicate: 0,
  stale: 0,
  unknown: 0,
  foreign: 0,
});

/** The part of a state that belongs to its session, while there is none. */
export const NO_SESSION = /* @__PURE__ */ Object.freeze({
  running: false,
  missing: 0,
  probes: [],
  progress: emptyTrie<ProbeProgress>(),
  sends: emptyTrie<SendRecord>(),
  active: [],
  launched: 0,
  done: 0,
  abandoned: 0,
  sent: 0,
  completeSends: 0,
  switches: emptyTrie<SwitchState>(),
  links: emptyTrie<readonly LinkState[]>(),
  counters: NO_COUNTERS,
}) satisfies Partial<RecoveryState>;

const UNTOUCHED: SwitchState = /* @__PURE__ */ Object.freeze({ collected: false, unavailable: null });

/** Number of the switch that a send visits at position `at` of its route, prefix included. */
export function routeSwitch(send: SendRecord, switches: readonly number[], at: number): number {
  const { prefix } = send;
  return at < prefix.length ? prefix[at]! : switches[send.start + at - prefix.length]!;
}

export class Draft {
  readonly state: Mutable<RecoveryState>;
  readonly actions: RecoveryAction[] = [];
  /** Probes that this step ended. */
  readonly closed: number[] = [];
  readonly config: RecoveryConfig;

  constructor(state: RecoveryState, nowNs: number, config: RecoveryConfig) {
    this.state = { ...state, nowNs: Math.max(nowNs, state.nowNs) };
    this.config = config;
  }

  progress(probe: number): ProbeProgress {
    return trieGet(this.state.progress, probe)!;
  }

  setProgress(probe: number, progress: ProbeProgress): void {
    this.state.progress = trieSet(this.state.progress, probe, progress);
  }

  setSend(requestId: number, send: SendRecord): void {
    this.state.sends = trieSet(this.state.sends, requestId, send);
  }

  count(name: keyof RecoveryCounters): void {
    const counters: Mutable<RecoveryCounters> = { ...this.state.counters };
    counters[name]++;
    this.state.counters = counters;
  }

  ignore(requestId: number, reason: IgnoredReason): void {
    this.count(reason);
    this.actions.push({ kind: 'ignored', requestId, reason });
  }

  /** Counts a packet whose request id belongs to no send of this session: an earlier or an unused id. */
  ignoreStranger(requestId: number): void {
    const age = (this.state.nextId - 1 - requestId) & ID_MASK;
    this.ignore(requestId, age < this.state.issued ? 'stale' : 'unknown');
  }

  /** Returns the next request id that no open probe uses. An id is reused after 32,768 sends. */
  takeId(): number {
    const { state } = this;
    for (;;) {
      const id = state.nextId;
      state.nextId = (id + 1) & ID_MASK;
      state.issued++;
      const send = trieGet(state.sends, id);
      if (send === null) return id;
      const progress = this.progress(send.probe);
      if (progress.outcome !== 'open' || progress.requestId !== id) return id;
    }
  }

  markCollected(node: number): void {
    const known = trieGet(this.state.switches, node) ?? UNTOUCHED;
    if (known.collected && known.unavailable === null) return;
    if (!known.collected && known.unavailable !== null) this.state.missing--;
    this.state.switches = trieSet(this.state.switches, node, { collected: true, unavailable: null });
  }

  recordSwitch(node: number, reason: SwitchReason): void {
    const known = trieGet(this.state.switches, node) ?? UNTOUCHED;
    if (!known.collected && known.unavailable === null) this.state.missing++;
    this.state.switches = trieSet(this.state.switches, node, { collected: known.collected, unavailable: reason });
    this.actions.push({ kind: 'switch', node, reason });
  }

  /** Records that according to a notice the probe was lost between `from` and `to`. */
  recordLink(from: number, to: number, status: LinkStatus, probe: number): void {
    const { state } = this;
    const known = this.#linkState(from, to);
    const notices = (known?.notices ?? 0) + 1;
    this.#setLink({ from, to, status, notices, atNs: state.nowNs, probe }, known);
    if (known?.status !== status) this.actions.push({ kind: 'link', from, to, status });
  }

  /**
   * Clears links that a send has passed according to its data. A link recorded as unavailable for the same probe, or
   * before this send, was only slow (or lost only feedback).
   */
  clearLinks(send: SendRecord, reach: number): void {
    const { state } = this;
    if (state.links.root === null) return;
    const { switches } = state.probes[send.probe]!;
    for (let at = 1; at < reach; at++) {
      const from = routeSwitch(send, switches, at - 1);
      const to = routeSwitch(send, switches, at);
      const known = this.#linkState(from, to);
      if (known?.status !== 'unavailable') continue;
      if (known.probe !== send.probe && send.sentNs <= known.atNs) continue;
      this.#setLink({ ...known, status: 'congested' }, known);
      this.actions.push({ kind: 'link', from: known.from, to: known.to, status: 'congested' });
    }
  }

  #linkState(a: number, b: number): LinkState | undefined {
    const records = trieGet(this.state.links, Math.min(a, b));
    return records?.find(({ from, to }) => (from === a && to === b) || (from === b && to === a));
  }

  #setLink(link: LinkState, known: LinkState | undefined): void {
    const key = Math.min(link.from, link.to);
    const records = trieGet(this.state.links, key) ?? [];
    const next = known === undefined ? [...records, link] : records.map((each) => (each === known ? link : each));
    this.state.links = trieSet(this.state.links, key, next);
  }

  /** Whether a prefix should avoid this link. */
  avoids(from: number, to: number): boolean {
    return this.#linkState(from, to)?.status === 'unavailable' || this.#isUnavailable(from) || this.#isUnavailable(to);
  }

  #isUnavailable(node: number): boolean {
    return (trieGet(this.state.switches, node)?.unavailable ?? null) !== null;
  }

  /** Ends the session. `stopped`: before its regular end. */
  end(stopped: boolean): void {
    const { state } = this;
    const sentInitial = state.launched;
    const result: SessionResult = {
      session: state.session,
      startedNs: state.startedNs,
      endedNs: state.nowNs,
      elapsedNs: state.lastArrivalNs - state.startedNs,
      ...this.#coverage(stopped),
      switches: this.#switchRecords(),
      links: this.#linkRecords(),
      sentInitial,
      sentRecovery: state.sent - sentInitial,
      failedProbes: state.sent - state.completeSends,
      abandoned: state.abandoned,
      counters: state.counters,
    };
    Object.assign(state, NO_SESSION);
    this.actions.push({ kind: 'end', result });
  }

  #coverage(stopped: boolean): Pick<SessionResult, 'complete' | 'collected' | 'uncollected'> {
    const { state } = this;
    const seen = new Set<number>();
    const uncollected: UncollectedSwitch[] = [];
    for (const [probe, { switches }] of state.probes.entries()) {
      const ended = (trieGet(state.progress, probe)?.outcome ?? 'open') !== 'open';
      for (const node of switches) {
        if (seen.has(node)) continue;
        seen.add(node);
        const known = trieGet(state.switches, node) ?? UNTOUCHED;
        if (known.collected) continue;
        const reason = known.unavailable ?? (stopped && !ended ? 'session-end' : 'lost');
        uncollected.push({ node, reason });
      }
    }
    uncollected.sort((a, b) => a.node - b.node);
    return { complete: uncollected.length === 0, collected: seen.size - uncollected.length, uncollected };
  }

  #switchRecords(): SwitchRecord[] {
    const records: SwitchRecord[] = [];
    trieEach(this.state.switches, ({ unavailable }, node) => {
      if (unavailable !== null) records.push({ node, reason: unavailable });
    });
    return records;
  }

  #linkRecords(): SessionResult['links'] {
    const records: SessionResult['links'][number][] = [];
    trieEach(this.state.links, (links) => {
      for (const { from, to, status, notices } of links) records.push({ from, to, status, notices });
    });
    return records;
  }
}
