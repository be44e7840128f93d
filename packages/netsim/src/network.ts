/** The network: virtual time, nodes and links. */
import { Random } from '@int/random';
import type { Behaviour } from './behaviour.js';
import { checkInteger } from './checks.js';
import { EVENT_KIND, EventQueue, type Wakeable } from './event-queue.js';
import { Direction, type DirectionName, type FrameConsumer, Link, type LinkOptions } from './link.js';
import { Node, type NodeOptions } from './network-node.js';

export interface NetworkOptions {
  /** Seed of all randomness. The same seed and the same calls give the same frames at the same times. */
  readonly seed: number | string;
  /** Virtual time at the start, integer nanoseconds. Default: 0. */
  readonly startNs?: number;
}

/** A scheduled event. */
export interface Timer {
  /** Virtual time, nanoseconds. */
  readonly timeNs: number;
  /** Cancels the event. @returns false if it has happened or was cancelled before */
  cancel(): boolean;
}

/** Options of a tap. */
export interface TapOptions {
  /**
   * `out`: frames as they arrive; `in`: frames as they are sent, including those that the link will drop. Default:
   * `out`.
   */
  readonly where?: 'in' | 'out';
}

const MAX_PORT = 0xffff;

/**
 * Nodes and links in virtual time. Events happen in the order of their times, and at the same time in the order of
 * their creation. Nothing reads a clock or a global source of random numbers.
 */
export class Network {
  readonly startNs: number;
  /** Derive streams from it, but draw no numbers from it. */
  readonly random: Random;
  readonly nodes: Node[] = [];
  readonly links: Link[] = [];
  /** The machinery of nodes and links; use {@link at} and {@link schedule}. */
  readonly events: EventQueue = new EventQueue();
  readonly #names: Map<string, Node> = new Map();
  #executed = 0;
  #isRunning = false;

  /** @throws RangeError if `startNs` is not an integer from 0 */
  constructor(options: NetworkOptions) {
    this.startNs = checkInteger('startNs', options.startNs ?? 0, 0);
    this.events.nowNs = this.startNs;
    this.random = new Random(options.seed);
  }

  /** Virtual time, integer nanoseconds. */
  get nowNs(): number {
    return this.events.nowNs;
  }

  /** Number of events that have happened. */
  get executedEvents(): number {
    return this.#executed;
  }

  /** Number of events to come. */
  get pendingEvents(): number {
    return this.events.pending;
  }

  /** Time of the next event in nanoseconds; Infinity if there is none. */
  get nextEventNs(): number {
    this.events.prune();
    return this.events.firstTime;
  }

