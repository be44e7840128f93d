/**
 * A small network in virtual time, with switches that follow the paper in objects instead of bytes: another reading of the
 * protocol than the one of the switches in @int/netsim, to check the monitor against both.
 */
import { GPINT_DSCP, type GpintProbe, gpintProbe } from '@int/codec';
import { gpintProbeExtended } from '@int/codec/internals';
import type { Graph, MonitorClock, ProbeTransport } from '@int/gpint';
import { Random } from '@int/random';

export interface ModelOptions {
  readonly graph: Graph;
  readonly seed: number | string;
  readonly extended: boolean;
  /** Switches with a link to the monitor; default all. */
  readonly entries?: readonly number[];
  readonly linkDelayNs?: number;
  /** Probability that a link between switches loses a packet. */
  readonly loss?: number;
  /** The same for feedback. */
  readonly feedbackLoss?: number;
  /** The same for the links of the monitor. */
  readonly monitorLoss?: number;
  /** Probability that the monitor gets a packet twice. */
  readonly duplication?: number;
  /** Packets to the monitor take up to this much longer, so that they overtake each other. */
  readonly jitterNs?: number;
  /** t_f of the switches. */
  readonly timeoutNs: number;
  readonly recover?: boolean;
  /** Whether the way home goes around links that have failed. */
  readonly homeAvoidsFailures?: boolean;
  readonly counters?: (node: number) => readonly number[];
  /** Decides on every packet, in order (`own`: from or to the monitor); overrides the probabilities. */
  readonly lose?: (packet: number, own: boolean) => boolean;
}

interface Timed {
  readonly timeNs: number;
  readonly order: number;
  readonly run: () => void;
  cancelled: boolean;
}

const MONITOR = -1;

export class ModelNetwork {
  readonly options: ModelOptions;
  readonly failedSwitches = new Set<number>();
  readonly #failedLinks = new Set<number>();
  readonly #random: Random;
  readonly #events: Timed[] = [];
  readonly #entries: ReadonlySet<number>;
  /** Next switch towards the monitor. */
  #homeward: Int32Array;
  /** Clones by switch, request id and the switch they went to; oldest first. */
  readonly #clones = new Map<string, { probe: GpintProbe; cancel: () => void }[]>();
  #order = 0;
  #time = 0;
  #packets = 0;
  receive: (payload: Uint8Array, dscp: number) => void = () => undefined;

  constructor(options: ModelOptions) {
    this.options = options;
    this.#random = new Random(options.seed);
    this.#entries = new Set(options.entries ?? options.graph.names.keys());
    this.#homeward = this.#findHome();
  }

  get nowNs(): number {
    return this.#time;
  }

  readonly clock: MonitorClock = {
    nowNs: () => this.#time,
    at: (timeNs, callback) => this.at(timeNs, callback),
  };

  readonly transport: ProbeTransport = {
    send: (entry, payload) => {
      const probe = this.#codec.decode(payload);
      this.#carry(MONITOR, entry, () => this.#visit(entry, MONITOR, probe));
    },
  };

