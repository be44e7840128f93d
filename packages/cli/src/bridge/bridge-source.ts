import { type SinkConfig, Stripper } from '@int/codec';
import { type Push, type Source, SourceError, type SourceFrames } from '@int/collector';
import { fillFrameTimes, WallClock } from '@int/collector/internals';
import type { Prefix } from '@int/network';
import { FORWARDER_ROWS, Forwarder, type ForwarderFailure, type TakeFrames } from './forwarder.js';
import type { BridgeSide, BridgeSides, FramePort } from './frame-port.js';
import { type BridgeTotals, ForwarderTotals } from './totals.js';

const LOOK_MS = 100;
/** Interval for comparing the clock with the system's, in checks. */
const LOOKS_PER_ADJUSTMENT = 10;

export interface BridgeSourceOptions {
  /** Name for messages: `IN -> OUT`. */
  readonly name: string;
  /** @throws SourceError */
  readonly open: () => Promise<BridgeSides>;
  readonly strip?: SinkConfig;
  /** Whether to push all incoming frames, not only those with INT. Default false. */
  readonly pushesAll?: boolean;
  /** Whether to leave frames from OUT to the kernel. Default false. */
  readonly isOneWay?: boolean;
  /**
   * Reaction to an interface that goes down or away: `wait` for it, or `exit`, which ends the source. Default `wait`.
   */
  readonly onDown?: 'wait' | 'exit';
  /**
   * Senders of frames whose INT is believed; default: anybody. Frames of others are forwarded like all others, and their INT
   * is removed.
   */
  readonly from?: readonly Prefix[];
}

/** Frames that a forwarder reuses for each push. */
class ForwarderFrames implements SourceFrames {
  readonly linkType = 'ethernet';
  readonly timestampsHigh = new Uint32Array(FORWARDER_ROWS);
  readonly timestampsLow = new Uint32Array(FORWARDER_ROWS);
  bytes: Uint8Array = new Uint8Array(0);
  offsets: Uint32Array = new Uint32Array(0);
  lengths: Uint32Array = new Uint32Array(0);
  count = 0;
}

/** One side, with the counts of closed ports. */
class Side {
  /**
   * Forwarders whose outgoing port on this side failed. The port must be closed, so that its frames do not leave late.
   */
  readonly failed: Forwarder[] = [];
  isRenewing = false;
  #kernelDrops = 0;
  #unsent = 0;

  constructor(readonly link: BridgeSide) {}

  get isUp(): boolean {
    return this.link.problem === null;
  }

  get kernelDrops(): number {
    return this.#kernelDrops + this.#portDrops();
  }

  /** Frames accepted by its ports and dropped by the kernel. */
  get unsent(): number {
    return this.#unsent + this.#portUnsent();
  }

  /** The outgoing port for frames from the port of this number; null if there is none now. */
  outletOf(index: number): FramePort | null {
    const { ports } = this.link;
    return this.isUp && ports.length > 0 ? ports[index % ports.length]! : null;
  }

  renew(signal: AbortSignal): Promise<void> {
    this.#settle();
    this.isRenewing = true;
    return this.link.renew(signal).finally(() => {
      this.isRenewing = false;
    });
  }

  close(): void {
    this.#settle();
    this.link.close();
  }

  /** Adds the counts of the ports before they are closed. */
  #settle(): void {
    this.#kernelDrops += this.#portDrops();
    this.#unsent += this.#portUnsent();
    let unsent = this.link.ports.reduce((sum, { pending }) => sum + pending, 0);
    for (const forwarder of this.failed.splice(0)) unsent -= forwarder.takeBack(unsent);
  }

  #portUnsent(): number {
    return this.link.ports.reduce((sum, port) => sum + port.stats().unsent, 0);
  }

  #portDrops(): number {
    return this.link.ports.reduce((sum, port) => {
      const { rxDropped, rxRingFull } = port.stats().kernel;
      return sum + rxDropped + rxRingFull;
    }, 0);
  }
}

/**
 * A bump in the wire as a source of telemetry. It forwards frames between two interfaces and pushes frames with INT
 * from their receive memory, before the INT is removed.
 *
 * While an interface is down or away, frames that should leave by it are decoded and counted as failed; the other
 * direction continues. Forwarders connect the present ports. When the ports or their state change, new forwarders
 * replace them.
 */
