import { createInterface } from 'node:readline';
import { encodeFrame } from '@int/codec';
import { Collector, FrameSlab, type Push, type Source } from '@int/collector';
import { Dashboard } from '@int/dashboard';
import { DeviceProfile } from '@int/network';
import { TrafficGenerator } from '@int/traffic';

const TURN_MS = 20;
const MOST_FRAMES = 8192;
/** Frames that are made once, and sent again and again with new times: encoding would take more than all else. */
const FRAMES = 10_000;

/** A frame, and the switches that its packet came by. */
interface Sent {
  readonly frame: Uint8Array;
  readonly path: readonly (number | null)[];
}

/** Sends frames of a fabric as time passes. */
class PacedSource implements Source {
  readonly name = 'paced';
  readonly overrun = 0;
  readonly kernelDropped = null;
  readonly #frames: readonly Sent[];
  /** The link that carries nothing, as `1-5`. */
  #failed: string | null = null;
  readonly #ratePps: number;
  readonly #slab = new FrameSlab({ frames: MOST_FRAMES, bytes: 32 << 20 }, 'ethernet');
  #sentMs = Date.now();
  #next = 0;
  #timer: NodeJS.Timeout | undefined;
  #end: () => void = () => {};
  readonly finished: Promise<void> = new Promise((resolve) => {
    this.#end = resolve;
  });

  constructor(frames: readonly Sent[], ratePps: number) {
    this.#frames = frames;
    this.#ratePps = ratePps;
  }

  async start(push: Push): Promise<void> {
    this.#sentMs = Date.now();
    this.#timer = setInterval(() => {
      this.#slab.clear();
      for (let sent = 0; sent < MOST_FRAMES && this.#sentMs < Date.now(); sent++) {
        this.#sentMs += 1000 / this.#ratePps;
        const { frame, path } = this.#frames[this.#next]!;
        if (this.#failed === null || !linksOf(path).includes(this.#failed)) this.#slab.append(frame, this.#sentMs);
        this.#next = (this.#next + 1) % this.#frames.length;
      }
      push(this.#slab);
    }, TURN_MS);
  }

  /** Lets a link fail, as `1-5`; `null`: all are whole. */
  fail(link: string | null): void {
    this.#failed = link;
  }

  lowTimeMs(): number {
    return this.#sentMs - 2 * TURN_MS;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#end();
  }
}

const linksOf = (path: Sent['path']): string[] => path.slice(1).map((id, index) => `${path[index]}-${id}`);

/** The links, the busiest first. */
function busiestOf(frames: readonly Sent[]): string[] {
  const counts = new Map<string, number>();
  for (const link of frames.flatMap(({ path }) => linksOf(path))) counts.set(link, (counts.get(link) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]).map(([link]) => link);
}

/**
 * A collector of a fabric with its dashboard; tells its address on standard output, and runs until it is killed. A line `fail N` on
 * standard input lets the N-th busiest link fail, `repair` makes it whole; each is answered with the time of day in milliseconds.
 */
export async function collect(fabric: string, ratePps: number, page: string): Promise<void> {
  const generator = new TrafficGenerator({ topology: fabric, flows: 4096, ratePps, seed: 1, zipfExponent: 0 });
  const frames = Array.from({ length: FRAMES }, (): Sent => {
    const { records } = generator.next();
    return { frame: encodeFrame(records), path: records[0]!.path };
  });
  const source = new PacedSource(frames, ratePps);
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
  const collector = new Collector({ sources: [source], sinks: [dashboard] });
  dashboard.setPipeline(() => ({ totals: collector.totals(), degraded: collector.degraded() }));
  await collector.start();
  console.log(JSON.stringify({ url: dashboard.url }));
  const links = busiestOf(frames);
  for await (const line of createInterface({ input: process.stdin })) {
    const [, rank] = /^fail (\d+)$/.exec(line) ?? [];
    source.fail(rank === undefined ? null : links[Number(rank)]!);
    console.log(JSON.stringify({ atMs: performance.timeOrigin + performance.now() }));
  }
}
