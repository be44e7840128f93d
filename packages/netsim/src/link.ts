/** Links: rate, delay, queue, loss, and counters of the fates of frames. */
import type { Random } from '@int/random';
import { checkInteger, checkLimit, checkProbability, checkRate } from './checks.js';
import { EVENT_KIND, type EventQueue } from './event-queue.js';
import type { Node } from './network-node.js';

/** Options of one direction of a link. */
export interface DirectionOptions {
  /** Rate in bits per second, counting a frame's bytes; Infinity: no transmission time. Default: Infinity. */
  readonly rateBps?: number;
  /** Propagation delay, integer nanoseconds. Default: 0. */
  readonly delayNs?: number;
  /** Probability that a frame is lost on the way. Default: 0. */
  readonly loss?: number;
  /** Most frames that wait for the link, without the one being sent; Infinity: no limit. Default: Infinity. */
  readonly queuePackets?: number;
  /** Probability that a frame arrives twice. Default: 0. */
  readonly duplication?: number;
  /** Largest random extra delay of a frame, nanoseconds. Frames may overtake each other. Default: 0. */
  readonly jitterNs?: number;
}

/** Both directions of a link, and its ports. */
export interface LinkOptions extends DirectionOptions {
  /** Port at the first node. Default: its lowest free one. */
  readonly aPort?: number;
  /** Port at the second node. Default: its lowest free one. */
  readonly bPort?: number;
  /** Options of the direction from the first node to the second. They override the common ones. */
  readonly aToB?: DirectionOptions;
  /** Options of the direction from the second node to the first. They override the common ones. */
  readonly bToA?: DirectionOptions;
}

/** `ab`: from the first node to the second. */
export type DirectionName = 'ab' | 'ba';

/** Called with frames. Frames are not to be written; `timeNs` is the virtual time. */
export type FrameConsumer = (frame: Uint8Array, timeNs: number, direction: DirectionName) => void;

/**
 * Counters of frames in one direction. At any time `offered + duplicated = delivered + lost + droppedQueue +
 * droppedDown + inFlight`.
 */
export interface LinkCounters {
  /** Frames that the sender put on the link. */
  readonly offered: number;
  /** Second copies that the link made. */
  readonly duplicated: number;
  readonly delivered: number;
  /** Lost at random. */
  readonly lost: number;
  /** Dropped because the queue was full. */
  readonly droppedQueue: number;
  /** Dropped because the link was down, or went down with the frame on it. */
  readonly droppedDown: number;
  /** Waiting or in transit. */
  readonly inFlight: number;
}

/** The queue in front of a link, as its sender sees it. */
export interface OutputState {
  readonly isUp: boolean;
  /** Frames that wait for the link. Always 0 for a queue without limit, whose frames are not counted. */
  readonly queued: number;
  /** Time in nanoseconds that a frame sent now would wait before its first bit leaves. */
  readonly waitNs: number;
}

const NO_TIMES = /* @__PURE__ */ new Float64Array(0);

/** One direction of a link. */
export class Direction implements LinkCounters, OutputState {
  offered = 0;
  duplicated = 0;
  delivered = 0;
  lost = 0;
  droppedQueue = 0;
  droppedDown = 0;
  inFlight = 0;
  isUp = true;
  /** Taps at the entry and the exit. Null costs nothing. */
  tapsIn: FrameConsumer[] | null = null;
  tapsOut: FrameConsumer[] | null = null;
  readonly #events: EventQueue;
  readonly #random: Random;
  #nsPerByte = 0;
  #delayNs = 0;
  #lossBelow = 0;
  #duplicateBelow = 0;
  #jitterNs = 0;
  #queuePackets = Number.POSITIVE_INFINITY;
  #freeAt = 0;
  /** Frames sent before the last failure of the link do not arrive. */
  #epoch = 0;
  /** A ring of the times at which the transmission of waiting frames begins. Used only for queues with a limit. */
  #starts: Float64Array = NO_TIMES;
  #startsFirst = 0;
  #startsCount = 0;

  constructor(
    readonly name: DirectionName,
    readonly from: Node,
    readonly to: Node,
    readonly toPort: number,
    events: EventQueue,
    random: Random,
    options: DirectionOptions,
  ) {
    this.#events = events;
    this.#random = random;
    this.configure(options);
  }

  /** Changes the given options for frames from now on. */
  configure(options: DirectionOptions): void {
    const { rateBps, delayNs, loss, queuePackets, duplication, jitterNs } = options;
    if (rateBps !== undefined) this.#nsPerByte = 8e9 / checkRate('rateBps', rateBps);
    if (delayNs !== undefined) this.#delayNs = checkInteger('delayNs', delayNs, 0);
    if (loss !== undefined) this.#lossBelow = checkProbability('loss', loss) * 2 ** 32;
    if (duplication !== undefined) this.#duplicateBelow = checkProbability('duplication', duplication) * 2 ** 32;
    if (jitterNs !== undefined) this.#jitterNs = checkInteger('jitterNs', jitterNs, 0);
    if (queuePackets !== undefined) this.#queuePackets = checkLimit('queuePackets', queuePackets, 0);
  }

  get queued(): number {
    this.#forgetStarted(this.#events.nowNs);
    return this.#startsCount;
  }

