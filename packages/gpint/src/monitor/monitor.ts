/** The monitoring module (reliable GPINT, section III-A): orchestrator, probe sender, probe receiver, data recovery. */
import { GPINT_DSCP, probeKind } from '@int/codec';
import {
  dlvSwitchId,
  MAX_PROBE_SWITCHES,
  ProbeParts,
  probeRequestId,
  probeRequestType,
  readProbeParts,
} from '@int/codec/internals';
import { Random } from '@int/random';
import type { Graph } from '../graph/graph.js';
import type { Paths } from '../plan/plan.js';
import { type ProbeRoutes, type RouteOptions, routesOf } from '../probe/route.js';
import { writeProbe } from '../probe/write.js';
import { recoveryConfig, sessionBoundNs } from '../recovery/config.js';
import type { RecoveryAction, RecoveryConfig, RecoveryEvent, RecoveryState, SessionResult } from '../recovery/model.js';
import { farthestFromEntries, prefixFinder } from '../recovery/prefix.js';
import { initialRecovery, recoveryStep } from '../recovery/step.js';
import { measurementOffsets, TelemetryStore } from './telemetry.js';
import { MonitorTotals } from './totals.js';
import type {
  MonitorClock,
  MonitorCounters,
  MonitorEvent,
  MonitorOptions,
  PeriodicOptions,
  ProbeTransport,
  SessionReport,
  UncollectedReport,
} from './types.js';

const REQUEST_IDS = 0x8000;

/**
 * A monitor: sends the probes of a plan, collects the answers, and recovers lost probes. It has no clock and no network
 * of its own, so it runs on sockets and in simulations alike.
 *
 * One session runs at a time. Wrong packets are counted and cause no exception.
 */
export class Monitor {
  readonly graph: Graph;
  readonly #transport: ProbeTransport;
  readonly #clock: MonitorClock;
  readonly #config: RecoveryConfig;
  readonly #routeOptions: RouteOptions;
  readonly #portPackets: boolean;
  readonly #onEvent: ((event: MonitorEvent) => void) | null;
  readonly #totals = new MonitorTotals();

  #routes: ProbeRoutes;
  /** Routes of the current session; `setPlan` does not change them. */
  #sessionRoutes: ProbeRoutes;
  #offsets: Uint32Array;
  #unplanned: readonly number[];
  #telemetry: TelemetryStore;
  #state: RecoveryState;
  #cancelWake: (() => void) | null = null;
  #waiting: ((report: SessionReport) => void)[] = [];
  #starting = false;
  #periodic: { stop(): void } | null = null;

  /** The current packet, and its parts. */
  #payload: Uint8Array = new Uint8Array(0);
  readonly #parts = new ProbeParts();
  readonly #visited = new Uint16Array(MAX_PROBE_SWITCHES);
  /** Events that arrived during the handling of another (a transport may answer before `send` returns). */
  readonly #backlog: (() => void)[] = [];
  #busy = false;

