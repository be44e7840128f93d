/**
 * The collector under attack: what `int collect --metrics` runs. A line on standard input asks for a sample; `begin` starts new
 * figures of pauses and memory after it, `stop` has the collector and its page end before.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { Collector, healthOf, LiveStatistics, ReportLossStage, SwitchTotals, UdpSource } from '@int/collector';
import { MetricsServer, PipelineMetrics } from '@int/metrics';

/** What the collector says when it is asked. */
export interface Sample {
  readonly received: number;
  readonly decoded: number;
  readonly dropped: number;
  /** Of the event loop since `begin`, in milliseconds. */
  readonly pause: { readonly most: number; readonly p99: number };
  /** Of the process so far. */
  readonly processorMs: number;
  /** The most bytes since `begin`. */
  readonly mostRss: number;
  readonly page: {
    readonly pages: number;
    readonly bytes: number;
    readonly requests: number;
    readonly refused: number;
  };
}

/** How often the loop is looked at: pauses are what is on top of that. */
const RESOLUTION_MS = 1;
const WATCH_MS = 50;

const sum = (counts: object): number =>
  Object.values(counts).reduce((total: number, count: number) => total + count, 0);

export async function collect(): Promise<void> {
  const source = new UdpSource({ address: 'udp://127.0.0.1:0' });
  const statistics = new LiveStatistics();
  const switches = new SwitchTotals();
  const loss = new ReportLossStage();
  const collector = new Collector({ sources: [source], stages: [statistics, switches, loss] });
  await collector.start();
  const server = await MetricsServer.listen({
    port: 0,
    metrics: new PipelineMetrics({ collector, switches, loss }),
    health: () => ({ ...healthOf(collector.degraded()), detail: collector.totals() }),
    // Beside the bundle of this program.
    thread: new URL('./metrics-page-thread.js', import.meta.url),
  });
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  let mostRss = 0;
  const watching = setInterval(() => {
    mostRss = Math.max(mostRss, process.memoryUsage.rss());
  }, WATCH_MS);
  // As the command does for its view.
  const ticking = setInterval(() => {
    statistics.advance(Date.now());
    JSON.stringify([statistics.snapshot(), collector.degraded()]);
  }, 1000);
  process.stdout.write(`${JSON.stringify({ port: source.address.port, page: server.address.port })}\n`);
  for await (const line of createInterface({ input: process.stdin })) {
    if (line === 'stop') break;
    await source.pollKernelDrops();
    process.stdout.write(`${JSON.stringify(sample())}\n`);
    if (line !== 'begin') continue;
    delay.reset();
    mostRss = 0;
  }
  await Promise.all([collector.stop(5000), server.close()]);
  clearInterval(watching);
  clearInterval(ticking);
  process.stdout.write(`${JSON.stringify(sample())}\n`);

  function sample(): Sample {
    const { received, decoded, dropped } = collector.totals();
    const { user, system } = process.cpuUsage();
    const { pages, pageBytes, requests, refused } = server.totals();
    return {
      received,
      decoded,
      dropped: sum(dropped),
      pause: { most: delay.max / 1e6 - RESOLUTION_MS, p99: delay.percentile(99) / 1e6 - RESOLUTION_MS },
      processorMs: (user + system) / 1000,
      mostRss: Math.max(mostRss, process.memoryUsage.rss()),
      page: { pages, bytes: pageBytes, requests, refused: sum(refused) },
    };
  }
}
