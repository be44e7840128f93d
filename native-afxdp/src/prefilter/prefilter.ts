import type { EventBatch, RuleSet } from '@int/detect';
import type { Prefix } from '@int/network';
import { LoadedProgram, possibleCpus, type XdpAction } from '../loaded-program.js';
import { type SocketProgram, setPortBits, type XdpMode, type XdpProgramCounters } from '../program.js';
import { KernelAdmission } from './admission.js';
import { rewriteEvents } from './apply.js';
import { Generations } from './generations.js';
import { CONFIG, FLAGS, LITTLE, MAX_RULES, NO_PORT, PORTS_BYTES, TOTALS, VERDICT } from './layout.js';
import { type AttachOptions, type PrefilterOptions, type ResolvedPrefilterOptions, resolveOptions } from './options.js';
import { type PrefilterPlan, planPrefilter } from './plan.js';
import { encodeRuleSet } from './rule-set.js';
import { STATE_MAPS, STATEFUL_KINDS, type StatefulKind, StateSlots } from './slots.js';
import { readVerdict, type Verdict } from './verdict.js';

/**
 * What the filter has counted since it was loaded, over all CPUs. Every frame it has seen is in `passed`, `reports`, `undecided`,
 * `unknownSource` or `unknownSwitch`.
 */
export interface PrefilterCounts {
  /** Frames that are no reports, by their port: left to the network stack. */
  readonly passed: number;
  /** Reports that the filter has decided: `events`, `handedOn` and `filtered` together. */
  readonly reports: number;
  /** Reports with at least one event. */
  readonly events: number;
  /** Reports of a rule that is left to user space. */
  readonly handedOn: number;
  /** Reports dropped. */
  readonly filtered: number;
  /** Hops of the reports dropped. */
  readonly filteredHops: number;
  /** Frames to a port of reports that the filter does not understand, or has no room for: handed on. */
  readonly undecided: number;
  /** Of those to be handed on: left to the network stack, for want of a socket at their queue. */
  readonly noSocket: number;
  /** Of those handed on: without a verdict, for the driver has no room for one. */
  readonly withoutVerdict: number;
  /** Hash form: switches and flows for which there was no room. */
  readonly stateFull: number;
  /** Datagrams to a port of reports from who may not send: dropped unread. */
  readonly unknownSource: number;
  /** Reports that name a switch that there is not: dropped before any rule. */
  readonly unknownSwitch: number;
  /**
   * Hops of the reports dropped, by switch: by its id modulo `switchCells`, those that are 0 left out. Empty without
   * `countHops`.
   */
  readonly bySwitch: ReadonlyMap<number, number>;
}

/** What the filter does with a frame. */
export interface PrefilterRun {
  /** `drop`: filtered. `redirect`: to the socket. `pass`: to the network stack; with a verdict for want of a socket. */
  readonly action: XdpAction;
  /** `null` for a frame that is dropped or no report. */
  readonly verdict: Verdict | null;
  /** The verdict's bytes, as they would lie in front of the frame; empty if there is none. */
  readonly meta: Uint8Array;
}

/** The program of a filter, as sockets and those who count want it. */
export interface PrefilterProgram extends SocketProgram {
  counters(): XdpProgramCounters;
  close(): void;
}

/** Where a filter is. */
interface Attached {
  readonly interface: string;
  readonly asked: 'auto' | XdpMode;
  mode: XdpMode;
}

/** State that a rule set starts with, besides what it needs. */
const SPARE_METRICS = 2;
/** A rule set is not written to until the frames that may still be looked at by it are through; they take microseconds. */
const SETTLE_MS = 2;

/**
 * Event detection in the kernel: an XDP program that looks at telemetry reports as `Detector` of `@int/detect` does, and
 * hands only those with events to the socket of their queue. Reports that it cannot decide are handed on.
 */