  at(timeNs: number, run: () => void): () => void {
    const event: Timed = { timeNs: Math.max(timeNs, this.#time), order: this.#order++, run, cancelled: false };
    this.#push(event);
    return () => {
      event.cancelled = true;
    };
  }

  /** Runs until nothing is left to do, or `untilNs`. */
  run(untilNs = Number.POSITIVE_INFINITY): void {
    for (let next = this.#events[0]; next !== undefined && next.timeNs <= untilNs; next = this.#events[0]) {
      this.#pop();
      if (next.cancelled) continue;
      this.#time = next.timeNs;
      next.run();
    }
  }

  failLink(a: number, b: number, fails = true): void {
    const link = this.options.graph.linkBetween(a, b);
    if (fails) this.#failedLinks.add(link);
    else this.#failedLinks.delete(link);
    if (this.options.homeAvoidsFailures) this.#homeward = this.#findHome();
  }

  /** Names of the two ends, in alphabetical order. */
  failedLinkNames(): string[] {
    const { graph } = this.options;
    const failed = graph.pairs().filter((_, link) => this.#failedLinks.has(link));
    return failed.map(([a, b]) => [graph.names[a], graph.names[b]].sort().join(' '));
  }

  get #codec(): typeof gpintProbe {
    return this.options.extended ? gpintProbeExtended : gpintProbe;
  }

  /** A packet from one switch to the next, or from or to the monitor. */
  #carry(from: number, to: number, arrive: () => void, feedback = false): void {
    const { options } = this;
    const own = from === MONITOR || to === MONITOR;
    if (own && !this.#entries.has(from === MONITOR ? to : from)) throw new Error('no link to the monitor there');
    const loss = own ? options.monitorLoss : feedback ? options.feedbackLoss : options.loss;
    const packet = this.#packets++;
    if (options.lose?.(packet, own) ?? this.#random.uniform() < (loss ?? 0)) return;
    if (!own && this.#failedLinks.has(options.graph.linkBetween(from, to))) return;
    const copies = to === MONITOR && this.#random.uniform() < (options.duplication ?? 0) ? 2 : 1;
    for (let copy = 0; copy < copies; copy++) {
      const jitter = to === MONITOR && options.jitterNs ? this.#random.integer(options.jitterNs) : 0;
      this.at(this.#time + (options.linkDelayNs ?? 1000) + jitter, () => {
        if (!this.failedSwitches.has(to)) arrive();
      });
    }
  }

  /** A probe that asks something of a switch. */
  #visit(node: number, from: number, probe: GpintProbe): void {
    const { graph, recover = true, timeoutNs, extended } = this.options;
    const [entry, ...route] = probe.route;
    if (entry === undefined) {
      this.#goHome(node, GPINT_DSCP.PROBE, this.#codec.encode(probe));
      return;
    }
    if (recover) this.#feedBack(node, from, probe);
    const all = this.options.counters?.(node) ?? [];
    const wanted = Array.from({ length: entry.measurementCount }, (_, i) => all[entry.firstMeasurement + i] ?? 0);
    const switches = [
      ...probe.switches,
      { switchId: node & (extended ? 0xffff : 0xff), queueDepth: node % 7, measurementCount: wanted.length },
    ];
    const next: GpintProbe = { ...probe, route, switches, measurements: [...probe.measurements, ...wanted] };
    if (route.length === 0) {
      this.#goHome(node, GPINT_DSCP.PROBE, this.#codec.encode(next));
      return;
    }
    const to = graph.neighbours[graph.first[node]! + entry.nextPort - 1]!;
    if (recover) this.#keepClone(node, to, next, timeoutNs);
    this.#carry(node, to, () => this.#visit(to, node, next));
  }

  #feedBack(node: number, to: number, probe: GpintProbe): void {
    if (to === MONITOR) {
      const meta = (probe.requestId << 1) | (probe.type === 'port-packets' ? 1 : 0);
      const payload = Uint8Array.of(meta >>> 8, meta);
      this.#carry(node, MONITOR, () => this.receive(payload, GPINT_DSCP.FEEDBACK));
      return;
    }
    const key = `${to} ${probe.requestId} ${node}`;
    this.#carry(node, to, () => this.#clones.get(key)?.shift()?.cancel(), true);
  }

  #keepClone(node: number, to: number, probe: GpintProbe, timeoutNs: number): void {
    const key = `${node} ${probe.requestId} ${to}`;
    const clones = this.#clones.get(key) ?? [];
    this.#clones.set(key, clones);
    const clone = {
      probe,
      cancel: this.at(this.#time + timeoutNs, () => {
        clones.splice(clones.indexOf(clone), 1);
        if (!this.failedSwitches.has(node)) this.#goHome(node, GPINT_DSCP.RECOVERY, this.#codec.encode(probe));
      }),
    };
    clones.push(clone);
  }

  /** In-band return: hop by hop to a switch with a link to the monitor. */
  #goHome(node: number, dscp: number, payload: Uint8Array): void {
    if (this.#entries.has(node)) {
      this.#carry(node, MONITOR, () => this.receive(payload, dscp));
      return;
    }
    const next = this.#homeward[node]!;
    this.#carry(node, next, () => this.#goHome(next, dscp, payload));
  }

  #findHome(): Int32Array {
    const { options } = this;
    const { graph } = options;
    const homeward = new Int32Array(graph.nodeCount).fill(-1);
    const queue = [...this.#entries];
    for (const entry of queue) homeward[entry] = entry;
    for (const node of queue) {
      for (let at = graph.first[node]!; at < graph.first[node + 1]!; at++) {
        const next = graph.neighbours[at]!;
        const failed = options.homeAvoidsFailures && this.#failedLinks.has(graph.links[at]!);
        if (failed || homeward[next] !== -1) continue;
        homeward[next] = node;
        queue.push(next);
      }
    }
    return homeward;
  }

  #push(event: Timed): void {
    const events = this.#events;
    let at = events.push(event) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!before(event, events[parent]!)) break;
      events[at] = events[parent]!;
      at = parent;
    }
    events[at] = event;
  }

  #pop(): void {
    const events = this.#events;
    const last = events.pop()!;
    if (events.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= events.length) break;
      if (child + 1 < events.length && before(events[child + 1]!, events[child]!)) child++;
      if (!before(events[child]!, last)) break;
      events[at] = events[child]!;
      at = child;
    }
    events[at] = last;
  }
}

function before(a: Timed, b: Timed): boolean {
  return a.timeNs < b.timeNs || (a.timeNs === b.timeNs && a.order < b.order);
}