export class BridgeSource implements Source {
  readonly name: string;
  readonly finished: Promise<void>;
  readonly overrun = 0;
  readonly from: readonly Prefix[] | null;
  readonly #options: BridgeSourceOptions;
  readonly #clock = new WallClock();
  /** Aborted when the source ends, for any reason. */
  readonly #ending = new AbortController();
  /** IN and OUT, once they are open. */
  #sides: readonly [inner: Side, outer: Side] | null = null;
  #rows: BridgeSides['rows'] = () => {
    throw new Error('not open');
  };
  #inbound: readonly Forwarder[] = [];
  #returning: readonly Forwarder[] = [];
  /** Counters of forwarders that have ended. */
  readonly #inboundBefore = new ForwarderTotals();
  readonly #returningBefore = new ForwarderTotals();
  /** Settles at the end; never rejects. */
  #running: Promise<void> = Promise.resolve();
  #failure: SourceError | null = null;
  /** Replaces the forwarders. */
  #onChange: () => void = () => {};
  #finish: () => void = () => {};
  #fail: (error: Error) => void = () => {};

  constructor(options: BridgeSourceOptions) {
    this.#options = options;
    this.name = options.name;
    this.from = options.from ?? null;
    this.finished = new Promise((resolve, reject) => {
      this.#finish = resolve;
      this.#fail = reject;
    });
    // Callers may await it, but need not handle the rejection.
    this.finished.catch(() => {});
  }

  get failure(): SourceError | null {
    return this.#failure;
  }

  get kernelDropped(): number {
    return this.#sides?.[0].kernelDrops ?? 0;
  }

  async start(push: Push): Promise<void> {
    const { inner, outer, rows } = await this.#options.open();
    this.#sides = [new Side(inner), new Side(outer)];
    this.#rows = rows;
    this.#running = this.#run(this.#sides, push).catch((error: unknown) => this.#failed(error));
    void this.#running.then(() => this.#close());
  }

  async stop(): Promise<void> {
    this.#end();
    await this.#running;
    this.#close();
  }

  totals(): BridgeTotals {
    const sum = (before: ForwarderTotals, forwarders: readonly Forwarder[]): ForwarderTotals => {
      const totals = new ForwarderTotals();
      totals.add(before);
      for (const forwarder of forwarders) totals.add(forwarder.totals);
      return totals;
    };
    const [inner, outer] = this.#sides ?? [];
    const inbound = sum(this.#inboundBefore, this.#inbound);
    const returning = sum(this.#returningBefore, this.#returning);
    inbound.takeBack(outer?.unsent ?? 0);
    returning.takeBack(inner?.unsent ?? 0);
    return {
      inbound,
      returning,
      kernelDropped: inner?.kernelDrops ?? 0,
      returnKernelDropped: outer?.kernelDrops ?? 0,
      outages: { in: inner?.link.outages ?? 0, out: outer?.link.outages ?? 0 },
    };
  }

  async #run(sides: readonly [Side, Side], push: Push): Promise<void> {
    let looks = 0;
    const looking = setInterval(() => {
      if (++looks % LOOKS_PER_ADJUSTMENT === 0) this.#clock.adjust();
      this.#look(sides);
    }, LOOK_MS);
    try {
      this.#look(sides);
      // Run once more at the end, to forward frames received until then.
      for (let isOver = false; !isOver; ) {
        isOver = this.#ending.signal.aborted;
        await this.#runForwarders(sides, push);
      }
    } finally {
      clearInterval(looking);
    }
  }

  /** Forwards with the present ports, until they change or the source ends. */
  async #runForwarders(sides: readonly [Side, Side], push: Push): Promise<void> {
    const [inner, outer] = sides;
    const changed = new Promise<void>((resolve) => {
      this.#onChange = resolve;
    });
    this.#inbound = inner.link.ports.map((from, index) => this.#inboundForwarder(from, outer.outletOf(index), push));
    this.#returning =
      this.#options.isOneWay === true
        ? []
        : outer.link.ports.map((from, index) => new Forwarder({ from, to: inner.outletOf(index), rows: this.#rows }));
    const forwarders = [...this.#inbound, ...this.#returning];
    const ends = forwarders.map((forwarder) => this.#runForwarder(forwarder, sides));
    if (this.#ending.signal.aborted) this.#onChange();
    await changed;
    for (const forwarder of forwarders) forwarder.pause();
    await Promise.all(ends);
    for (const side of await this.#drainLost(forwarders, sides)) {
      if (this.#ending.signal.aborted) side.close();
      else this.#renew(side);
    }
    for (const forwarder of this.#inbound) this.#inboundBefore.add(forwarder.totals);
    for (const forwarder of this.#returning) this.#returningBefore.add(forwarder.totals);
    this.#inbound = [];
    this.#returning = [];
  }

  /**
   * Forwards received frames of ports before they are closed: of unusable ports or, at the end, of all.
   * @returns their sides
   */
  async #drainLost(forwarders: readonly Forwarder[], sides: readonly [Side, Side]): Promise<ReadonlySet<Side>> {
    const lost = new Set<Side>();
    for (;;) {
      const found = sides.filter((side) => !lost.has(side) && !side.isRenewing && this.#isLost(side));
      if (found.length === 0) return lost;
      const last = forwarders.filter(({ from }) => found.some(({ link }) => link.ports.includes(from)));
      for (const forwarder of last) forwarder.stop();
      // The outgoing port of these may fail now.
      await Promise.all(last.map((forwarder) => this.#runForwarder(forwarder, sides)));
      for (const side of found) lost.add(side);
    }
  }

  #isLost({ failed, link }: Side): boolean {
    return this.#ending.signal.aborted || failed.length > 0 || !link.look();
  }

  async #runForwarder(forwarder: Forwarder, sides: readonly [Side, Side]): Promise<void> {
    try {
      const failure = await forwarder.run();
      if (failure !== null) this.#portFailed(forwarder, failure, sides);
    } catch (error) {
      this.#failed(error);
    }
  }

  #inboundForwarder(from: FramePort, to: FramePort | null, push: Push): Forwarder {
    const frames = new ForwarderFrames();
    const take: TakeFrames = (bytes, offsets, lengths, count) => {
      frames.bytes = bytes;
      frames.offsets = offsets;
      frames.lengths = lengths;
      frames.count = count;
      fillFrameTimes(frames, 0, count, this.#clock.now());
      return push(frames);
    };
    const stripper = new Stripper(this.#options.strip);
    return new Forwarder({ from, to, rows: this.#rows, stripper, take, takesAll: this.#options.pushesAll ?? false });
  }

  #renew(side: Side): void {
    void side
      .renew(this.#ending.signal)
      .catch((error: unknown) => this.#failed(error))
      .then(() => this.#onChange());
  }

  #look(sides: readonly [Side, Side]): void {
    let hasChanged = false;
    for (const side of sides) {
      const { isUp } = side;
      const isSame = side.link.look();
      hasChanged ||= isUp !== side.isUp || (!isSame && !side.isRenewing);
      this.#judge(side);
    }
    if (hasChanged) this.#onChange();
  }

  #portFailed(forwarder: Forwarder, { port, error }: ForwarderFailure, sides: readonly [Side, Side]): void {
    const side = sides.find(({ link }) => link.ports.includes(port));
    if (side === undefined || !side.link.failed(error)) {
      this.#failed(error);
      return;
    }
    side.failed.push(forwarder);
    // At the end the interface is no longer needed.
    if (!this.#ending.signal.aborted) this.#judge(side);
    this.#onChange();
  }

  #judge({ link }: Side): void {
    if (link.problem !== null && this.#options.onDown === 'exit') this.#failed(link.problem);
  }

  /** Ends the source after a fatal error. */
  #failed(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    this.#failure ??= new SourceError('ERR_SOURCE_DATA', this.name, message, error);
    this.#end();
  }

  #end(): void {
    for (const side of this.#sides ?? []) side.link.detach();
    this.#ending.abort();
    this.#onChange();
  }

  #close(): void {
    for (const side of this.#sides ?? []) side.close();
    if (this.#failure === null) this.#finish();
    else this.#fail(this.#failure);
  }
}