export class Prefilter {
  /** Give it to the sockets. */
  readonly program: PrefilterProgram;
  /** Options that a `Detector` behind the filter should have, so that it keeps its state as the filter does. */
  readonly detectorOptions: {
    readonly state: 'register' | 'exact';
    /** The kernel compares first values with 0. */
    readonly firstSight: 'zero';
    readonly flowCells: number;
    readonly switchCells: number;
    /** 0, never: the kernel does not forget what is idle. */
    readonly idleMs: number;
  };
  /** @internal For tests: the program, where the state of each metric is, and the cells of one metric. */
  readonly kernel: {
    readonly program: LoadedProgram;
    readonly slots: () => StateSlots;
    readonly cells: Readonly<Record<StatefulKind, number>>;
  };
  readonly #program: LoadedProgram;
  readonly #options: ResolvedPrefilterOptions;
  readonly #attached: Attached;
  readonly #generations = new Generations();
  readonly #admission: KernelAdmission;
  #slots: StateSlots;
  #plan: PrefilterPlan;
  #generation = 0;
  #active = 1;
  #flippedAt = Number.NEGATIVE_INFINITY;

  private constructor(options: PrefilterOptions, attached: Attached) {
    this.#attached = attached;
    const resolved = resolveOptions(options);
    const { state, switchCells, flowCells } = resolved;
    this.#options = resolved;
    this.#plan = planPrefilter(options.rules);
    this.#slots = slotsFor(this.#plan, resolved);
    const cells = { perHop: switchCells, perFlow: flowCells, movingAverage: flowCells };
    const sizes = Object.fromEntries(
      STATEFUL_KINDS.map((kind) => [STATE_MAPS[kind], entriesOf(kind, cells[kind], resolved, this.#slots, this.#plan)]),
    );
    this.#program = new LoadedProgram(state === 'array' ? 'prefilter_array' : 'prefilter_hash', {
      ...sizes,
      filtered_hops: switchCells,
    });
    this.#admission = new KernelAdmission(this.#program);
    try {
      this.setSenders(options.from ?? null);
      this.setKnownSwitches(options.knownSwitches ?? null);
      this.#program.map('ports').update(0, portsOf(resolved.ports));
      this.setRules(options.rules);
    } catch (error) {
      this.#program.close();
      throw error;
    }
    const mode = state === 'array' ? 'register' : 'exact';
    this.detectorOptions = { state: mode, firstSight: 'zero', flowCells, switchCells, idleMs: 0 };
    this.kernel = { program: this.#program, slots: () => this.#slots, cells };
    const counters = (): XdpProgramCounters => {
      const { passed, events, handedOn, undecided, noSocket } = this.#totals();
      return { steered: events + handedOn + undecided - noSocket, passed, noSocket };
    };
    this.program = {
      get mode() {
        return attached.mode;
      },
      interface: attached.interface,
      socketMap: this.#program.map('sockets').fd,
      counters,
      close: () => this.close(),
    };
  }

  /**
   * Loads a filter and attaches it to an interface, for as long as it is open.
   *
   * @throws XdpError as XdpProgram.steer does; RangeError for an option out of range
   */
  static attach(options: AttachOptions): Prefilter {
    const { interface: name, mode: asked = 'auto' } = options;
    const filter = new Prefilter(options, { interface: name, asked, mode: 'generic' });
    try {
      filter.reattach();
    } catch (error) {
      filter.close();
      throw error;
    }
    return filter;
  }

  /**
   * Loads a filter without an interface, to {@link run} it on single frames.
   *
   * @throws XdpError as XdpProgram.steer does; RangeError for an option out of range
   */
  static load(options: PrefilterOptions): Prefilter {
    return new Prefilter(options, { interface: '', asked: 'generic', mode: 'generic' });
  }

  /** What the kernel does with the rules in force. */
  get plan(): PrefilterPlan {
    return this.#plan;
  }

  /**
   * Replaces all rules while frames arrive. Each frame is checked by either all old rules or all new ones.
   * State survives, as it belongs to a detector and a metric. It blocks for up to 2 ms if called again at once.
   *
   * A detector behind the filter gets its rules (`rulesBehind`) afterwards. Frames that are under way between the two
   * are looked at by one set in the kernel and by the other one behind it.
   *
   * @returns the plan, now in force
   * @throws RangeError, with nothing changed, if the filter has no room for the state of another metric;
   *   XdpError ERR_XDP_CLOSED
   */
  setRules(rules: RuleSet): PrefilterPlan {
    const plan = planPrefilter(rules);
    const slots = this.#slots.clone();
    const generation = (this.#generation + 1) >>> 0;
    const bytes = encodeRuleSet(plan, generation, slots);
    const idle = 1 - this.#active;
    const left = this.#flippedAt + SETTLE_MS - performance.now();
    if (left > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, left);
    this.#program.map('rule_sets').update(idle, bytes);
    this.#program.map('config').update(0, this.#config(idle));
    this.#flippedAt = performance.now();
    this.#active = idle;
    this.#generation = generation;
    this.#slots = slots;
    this.#plan = plan;
    this.#generations.add(generation, plan);
    return plan;
  }

  /**
   * Replaces the list of who may send while frames arrive. Senders that are in both lists are never refused meanwhile.
   * @param from `null`: anybody
   * @throws RangeError for what is no prefix or too many, with nothing changed; XdpError ERR_XDP_CLOSED
   */
  setSenders(from: readonly (string | Prefix)[] | null): void {
    this.#admission.setSenders(from, () => this.#applyConfig());
  }

  /**
   * Replaces the switches that there are, likewise.
   * @param ids `null`: any id may be one
   * @throws RangeError for what is no id or too many, with nothing changed; XdpError ERR_XDP_CLOSED
   */
  setKnownSwitches(ids: Iterable<number> | null): void {
    this.#admission.setSwitches(ids, () => this.#applyConfig());
  }

  /** @throws XdpError ERR_XDP_CLOSED */
  counts(): PrefilterCounts {
    const { noVerdict, ...totals } = this.#totals();
    return { ...totals, withoutVerdict: noVerdict, bySwitch: this.#bySwitch() };
  }

  /**
   * Runs the filter on one frame as if it had arrived, state and counters included.
   *
   * @param frame an Ethernet frame of 14 to 3520 bytes
   * @throws XdpError ERR_XDP_CLOSED and others; RangeError for a frame of another length
   */
  run(frame: Uint8Array): PrefilterRun {
    const { action, meta } = this.#program.run(frame);
    const verdict = meta.length < VERDICT.BYTES ? null : readVerdict(meta, meta.length, frame.length);
    return { action, verdict, meta };
  }

  /**
   * Gives the events of moving averages, which a detector behind the filter has found as noops (see `rulesBehind`),
   * their detector, metric, value, previous value and threshold back, from the verdicts in front of the frames. Rows of
   * other events stay as they are; also those of reports that the filter has not decided: they remain noops.
   *
   * @param events what the detector has found, changed in place; the bytes in front of the frames of their batch must be those
   *   that the socket received
   * @returns rows changed
   */
  applyVerdicts(events: EventBatch): number {
    return rewriteEvents(events, this.#generations);
  }

  /** Name of the rule of a verdict; `null`: none, or of a rule set that many others have followed. */
  ruleName({ generation, rule }: Verdict): string | null {
    return rule === null ? null : (this.#generations.find(generation)?.names[rule] ?? null);
  }

  /**
   * Attaches the filter again, to the interface that has the name now, which may have been made anew. Its rules, its
   * state and what it has counted stay.
   * @throws XdpError as {@link attach} does, and ERR_XDP_CLOSED
   */
  reattach(): void {
    const { interface: name, asked } = this.#attached;
    this.#program.detach();
    this.#attached.mode = this.#program.attach(name, asked);
  }

  /**
   * Detaches the filter from its interface: frames go to the network stack again. It can still be asked what it has
   * counted. Again: nothing.
   * @throws XdpError ERR_XDP_CLOSED
   */
  detach(): void {
    this.#program.detach();
  }

  /** Detaches the filter and frees it; again: nothing. Sockets stay open but receive nothing any more. */
  close(): void {
    this.#program.close();
  }

  #applyConfig(): void {
    this.#program.map('config').update(0, this.#config(this.#active));
  }

  #config(active: number): Uint8Array {
    const { intPorts, intDscp, switchCells, flowCells, countHops } = this.#options;
    const bytes = new Uint8Array(CONFIG.BYTES);
    const view = new DataView(bytes.buffer);
    const put = (at: number, value: number): void => view.setUint32(at, value, LITTLE);
    put(CONFIG.ACTIVE, active);
    put(CONFIG.FLAGS, (countHops ? FLAGS.COUNT_HOPS : 0) | this.#admission.flags);
    put(CONFIG.INT_PORT, intPorts[0] ?? NO_PORT);
    put(CONFIG.INT_PORT + 4, intPorts[1] ?? NO_PORT);
    // The DSCP is the upper 6 bits of the byte. Without one: no byte under mask 0 is 1.
    put(CONFIG.TOS_MASK, intDscp === null ? 0 : intDscp.mask << 2);
    put(CONFIG.TOS_VALUE, intDscp === null ? 1 : (intDscp.value & intDscp.mask) << 2);
    put(CONFIG.SWITCH_CELLS, switchCells);
    put(CONFIG.SWITCH_MASK, maskOf(switchCells));
    put(CONFIG.FLOW_CELLS, flowCells);
    put(CONFIG.FLOW_MASK, maskOf(flowCells));
    return bytes;
  }

  #totals(): Record<(typeof TOTALS)[number], number> {
    const sums = this.#program.map('totals').sum(0);
    return Object.fromEntries(TOTALS.map((name, index) => [name, Number(sums[index])])) as Record<
      (typeof TOTALS)[number],
      number
    >;
  }

  #bySwitch(): Map<number, number> {
    const found = new Map<number, number>();
    if (!this.#options.countHops) return found;
    const cpus = possibleCpus();
    const words = new Uint32Array(2 * cpus * this.#options.switchCells);
    this.#program.map('filtered_hops').read(0, words);
    const [low, high] = LITTLE ? [0, 1] : [1, 0];
    for (let cell = 0; cell < this.#options.switchCells; cell++) {
      let hops = 0;
      for (let at = 2 * cpus * cell; at < 2 * cpus * (cell + 1); at += 2) {
        hops += words[at + high]! * 0x1_0000_0000 + words[at + low]!;
      }
      if (hops > 0) found.set(cell, hops);
    }
    return found;
  }
}

/** The number minus one if it is a power of two, else 0. */
function maskOf(cells: number): number {
  return (cells & (cells - 1)) === 0 ? cells - 1 : 0;
}

function portsOf(ports: readonly number[]): Uint8Array {
  const words = new BigUint64Array(PORTS_BYTES / 8);
  setPortBits(words, ports);
  return new Uint8Array(words.buffer);
}

/** Metrics that the rules in the kernel give state of, by detector. */
function metricsOf(plan: PrefilterPlan, kind: StatefulKind): number {
  const metrics = new Set<string>();
  for (const { rule, inKernel } of plan.rules.slice(0, MAX_RULES)) {
    if (inKernel && rule.detector.kind === kind) metrics.add(rule.detector.metric);
  }
  return metrics.size;
}

function slotsFor(plan: PrefilterPlan, { metricsPerDetector, state }: ResolvedPrefilterOptions): StateSlots {
  // A hash has one key space for all metrics.
  const size = (kind: StatefulKind): number =>
    state === 'hash' ? 0xffff : (metricsPerDetector ?? Math.max(SPARE_METRICS, metricsOf(plan, kind)));
  return new StateSlots({ perHop: size('perHop'), perFlow: size('perFlow'), movingAverage: size('movingAverage') });
}

function entriesOf(
  kind: StatefulKind,
  cells: number,
  { state, metricsPerDetector }: ResolvedPrefilterOptions,
  slots: StateSlots,
  plan: PrefilterPlan,
): number {
  if (state === 'array') return cells * slots.size[kind];
  return cells * (metricsPerDetector ?? Math.max(1, metricsOf(plan, kind)));
}
