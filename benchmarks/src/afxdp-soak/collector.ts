/**
 * The collector under test: an AF_XDP source, live statistics and detection, as `int collect --afxdp` has them. A line on
 * standard input asks what it has counted and how much memory it takes.
 */
import { XdpSource } from '@int/afxdp/source';
import { Collector, DetectionStage, LiveStatistics } from '@int/collector';
import { compileRules } from '@int/detect';
import { answerOnInput, ready } from '../afxdp/answers.js';
import { INT_PORT, LATENCY, REPORT_PORT } from '../afxdp/template.js';

/** What the collector says when it is asked. */
export interface Sample {
  /** Frames that the sockets have handed out. */
  readonly received: number;
  /** Frames that the pipeline has counted, and those of them that were decoded. */
  readonly counted: number;
  readonly decoded: number;
  /** Frames that the kernel had no room for: no free memory for them; no room in the ring of received ones. */
  readonly rxDropped: number;
  readonly rxRingFull: number;
  /** Frames that the program found no socket for. */
  readonly noSocket: number;
  readonly events: number;
  readonly switches: number;
  /** Frames are decoded in WebAssembly. */
  readonly usesAccelerator: boolean;
  /** Bytes. The heap is measured after a collection. */
  readonly rss: number;
  readonly heap: number;
  readonly external: number;
}

const RULES = compileRules({
  version: 1,
  default: 'report',
  rules: [
    {
      name: 'latency',
      priority: 1,
      match: 'any',
      detect: { perHop: { metric: 'hopLatency', threshold: LATENCY.threshold } },
    },
  ],
});

/** Collects from an interface until standard input ends. */
export async function collect(name: string, mode: 'driver' | 'generic'): Promise<void> {
  const decode = { reportPorts: [REPORT_PORT], intPorts: [INT_PORT], intDscp: null };
  const source = new XdpSource({ interface: name, mode, ports: [REPORT_PORT], decode });
  const statistics = new LiveStatistics();
  let events = 0;
  const detection = new DetectionStage(RULES, {
    onEvents: (found) => {
      events += found.count;
    },
  });
  const collector = new Collector({
    sources: [source],
    decode: source.decode,
    stages: [statistics, detection],
    onProblem: ({ error }) => {
      throw error;
    },
  });
  await collector.start();
  answerOnInput((): Sample => {
    statistics.advance(Date.now());
    const switches = statistics.snapshot().switches.length;
    const { received, rxDropped, rxRingFull, noSocket } = source.statistics();
    const { received: counted, decoded } = collector.totals();
    globalThis.gc?.();
    const { rss, heapUsed, external } = process.memoryUsage();
    return {
      received,
      counted,
      decoded,
      rxDropped,
      rxRingFull,
      noSocket,
      events,
      switches,
      usesAccelerator: source.usesAccelerator,
      rss,
      heap: heapUsed,
      external,
    };
  });
  ready();
}
