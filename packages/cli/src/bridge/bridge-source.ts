import { type SinkConfig, Stripper } from '@int/codec';
import { type FrameBatch, fillFrameTimes, type Push, type Source, SourceError, WallClock } from '@int/collector';
import type { BridgePorts, FramePort } from './frame-port.js';
import { LANE_ROWS, Lane, type TakeFrames } from './lane.js';
import { type BridgeTotals, LaneTotals } from './totals.js';

/** How often interfaces are looked after while frames keep coming. */
const CHECK_MS = 1000;

export interface BridgeSourceOptions {
  /** For messages: `IN -> OUT`. */
  readonly name: string;
  /** @throws SourceError */
  readonly open: () => Promise<BridgePorts>;
  /** How INT is found and taken out. */
  readonly strip?: SinkConfig;
  /** Push all frames that come in, not only those with INT. Default false. */
  readonly pushesAll?: boolean;
  /** Leave what comes from OUT to the kernel. Default false. */
  readonly isOneWay?: boolean;
}

/** A batch of frames that one lane pushes again and again. */
class LaneFrames implements FrameBatch {
  readonly linkType = 'ethernet';
  readonly timestampsHigh = new Uint32Array(LANE_ROWS);
  readonly timestampsLow = new Uint32Array(LANE_ROWS);
  bytes: Uint8Array = new Uint8Array(0);
  offsets: Uint32Array = new Uint32Array(0);
  lengths: Uint32Array = new Uint32Array(0);
  count = 0;
}

/**
 * A bump in the wire as a source of telemetry: forwards frames between two interfaces, and pushes those that carry INT
 * from where they were received, as they were before it was taken out.
 */
export class BridgeSource implements Source {
  readonly name: string;
  readonly finished: Promise<void>;
  readonly overrun = 0;
  readonly #options: BridgeSourceOptions;
  readonly #clock = new WallClock();
  #ports: BridgePorts | null = null;
  #inbound: Lane[] = [];
  #returning: Lane[] = [];
  /** Settles when all lanes have come to their end; never rejects. */
  #running: Promise<unknown> = Promise.resolve();
  #checks: NodeJS.Timeout | null = null;
  #failure: SourceError | null = null;
  /** As of the end, when there are no ports any more to ask. */
  #kernelDrops: readonly [inner: number, outer: number] | null = null;
  #finish: () => void = () => {};
  #fail: (error: Error) => void = () => {};

  constructor(options: BridgeSourceOptions) {
    this.#options = options;
    this.name = options.name;
    this.finished = new Promise((resolve, reject) => {
      this.#finish = resolve;
      this.#fail = reject;
    });
    // Whoever awaits it sees the rejection; nobody has to.
    this.finished.catch(() => {});
  }

  /** `null` before the start and after the end. */
  get ports(): BridgePorts | null {
    return this.#ports;
  }

  /** Why it came to an end by itself. */
  get failure(): SourceError | null {
    return this.#failure;
  }

  get kernelDropped(): number {
    return this.#kernelDropsNow()[0];
  }

  async start(push: Push): Promise<void> {
    const { open, isOneWay } = this.#options;
    const ports = await open();
    this.#ports = ports;
    const { inner, outer } = ports;
    this.#inbound = inner.map((from, index) => this.#inboundLane(from, outer[index % outer.length]!, ports, push));
    if (isOneWay !== true) {
      this.#returning = outer.map((from, index) => {
        return new Lane({ from, to: inner[index % inner.length]!, rows: (capacity) => ports.rows(capacity) });
      });
    }
    const lanes = [...this.#inbound, ...this.#returning];
    this.#running = Promise.all(lanes.map((lane) => lane.run().catch((error: unknown) => this.#failed(error))));
    this.#checks = setInterval(() => this.#check(), CHECK_MS);
    void this.#running.then(() => this.#close());
  }

  async stop(): Promise<void> {
    this.#stopLanes();
    await this.#running;
    this.#close();
  }

  /** The counters now. */
  totals(): BridgeTotals {
    const sum = (lanes: readonly Lane[]): LaneTotals => {
      const totals = new LaneTotals();
      for (const lane of lanes) totals.add(lane.totals);
      return totals;
    };
    const [kernelDropped, returnKernelDropped] = this.#kernelDropsNow();
    return { inbound: sum(this.#inbound), returning: sum(this.#returning), kernelDropped, returnKernelDropped };
  }

  #inboundLane(from: FramePort, to: FramePort, ports: BridgePorts, push: Push): Lane {
    const frames = new LaneFrames();
    const take: TakeFrames = (bytes, offsets, lengths, count) => {
      frames.bytes = bytes;
      frames.offsets = offsets;
      frames.lengths = lengths;
      frames.count = count;
      fillFrameTimes(frames, 0, count, this.#clock.now());
      return push(frames);
    };
    const stripper = new Stripper(this.#options.strip);
    const takesAll = this.#options.pushesAll ?? false;
    return new Lane({ from, to, rows: (capacity) => ports.rows(capacity), stripper, take, takesAll });
  }

  #kernelDropsNow(): readonly [inner: number, outer: number] {
    const dropped = (side: readonly FramePort[] = []): number =>
      side.reduce((sum, port) => {
        const { rxDropped, rxRingFull } = port.stats().kernel;
        return sum + rxDropped + rxRingFull;
      }, 0);
    return this.#kernelDrops ?? [dropped(this.#ports?.inner), dropped(this.#ports?.outer)];
  }

  #check(): void {
    this.#clock.adjust();
    for (const port of [...this.#ports!.inner, ...this.#ports!.outer]) {
      try {
        port.checkInterface();
      } catch (error) {
        this.#failed(error);
      }
    }
  }

  /** Something that it cannot go on with. */
  #failed(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    this.#failure ??= new SourceError('ERR_SOURCE_DATA', this.name, message, error);
    this.#stopLanes();
  }

  #stopLanes(): void {
    this.#ports?.detach();
    for (const lane of [...this.#inbound, ...this.#returning]) lane.stop();
  }

  #close(): void {
    if (this.#checks !== null) clearInterval(this.#checks);
    this.#checks = null;
    if (this.#ports !== null) {
      this.#kernelDrops = this.#kernelDropsNow();
      this.#ports.close();
      this.#ports = null;
    }
    if (this.#failure === null) this.#finish();
    else this.#fail(this.#failure);
  }
}
