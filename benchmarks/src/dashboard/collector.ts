/**
 * The collector with a dashboard. A line on standard input begins a phase: `with` or `without`; an empty line asks for its figures.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { Collector, DetectionStage, LiveStatistics, type Sink } from '@int/collector';
import { Dashboard } from '@int/dashboard';
import { readRules } from '@int/detect/yaml';
import { REPOSITORY } from '@int/harness';
import { type Load, PacedSource, slabsOf } from './paced-source.js';

const LOOK_MS = 5;

/** What the collector says of a phase. */
export interface Sample {
  readonly tookMs: number;
  readonly reports: number;
  readonly events: number;
  /** Reports left out because the process had no time. */
  readonly overrun: number;
  /** Of all threads. */
  readonly processorMs: number;
  /** Of the event loop of the collector's thread, in milliseconds. */
  readonly pause: { readonly most: number; readonly p99: number };
  /**
   * The most processor time that the collector's thread took between two looks at it, 5 ms apart if nothing comes between, in
   * milliseconds; `null`: the system does not tell. A pause that is longer is the scheduler's.
   */
  readonly busiestMs: number | null;
  /** The longest calls of the dashboard as a sink, in milliseconds. */
  readonly call: { readonly most: number; readonly mean: number };
  readonly rss: number;
  readonly framesSent: number;
  readonly framesSkipped: number;
}

/** Passes everything on, and looks at the clock. */
class Timed implements Sink {
  readonly name = 'dashboard';
  readonly records = ['reports', 'events'] as const;
  readonly #sink: Dashboard;
  most = 0;
  total = 0;
  calls = 0;

  constructor(sink: Dashboard) {
    this.#sink = sink;
  }

  write(batch: Parameters<Sink['write']>[0]): undefined {
    this.#time(() => this.#sink.write(batch));
  }

  writeEvents(events: Parameters<NonNullable<Sink['writeEvents']>>[0]): undefined {
    this.#time(() => this.#sink.writeEvents(events));
  }

  advance(timeMs: number): void {
    this.#time(() => this.#sink.advance(timeMs));
  }

  totals(): Record<string, never> {
    return {};
  }

  #time(call: () => void): void {
    const began = performance.now();
    call();
    const took = performance.now() - began;
    this.total += took;
    this.calls++;
    if (took > this.most) this.most = took;
  }
}

/** Looks at the processor time of this thread, where the system tells (Linux). */
class Busiest {
  #last = processorMs();
  mostMs: number | null = null;

  constructor() {
    setInterval(() => {
      const now = processorMs();
      if (now !== null && this.#last !== null) this.mostMs = Math.max(this.mostMs ?? 0, now - this.#last);
      this.#last = now;
    }, LOOK_MS).unref();
  }

  reset(): void {
    this.#last = processorMs();
    this.mostMs = null;
  }
}

function processorMs(): number | null {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return null;
  }
}

/** About one report in 200 has an event. */
const RULES = `
version: 1
default: drop
rules:
  - name: slow
    priority: 1
    match: any
    detect: { threshold: { metric: hopLatency, threshold: 400000, scope: hop } }
`;

export async function collect(load: Load): Promise<void> {
  const source = new PacedSource(slabsOf(load), load.rate);
  const detection = new DetectionStage(readRules(RULES));
  const dashboard = await Dashboard.open({
    port: 0,
    thread: new URL('./dashboard-thread.js', import.meta.url),
    page: join(REPOSITORY, 'packages', 'dashboard', 'dist', 'page'),
  });
  const timed = new Timed(dashboard);
  const collector = new Collector({ sources: [source], stages: [new LiveStatistics(), detection] });
  await collector.start();
  dashboard.setPipeline(() => ({ totals: collector.totals(), degraded: collector.degraded() }));
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const busiest = new Busiest();
  process.stdout.write(`${JSON.stringify({ url: dashboard.url })}\n`);
  let before = now();
  for await (const line of createInterface({ input: process.stdin })) {
    if (line === '') {
      process.stdout.write(`${JSON.stringify(sample())}\n`);
      continue;
    }
    if (line === 'stop') break;
    await collector.reconfigure({ sinks: line === 'with' ? [timed] : [] });
    delay.reset();
    busiest.reset();
    Object.assign(timed, { most: 0, total: 0, calls: 0 });
    before = now();
    process.stdout.write(`${JSON.stringify(sample())}\n`);
  }
  await collector.stop();
  await dashboard.close();
  process.exit(0);

  function now() {
    const { user, system } = process.cpuUsage();
    const { framesSent, framesSkipped } = dashboard.viewing();
    const { reports, stages } = collector.totals();
    return {
      atMs: performance.now(),
      processorMs: (user + system) / 1000,
      reports,
      events: stages.detection!.events ?? 0,
      overrun: source.overrun,
      framesSent,
      framesSkipped,
    };
  }

  function sample(): Sample {
    const after = now();
    return {
      tookMs: after.atMs - before.atMs,
      reports: after.reports - before.reports,
      events: after.events - before.events,
      overrun: Math.round(after.overrun - before.overrun),
      processorMs: after.processorMs - before.processorMs,
      pause: { most: delay.max / 1e6, p99: delay.percentile(99) / 1e6 },
      busiestMs: busiest.mostMs,
      call: { most: timed.most, mean: timed.calls === 0 ? 0 : timed.total / timed.calls },
      rss: process.memoryUsage.rss(),
      framesSent: after.framesSent - before.framesSent,
      framesSkipped: after.framesSkipped - before.framesSkipped,
    };
  }
}