  /**
   * Adds a node.
   *
   * @param name any text, unique in the network, because the node's stream of random numbers depends on it
   * @throws TypeError for a name in use, RangeError for an option out of range
   */
  add(name: string, behaviour: Behaviour, options: NodeOptions = {}): Node {
    if (this.#names.has(name)) throw new TypeError(`there is a node "${name}" already`);
    const node = new Node(this, this.nodes.length, name, behaviour, options);
    this.#names.set(name, node);
    this.nodes.push(node);
    behaviour.start?.(node);
    return node;
  }

  /** The node with a name; undefined if there is none. */
  find(name: string): Node | undefined {
    return this.#names.get(name);
  }

  /**
   * Joins two nodes by a link.
   *
   * @throws TypeError for a node of another network or a port in use, RangeError for an option out of range
   */
  connect(a: Node, b: Node, options: LinkOptions = {}): Link {
    if (a.network !== this || b.network !== this) throw new TypeError('a node of another network cannot be connected');
    if (a === b) throw new TypeError(`node "${a.name}" cannot be connected to itself`);
    const aPort = checkInteger('aPort', options.aPort ?? a.freePort, 0, MAX_PORT);
    const bPort = checkInteger('bPort', options.bPort ?? b.freePort, 0, MAX_PORT);
    for (const [node, port] of [[a, aPort] as const, [b, bPort] as const]) {
      if (node.neighbour(port) !== undefined) throw new TypeError(`port ${port} of "${node.name}" is taken`);
    }
    const streamOf = (index: number): Random => this.random.derive('link', 2 * this.links.length + index);
    const ab = new Direction('ab', a, b, bPort, this.events, streamOf(0), { ...options, ...options.aToB });
    const ba = new Direction('ba', b, a, aPort, this.events, streamOf(1), { ...options, ...options.bToA });
    a.attach(aPort, ab);
    b.attach(bPort, ba);
    const link = new Link(ab, ba);
    this.links.push(link);
    return link;
  }

  /** The link of a node's port. */
  linkAt(node: Node, port: number): Link | undefined {
    return this.links.find(
      (link) => (link.a === node && link.aPort === port) || (link.b === node && link.bPort === port),
    );
  }

  /** Calls `callback` at a time. @param timeNs integer nanoseconds, not in the past, else a RangeError */
  at(timeNs: number, callback: () => void): Timer {
    const handle = this.schedule(timeNs, { wake: () => callback() });
    return { timeNs, cancel: () => this.cancel(handle) };
  }

  /**
   * Like {@link at}, without an object for each event.
   *
   * @param argument a 32-bit integer for `target.wake`
   * @returns a handle for {@link cancel}
   * @throws RangeError as {@link at}
   */
  schedule(timeNs: number, target: Wakeable, argument = 0): number {
    if (!(timeNs >= this.nowNs) || !Number.isInteger(timeNs)) {
      throw new RangeError(`timeNs must be an integer from ${this.nowNs} (now), not ${timeNs}`);
    }
    const { events } = this;
    events.due = timeNs;
    return events.handleOf(events.push(EVENT_KIND.WAKE, target, argument, null));
  }

  /** Cancels an event of {@link schedule}. @returns false if it has happened or was cancelled before */
  cancel(handle: number): boolean {
    return this.events.cancel(handle);
  }

  /**
   * Passes the frames of a link to `sink`. This does not change the simulation.
   *
   * @returns a function that removes the tap
   */
  tap(link: Link, direction: DirectionName | 'both', sink: FrameConsumer, options: TapOptions = {}): () => void {
    const names: readonly DirectionName[] = direction === 'both' ? ['ab', 'ba'] : [direction];
    const removals = names.map((name) => link.addSink(name, options.where ?? 'out', sink));
    return () => {
      for (const remove of removals) remove();
    };
  }

  /**
   * Runs all events up to and including `untilNs`, and sets the time to it.
   *
   * @throws RangeError if `untilNs` is in the past; Error if called within an event
   */
  run(untilNs: number): void {
    if (!(untilNs >= this.nowNs)) throw new RangeError(`untilNs must be at least ${this.nowNs} (now), not ${untilNs}`);
    this.runWhile(() => true, untilNs);
    if (untilNs !== Number.POSITIVE_INFINITY) this.events.nowNs = untilNs;
  }

  /**
   * Runs events up to and including `limitNs` as long as `predicate` holds. It is evaluated before each event.
   *
   * @returns whether it ended because `predicate` no longer held
   */
  runWhile(predicate: () => boolean, limitNs: number = Number.POSITIVE_INFINITY): boolean {
    if (this.#isRunning) throw new Error('the network is running: an event cannot run it');
    this.#isRunning = true;
    try {
      while (predicate()) {
        if (!this.events.isDue(limitNs)) return false;
        this.#execute();
      }
      return true;
    } finally {
      this.#isRunning = false;
    }
  }

  /** Runs one event. @returns false if there is none */
  step(): boolean {
    const before = this.#executed;
    return this.runWhile(() => this.#executed === before);
  }

  #execute(): void {
    const { events } = this;
    const slot = events.pop();
    const kind = events.kindOf(slot);
    if (kind === EVENT_KIND.CANCELLED) {
      events.release(slot);
      return;
    }
    const target = events.targetOf(slot);
    const argument = events.argumentOf(slot);
    const frame = events.frameOf(slot);
    // Release the slot first, so that it is free even if the event throws.
    events.release(slot);
    this.#executed++;
    if (kind === EVENT_KIND.DELIVER) (target as Direction).arrive(frame!, argument);
    else if (kind === EVENT_KIND.SERVE) (target as Node).serve(argument);
    else (target as Wakeable).wake(argument);
  }
}
