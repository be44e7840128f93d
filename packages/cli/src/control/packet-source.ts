/** Telemetry that switches send to their controller: the copies of packets that INT sinks of intmon.p4 make. */
import { FrameSlab, type PushFrames, type Source } from '@int/collector';
import { deferred, sourceTimeMs, WallClock } from '@int/collector/internals';
import type { P4RuntimeConnection } from '@int/control';

/** Reason of a packet to the controller that no entry gives: a report or a copy. As in p4/headers/controller.p4. */
const REASON_REPORT = 127n;
/** Frames and bytes that go to the pipeline together. */
const SLAB = { frames: 256, bytes: 1 << 18 } as const;
const ADJUST_MS = 1000;

type PacketStream = ReturnType<P4RuntimeConnection['client']['packets']>;

/** The packets of one switch. While the pipeline is busy they wait in the stream, which is bounded and counts what it drops. */
class PacketReader {
  readonly #slab = new FrameSlab(SLAB, 'ethernet');
  readonly #stream: PacketStream;
  readonly #clock: WallClock;
  readonly #push: PushFrames;
  #due: NodeJS.Immediate | null = null;
  #busy: Promise<void> | null = null;
  /** Longer than any frame. */
  refused = 0;

  constructor(stream: PacketStream, clock: WallClock, push: PushFrames) {
    this.#stream = stream;
    this.#clock = clock;
    this.#push = push;
  }

  get dropped(): number {
    return this.#stream.dropped;
  }

  /** When the first frame came that waits; `null`: none does. */
  get firstMs(): number | null {
    return this.#slab.count === 0 || this.#busy !== null ? null : sourceTimeMs(this.#slab, 0);
  }

  /** Reads until the stream ends. */
  async run(): Promise<void> {
    for await (const { payload, metadata } of this.#stream) {
      if (metadata.reason !== REASON_REPORT) continue;
      if (payload.length > SLAB.bytes) {
        this.refused++;
        continue;
      }
      await this.#busy;
      if (!this.#slab.fits(payload.length)) {
        this.#flush();
        await this.#busy;
      }
      this.#slab.append(payload, this.#clock.now());
      // What has come together goes together.
      this.#due ??= setImmediate(() => this.#flush());
    }
    await this.#busy;
    this.#flush();
    await this.#busy;
  }

  close(): void {
    this.#stream.close();
  }

  #flush(): void {
    if (this.#due !== null) clearImmediate(this.#due);
    this.#due = null;
    if (this.#slab.count === 0 || this.#busy !== null) return;
    const taken = this.#push(this.#slab);
    if (taken === undefined) {
      this.#slab.clear();
      return;
    }
    // What the pipeline could not do, it tells itself.
    this.#busy = taken
      .catch(() => {})
      .then(() => {
        this.#slab.clear();
        this.#busy = null;
      });
  }
}

/** Packets with telemetry from all switches, as a source of a collector. */
export class PacketSource implements Source {
  readonly name = 'packets of switches over P4Runtime';
  readonly kernelDropped = null;
  readonly #connections: readonly P4RuntimeConnection[];
  readonly #clock = new WallClock();
  readonly #end = deferred();
  readonly finished: Promise<void> = this.#end.promise;
  #readers: readonly PacketReader[] = [];
  #runs: readonly Promise<void>[] = [];
  #timer: NodeJS.Timeout | null = null;

  /** @param connections of the switches that send telemetry to their controller */
  constructor(connections: readonly P4RuntimeConnection[]) {
    this.#connections = connections;
    // A caller who awaits it sees the rejection. Nobody has to.
    this.finished.catch(() => {});
  }

  async start(push: PushFrames): Promise<void> {
    this.#readers = this.#connections.map(({ client }) => new PacketReader(client.packets(), this.#clock, push));
    this.#runs = this.#readers.map((reader) => reader.run());
    this.#timer = setInterval(() => this.#clock.adjust(), ADJUST_MS);
    this.#timer.unref();
    for (const run of this.#runs) run.catch((error: Error) => this.#end.reject(error));
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    for (const reader of this.#readers) reader.close();
    await Promise.allSettled(this.#runs);
    this.#end.resolve();
  }

  get overrun(): number {
    return this.#readers.reduce((sum, { dropped, refused }) => sum + dropped + refused, 0);
  }

  get clockStepsBack(): number {
    return this.#clock.stepsBack;
  }

  /** Packets get their time when they are read. */
  lowTimeMs(): number {
    let low = this.#clock.now();
    for (const { firstMs } of this.#readers) if (firstMs !== null && firstMs < low) low = firstMs;
    return low;
  }
}
