import { encodeFrame } from '@int/codec';
import { FrameSlab, type Push, type Source } from '@int/collector';
import { TrafficGenerator } from '@int/traffic';

/** A source of generated traffic, as much as a test sends at a time. Its time is that of the traffic. */
export class RecordSource implements Source {
  readonly name = 'generated';
  readonly overrun = 0;
  readonly kernelDropped = null;
  /** Time of the last report, in milliseconds since the epoch. */
  timeMs = 0;
  readonly #generator: TrafficGenerator;
  readonly #slab = new FrameSlab({ frames: 4096, bytes: 4 << 20 }, 'ethernet');
  #push: Push = () => undefined;
  #end: () => void = () => {};
  readonly finished: Promise<void> = new Promise((resolve) => {
    this.#end = resolve;
  });

  /** @param flows with few reports of each in a second, all reports are retained */
  constructor(flows = 64, ratePps = 2000) {
    this.#generator = new TrafficGenerator({ topology: 'leaf-spine:4x2', flows, ratePps, seed: 1 });
  }

  async start(push: Push): Promise<void> {
    this.#push = push;
  }

  /** Sends so many reports, in one batch. */
  send(count: number): void {
    this.#slab.clear();
    for (let index = 0; index < count; index++) {
      const { records, timeNs } = this.#generator.next();
      this.timeMs = Number(timeNs) / 1e6;
      this.#slab.append(encodeFrame(records), this.timeMs);
    }
    this.#push(this.#slab);
  }

  /** Lets the time of the source pass. */
  pass(milliseconds: number): void {
    this.timeMs += milliseconds;
  }

  lowTimeMs(): number {
    return this.timeMs;
  }

  async stop(): Promise<void> {
    this.#end();
  }
}