  /**
   * @throws `GpintError` `ERR_GPINT_PROBE_LIMIT`, `ERR_GPINT_UNKNOWN_NODE`, and RangeError: see `routesOf` and `recoveryConfig`
   */
  constructor(options: MonitorOptions) {
    const { graph, entries } = options;
    this.graph = graph;
    this.#transport = options.transport;
    this.#clock = options.clock;
    this.#onEvent = options.onEvent ?? null;
    this.#portPackets = options.requestType === 'port-packets';
    const attached = new Set(entries ?? graph.names.keys());
    for (const entry of attached) {
      if (!Number.isInteger(entry) || entry < 0 || entry >= graph.nodeCount) {
        throw new RangeError(`entry ${entry} is no node of the graph`);
      }
    }
    if (attached.size === 0) throw new RangeError('a monitor needs one entry at least');
    const inBand = attached.size < graph.nodeCount;
    const nodes = [...attached].sort((a, b) => a - b);
    const farthest = inBand ? farthestFromEntries(graph, nodes) : 0;
    // Most hops of a detour around failed links. More would take room from the paths, and increase the time bound.
    const maxPrefixHops = inBand ? Math.max(farthest, Math.min(graph.nodeCount - 1, 2 * farthest + 4)) : 0;
    this.#config = recoveryConfig({
      ...options.config,
      prefixTo: inBand ? prefixFinder(graph, nodes, maxPrefixHops) : null,
      maxPrefixHops,
    });
    this.#routeOptions = { ...options, reserveHops: maxPrefixHops };
    this.#state = initialRecovery(firstId(options.seed));
    this.#routes = this.#plan(options.plan);
    this.#sessionRoutes = this.#routes;
    this.#offsets = measurementOffsets(this.#routes.count);
    this.#unplanned = this.#notOnPaths();
    this.#telemetry = new TelemetryStore(graph.names, this.#offsets);
  }

  /** Whether probes have the extended layout (UDP port 5018) or the plain one (5017). */
  get extended(): boolean {
    return this.#routes.extended;
  }

  /** Probes of the plan: one per path, or several for a path that is too long. */
  get probes(): ProbeRoutes['probes'] {
    return this.#routes.probes;
  }

  /** Whether a session runs. */
  get running(): boolean {
    return this.#state.running;
  }

  /** A time within which a session of the plan ends, ns; see `sessionBoundNs`. */
  get boundNs(): number {
    return sessionBoundNs(this.#routes.probes, this.#config);
  }

  /** Everything sent and received so far. */
  get counters(): MonitorCounters {
    return this.#totals.all(this.#state.counters);
  }

  /** Sets another plan for the following sessions. Throws as the constructor does. */
  setPlan(plan: MonitorOptions['plan']): void {
    this.#routes = this.#plan(plan);
    this.#unplanned = this.#notOnPaths();
  }

  /**
   * Runs one session: sends all probes and collects them. Every session ends within `boundNs`. The report names the
   * switches that are missing.
   *
   * @param onReport called with the report at the end of the session, before the promise is fulfilled
   * @throws TypeError if a session runs
   */
  collect(onReport?: (report: SessionReport) => void): Promise<SessionReport> {
    if (this.#state.running || this.#starting) throw new TypeError('a session is running');
    this.#starting = true;
    const { promise, settle } = deferred<SessionReport>();
    this.#waiting.push((report) => {
      onReport?.(report);
      settle(report);
    });
    this.#whenIdle(() => {
      this.#starting = false;
      this.#sessionRoutes = this.#routes;
      this.#offsets = measurementOffsets(this.#routes.count);
      this.#telemetry = new TelemetryStore(this.graph.names, this.#offsets);
      const { probes } = this.#routes;
      const session = this.#state.session + 1;
      this.#tell(() => ({ kind: 'session', session, probes: probes.length, timeNs: this.#clock.nowNs() }));
      this.#step({ kind: 'start', probes });
    });
    return promise;
  }

  /**
   * Collects periodically: a session begins `intervalNs` after the start of the previous one, or at its end if that is
   * later. During a session of `collect` it waits for further intervals. Replaces the periodic collection of an earlier
   * call.
   */
  every(
    intervalNs: number,
    onReport: (report: SessionReport) => void,
    options: PeriodicOptions = {},
  ): { stop(): void } {
    let left = options.rounds ?? Number.POSITIVE_INFINITY;
    let cancel: (() => void) | null = null;
    const handle = {
      stop: (): void => {
        left = 0;
        cancel?.();
      },
    };
    const round = (): void => {
      cancel = null;
      if (left <= 0) return;
      if (this.#state.running) {
        cancel = this.#clock.at(this.#clock.nowNs() + intervalNs, round);
        return;
      }
      left--;
      void this.collect((report) => {
        onReport(report);
        if (left > 0) cancel = this.#clock.at(Math.max(report.startedNs + intervalNs, this.#clock.nowNs()), round);
      });
    };
    this.#periodic?.stop();
    this.#periodic = handle;
    round();
    return handle;
  }

  /** Ends the current session with a report of its data, and the periodic collection. */
  stop(): void {
    this.#periodic?.stop();
    this.#whenIdle(() => this.#step({ kind: 'stop' }));
  }

  /**
   * Handles a packet for the monitor.
   *
   * @param payload UDP payload; it is read before this returns, or, in a call within `send` of the transport, before
   *   the handling of that event ends
   * @param dscp DSCP of IPv4; `null` if unknown: then the content determines the kind of packet
   */
  receive(payload: Uint8Array, dscp: number | null): void {
    this.#whenIdle(() => this.#take(payload, dscp));
  }

  #plan(plan: MonitorOptions['plan']): ProbeRoutes {
    const paths: Paths = 'paths' in plan ? plan.paths : plan;
    return routesOf(this.graph, paths, this.#routeOptions);
  }

  #notOnPaths(): number[] {
    const visited = new Uint8Array(this.graph.nodeCount);
    for (const { switches } of this.#routes.probes) for (const node of switches) visited[node] = 1;
    return Array.from(visited.keys()).filter((node) => visited[node] === 0);
  }

  #whenIdle(task: () => void): void {
    this.#backlog.push(task);
    if (this.#busy) return;
    this.#busy = true;
    try {
      for (let next = this.#backlog.shift(); next !== undefined; next = this.#backlog.shift()) next();
    } finally {
      this.#busy = false;
    }
  }

  #take(payload: Uint8Array, dscp: number | null): void {
    this.#totals.receive(payload.length);
    const requestId = probeRequestId(payload);
    const kind = kindOf(payload, dscp);
    const { extended } = this.#sessionRoutes;
    const parts = this.#parts;
    const visited = this.#visited;
    const isSound =
      requestId >= 0 &&
      kind !== null &&
      (probeRequestType(payload) === 1) === this.#portPackets &&
      (kind === 'feedback' ||
        (readProbeParts(payload, 0, payload.length, extended, parts) === 0 && parts.switchCount <= visited.length));
    if (!isSound) {
      this.#totals.malformed();
      this.#tell((timeNs) => ({ kind: 'ignored', requestId, reason: 'malformed', timeNs }));
      return;
    }
    if (kind === 'feedback') {
      this.#tell((timeNs) => ({ kind: 'feedback', requestId, timeNs }));
      this.#step({ kind: 'feedback', requestId });
      return;
    }
    const count = parts.switchCount;
    for (let hop = 0; hop < count; hop++) visited[hop] = dlvSwitchId(payload, parts, hop, extended);
    this.#payload = payload;
    const switches = visited.subarray(0, count);
    this.#step({ kind: kind === 'probe' ? 'probe' : 'notice', requestId, switches });
  }

  #step(event: RecoveryEvent): void {
    const nowNs = this.#clock.nowNs();
    const { state, actions } = recoveryStep(this.#state, event, nowNs, this.#config);
    this.#state = state;
    for (const action of actions) this.#act(action, event, nowNs);
  }

  #act(action: RecoveryAction, event: RecoveryEvent, timeNs: number): void {
    switch (action.kind) {
      case 'send':
        this.#send(action, timeNs);
        break;
      case 'data':
        this.#merge(action, event, timeNs);
        break;
      case 'wake':
        this.#cancelWake?.();
        this.#cancelWake = this.#clock.at(action.atNs, () => {
          this.#cancelWake = null;
          this.#whenIdle(() => this.#step({ kind: 'tick' }));
        });
        break;
      case 'end':
        this.#finish(action.result, timeNs);
        break;
      case 'done': {
        const { probe, outcome } = action;
        const { path, position } = this.#sessionRoutes.probes[probe]!;
        this.#tell(() => ({ kind: 'done', path, position, outcome, timeNs }));
        break;
      }
      case 'link':
      case 'switch':
      case 'ignored':
        this.#tell(() => ({ ...action, timeNs }));
        break;
    }
  }

  #send(action: RecoveryAction & { kind: 'send' }, timeNs: number): void {
    const portPackets = this.#portPackets;
    const sessionRoutes = this.#sessionRoutes;
    const { probe, start, prefix, requestId, recovery } = action;
    const payload = writeProbe(sessionRoutes, action, portPackets);
    this.#totals.send(payload.length);
    const { path, position, switches } = sessionRoutes.probes[probe]!;
    this.#tell(() => {
      const at = position + start;
      return { kind: 'sent', path, position: at, requestId, prefix, recovery, bytes: payload.length, timeNs };
    });
    this.#transport.send(prefix[0] ?? switches[start]!, payload, sessionRoutes.extended);
  }

  #merge(action: RecoveryAction & { kind: 'data' }, event: RecoveryEvent, timeNs: number): void {
    const { probe, start, count, skip, sequence } = action;
    this.#telemetry.merge(this.#payload, this.#parts, skip, count, sequence, timeNs, this.#sessionRoutes);
    this.#tell(() => {
      const { path, position, switches } = this.#sessionRoutes.probes[probe]!;
      const requestId = 'requestId' in event ? event.requestId : -1;
      const kind = event.kind === 'notice' ? 'notice' : 'home';
      return { kind, path, position: position + start, requestId, nodes: switches.slice(start, start + count), timeNs };
    });
  }

  #finish(result: SessionResult, timeNs: number): void {
    this.#cancelWake?.();
    this.#cancelWake = null;
    const names = this.graph.names;
    const uncollected: UncollectedReport[] = result.uncollected.map((each) => ({ ...each, name: names[each.node]! }));
    for (const node of this.#unplanned) uncollected.push({ node, name: names[node]!, reason: 'unplanned' });
    uncollected.sort((a, b) => a.node - b.node);
    const report: SessionReport = {
      ...result,
      complete: uncollected.length === 0,
      uncollected,
      telemetry: this.#telemetry,
      counters: this.#totals.report(result.counters),
    };
    this.#tell(() => ({ kind: 'end', report, timeNs }));
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const each of waiting) each(report);
  }

  /** Events are made only if there is a listener. */
  #tell(make: (timeNs: number) => MonitorEvent): void {
    if (this.#onEvent !== null) this.#onEvent(make(this.#clock.nowNs()));
  }
}

function firstId(seed: number | string | undefined): number {
  if (seed === undefined) return crypto.getRandomValues(new Uint16Array(1))[0]! % REQUEST_IDS;
  return new Random(seed).derive('request ids').integer(REQUEST_IDS);
}

function kindOf(payload: Uint8Array, dscp: number | null): 'feedback' | 'probe' | 'recovery' | null {
  switch (dscp) {
    case null:
      return probeKind(payload);
    case GPINT_DSCP.PROBE:
      return 'probe';
    case GPINT_DSCP.FEEDBACK:
      return 'feedback';
    case GPINT_DSCP.RECOVERY:
      return 'recovery';
    default:
      return null;
  }
}

function deferred<T>(): { promise: Promise<T>; settle: (value: T) => void } {
  let settle!: (value: T) => void;
  const promise = new Promise<T>((resolve) => {
    settle = resolve;
  });
  return { promise, settle };
}
