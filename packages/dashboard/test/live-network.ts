import { encodeFrame, type TelemetryRecord } from '@int/codec';
import { Collector, DetectionStage, FrameSlab, type Push, type Source } from '@int/collector';
import { Dashboard, type DashboardOptions, RunningRules } from '@int/dashboard';
import { readRules } from '@int/detect/yaml';
import { DeviceProfile, Topology } from '@int/network';
import { TrafficGenerator } from '@int/traffic';
import { threadCode } from './thread-code.js';

const SEND_MS = 20;
/** Frames of a turn at most: after a pause of the machine the rest comes later. */
const MOST_FRAMES = 4096;

/** A fabric of four leaves and two spines whose packets come as time passes, until links fail. */
class LiveSource implements Source {
  readonly name = 'fabric';
  readonly overrun = 0;
  readonly kernelDropped = null;
  /** Links that carry nothing, as `1-5`. */
  readonly #failed = new Set<string>();
  readonly #generator: TrafficGenerator;
  readonly #slab = new FrameSlab({ frames: MOST_FRAMES, bytes: 16 << 20 }, 'ethernet');
  #sentMs: number;
  #timer: NodeJS.Timeout | undefined;
  #end: () => void = () => {};
  readonly finished: Promise<void> = new Promise((resolve) => {
    this.#end = resolve;
  });

  constructor(ratePps: number) {
    this.#sentMs = Date.now();
    const startNs = BigInt(this.#sentMs) * 1_000_000n;
    this.#generator = new TrafficGenerator({ topology: 'leaf-spine:4x2', flows: 64, ratePps, seed: 1, startNs });
  }

  async start(push: Push): Promise<void> {
    this.#timer = setInterval(() => this.#send(push), SEND_MS);
  }

  lowTimeMs(): number {
    return this.#sentMs - 2 * SEND_MS;
  }

  /** A link carries nothing from now on, in this direction. @returns the time of the last report that it may have carried */
  fail(from: number, to: number): number {
    this.#failed.add(`${from}-${to}`);
    return this.#sentMs;
  }

  /** All links are whole again. */
  repair(): void {
    this.#failed.clear();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#end();
  }

  #send(push: Push): void {
    this.#slab.clear();
    for (let frames = 0; frames < MOST_FRAMES && this.#sentMs < Date.now(); frames++) {
      const { records, timeNs } = this.#generator.next();
      this.#sentMs = Number(timeNs) / 1e6;
      if (!records.some((record) => this.#isLost(record))) this.#slab.append(encodeFrame(records), this.#sentMs);
    }
    push(this.#slab);
  }

  #isLost({ path }: TelemetryRecord): boolean {
    return path.some((id, index) => this.#failed.has(`${id}-${path[index + 1]}`));
  }
}

const RULES = `version: 1
default: drop
rules:
  - name: deep-queue
    priority: 20
    match: { protocol: tcp }
    detect: { threshold: { metric: queueOccupancy, threshold: 8KiB, scope: hop } }
  - name: latency-step
    priority: 10
    match: any
    detect: { perHop: { metric: hopLatency, threshold: 20us } }
`;

export interface LiveNetwork {
  readonly dashboard: Dashboard;
  readonly collector: Collector;
  readonly source: LiveSource;
}

/** A collector of that fabric with its dashboard. By default one of the switches has a name that is markup. The rules can be replaced. */
export async function openLiveNetwork(
  options: DashboardOptions,
  ratePps = 800,
  names: readonly string[] = ['leaf-1', 'leaf-2', 'leaf-3', '<img src=x>', 'spine-1', 'spine-2'],
): Promise<LiveNetwork> {
  const source = new LiveSource(ratePps);
  const topology = new Topology({ switches: Object.fromEntries(names.map((name, index) => [index + 1, { name }])) });
  const device = new DeviceProfile({
    units: { hopLatency: 'ns', timestamps: 'ns', queueOccupancy: { cell: '80B' }, egressUtilization: '0.01%' },
  });
  const context = { profile: device, topology };
  const stage = new DetectionStage(readRules(RULES, context));
  const rules = new RunningRules(
    { file: null, counters: () => stage.totals().byRule, apply: (yaml) => stage.setRules(readRules(yaml, context)) },
    RULES,
  );
  const dashboard = await Dashboard.open({
    port: 0,
    answers: rules.answers,
    thread: await threadCode(),
    retention: { seconds: 120, memoryBytes: 64 << 20, flows: 1024 },
    network: { device, topology },
    ...options,
  });
  const collector = new Collector({
    sources: [source],
    stages: [stage],
    sinks: [dashboard],
  });
  dashboard.setPipeline(() => ({ totals: collector.totals(), degraded: collector.degraded() }));
  await collector.start();
  return { dashboard, collector, source };
}
