import { encodeFrame } from '@int/codec';
import { Collector, FrameSlab, type Push, type Source } from '@int/collector';
import { Dashboard } from '@int/dashboard';
import { DeviceProfile } from '@int/network';
import { TrafficGenerator } from '@int/traffic';

const TURN_MS = 20;
const MOST_FRAMES = 8192;
/** Frames that are made once, and sent again and again with new times: encoding would take more than all else. */
const FRAMES = 10_000;

/** Sends frames of a fabric as time passes. */
class PacedSource implements Source {
  readonly name = 'paced';
  readonly overrun = 0;
  readonly kernelDropped = null;
  readonly #frames: readonly Uint8Array[];
  readonly #ratePps: number;
  readonly #slab = new FrameSlab({ frames: MOST_FRAMES, bytes: 32 << 20 }, 'ethernet');
  #sentMs = Date.now();
  #next = 0;
  #timer: NodeJS.Timeout | undefined;
  #end: () => void = () => {};
  readonly finished: Promise<void> = new Promise((resolve) => {
    this.#end = resolve;
  });

  constructor(frames: readonly Uint8Array[], ratePps: number) {
    this.#frames = frames;
    this.#ratePps = ratePps;
  }

  async start(push: Push): Promise<void> {
    this.#sentMs = Date.now();
    this.#timer = setInterval(() => {
      this.#slab.clear();
      for (let sent = 0; sent < MOST_FRAMES && this.#sentMs < Date.now(); sent++) {
        this.#sentMs += 1000 / this.#ratePps;
        this.#slab.append(this.#frames[this.#next]!, this.#sentMs);
        this.#next = (this.#next + 1) % this.#frames.length;
      }
      push(this.#slab);
    }, TURN_MS);
  }

  lowTimeMs(): number {
    return this.#sentMs - 2 * TURN_MS;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#end();
  }
}

/** A collector of a fabric with its dashboard; tells its address on standard output, and runs until it is killed. */
export async function collect(fabric: string, ratePps: number, page: string): Promise<void> {
  const generator = new TrafficGenerator({ topology: fabric, flows: 4096, ratePps, seed: 1, zipfExponent: 0 });
  const frames = Array.from({ length: FRAMES }, () => encodeFrame(generator.next().records));
  const device = new DeviceProfile({
    units: { hopLatency: 'ns', timestamps: 'ns', queueOccupancy: { cell: '80B' }, egressUtilization: '0.01%' },
  });
  const dashboard = await Dashboard.open({
    port: 0,
    page,
    thread: new URL('./dashboard-thread.js', import.meta.url),
    network: { device },
    retention: { seconds: 120, memoryBytes: 1 << 30 },
  });
  const collector = new Collector({ sources: [new PacedSource(frames, ratePps)], sinks: [dashboard] });
  dashboard.setPipeline(() => ({ totals: collector.totals(), degraded: collector.degraded() }));
  await collector.start();
  console.log(JSON.stringify({ url: dashboard.url }));
}