  get waitNs(): number {
    return Math.max(0, this.#freeAt - this.#events.nowNs);
  }

  offer(frame: Uint8Array): void {
    const now = this.#events.nowNs;
    this.offered++;
    if (this.tapsIn !== null) for (const sink of this.tapsIn) sink(frame, now, this.name);
    if (!this.isUp) {
      this.droppedDown++;
      return;
    }
    let sentAt = now;
    if (this.#nsPerByte > 0) {
      const start = Math.max(this.#freeAt, now);
      if (this.#queuePackets !== Number.POSITIVE_INFINITY && start > now && !this.#wait(start, now)) {
        this.droppedQueue++;
        return;
      }
      sentAt = start + Math.max(1, Math.round(frame.length * this.#nsPerByte));
      this.#freeAt = sentAt;
    }
    // A frame that will be lost still occupies the wire.
    if (this.#lossBelow > 0 && this.#random.uint32() < this.#lossBelow) {
      this.lost++;
      return;
    }
    this.#carry(frame, sentAt);
    if (this.#duplicateBelow > 0 && this.#random.uint32() < this.#duplicateBelow) {
      this.duplicated++;
      this.#carry(frame, sentAt);
    }
  }

  /** Called when a frame arrives. */
  arrive(frame: Uint8Array, epoch: number): void {
    if (epoch !== this.#epoch) return;
    this.inFlight--;
    this.delivered++;
    if (this.tapsOut !== null) for (const sink of this.tapsOut) sink(frame, this.#events.nowNs, this.name);
    this.to.accept(frame, this.toPort);
  }

  fail(): void {
    if (!this.isUp) return;
    this.isUp = false;
    this.#epoch = (this.#epoch + 1) | 0;
    this.droppedDown += this.inFlight;
    this.inFlight = 0;
    this.#startsCount = 0;
    this.#freeAt = 0;
  }

  repair(): void {
    this.isUp = true;
  }

  #carry(frame: Uint8Array, sentAt: number): void {
    let time = sentAt + this.#delayNs;
    if (this.#jitterNs > 0) time += Math.floor(this.#random.uniform() * (this.#jitterNs + 1));
    this.inFlight++;
    this.#events.due = time;
    this.#events.push(EVENT_KIND.DELIVER, this, this.#epoch, frame);
  }

  #wait(start: number, now: number): boolean {
    this.#forgetStarted(now);
    if (this.#startsCount >= this.#queuePackets) return false;
    if (this.#startsCount === this.#starts.length) this.#growStarts();
    this.#starts[(this.#startsFirst + this.#startsCount) & (this.#starts.length - 1)] = start;
    this.#startsCount++;
    return true;
  }

  #forgetStarted(now: number): void {
    const starts = this.#starts;
    while (this.#startsCount > 0 && starts[this.#startsFirst]! <= now) {
      this.#startsFirst = (this.#startsFirst + 1) & (starts.length - 1);
      this.#startsCount--;
    }
  }

  #growStarts(): void {
    const starts = this.#starts;
    const startsFirst = this.#startsFirst;
    const startsCount = this.#startsCount;
    const grown = new Float64Array(Math.max(16, starts.length * 2));
    for (let i = 0; i < startsCount; i++) grown[i] = starts[(startsFirst + i) & (starts.length - 1)]!;
    this.#starts = grown;
    this.#startsFirst = 0;
  }
}

/** A link between two nodes, with two directions. Made by `Network.connect`. */
export class Link {
  readonly a: Node;
  readonly b: Node;
  readonly aPort: number;
  readonly bPort: number;
  readonly #ab: Direction;
  readonly #ba: Direction;

  /** Use `Network.connect`. */
  constructor(ab: Direction, ba: Direction) {
    this.#ab = ab;
    this.#ba = ba;
    this.a = ab.from;
    this.b = ab.to;
    this.aPort = ba.toPort;
    this.bPort = ab.toPort;
  }

  get isUp(): boolean {
    return this.#ab.isUp;
  }

  /** Takes the link down. It drops all frames on it, and all frames sent until it is repaired. */
  fail(): void {
    if (!this.isUp) return;
    this.#ab.fail();
    this.#ba.fail();
    this.#tell();
  }

  repair(): void {
    if (this.isUp) return;
    this.#ab.repair();
    this.#ba.repair();
    this.#tell();
  }

  /**
   * Changes rate, delay, loss and so on for frames sent from now on. Options that are not given stay.
   *
   * @param direction one direction only. Default: both
   * @throws RangeError for a value out of range
   */
  configure(options: DirectionOptions, direction?: DirectionName): void {
    if (direction !== 'ba') this.#ab.configure(options);
    if (direction !== 'ab') this.#ba.configure(options);
  }

  /** The counters of one direction: a live view. */
  counters(direction: DirectionName): LinkCounters {
    return this.#of(direction);
  }

  /** Frames that wait in one direction; 0 for a queue without limit. */
  queued(direction: DirectionName): number {
    return this.#of(direction).queued;
  }

  /** Use `Network.tap`. */
  addSink(direction: DirectionName, where: 'in' | 'out', sink: FrameConsumer): () => void {
    const of = this.#of(direction);
    const key = where === 'in' ? 'tapsIn' : 'tapsOut';
    of[key] = [...(of[key] ?? []), sink];
    return () => {
      const rest = (of[key] ?? []).filter((other) => other !== sink);
      of[key] = rest.length === 0 ? null : rest;
    };
  }

  /** Both ends have the same state by now. */
  #tell(): void {
    this.a.behaviour.portChanged?.(this.aPort, this.a);
    this.b.behaviour.portChanged?.(this.bPort, this.b);
  }

  #of(direction: DirectionName): Direction {
    return direction === 'ab' ? this.#ab : this.#ba;
  }
}
