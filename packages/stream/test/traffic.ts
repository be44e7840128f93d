import fc from 'fast-check';
import { START_US, type TestReport } from './reports.js';

const PATHS = [
  [1, 2, 3],
  [1, 4, 3],
  [3, 2, 1],
  [5, 2, 6],
  [1, 2],
  [4],
  [1, 2, 4, 3],
  [1, 2, 1, 4],
  [6, 5, 2, 5],
] as const;

/** A time in which a network does one thing. */
interface Phase {
  readonly paths: readonly number[];
  /** Flows that do not come to their sinks. */
  readonly vanishing: readonly boolean[];
  readonly level: number;
  readonly steps: number;
  readonly stepMs: number;
  /** Sequence numbers that are passed over in each step. */
  readonly lost: readonly number[];
  readonly noise: readonly Noise[];
}

interface Noise {
  readonly step: number;
  readonly kind: 'drop' | 'cut' | 'intermediate' | 'nobody' | 'merged' | 'flagged' | 'bare' | 'none';
  readonly path: number;
  readonly flow: number;
}

const FLOWS = 5;

const noise: fc.Arbitrary<Noise> = fc.record({
  step: fc.nat(20),
  kind: fc.constantFrom('drop', 'cut', 'intermediate', 'nobody', 'merged', 'flagged', 'bare', 'none'),
  path: fc.nat(PATHS.length - 1),
  flow: fc.nat(FLOWS),
});

const phase: fc.Arbitrary<Phase> = fc.record({
  // Mostly ways without a loop.
  paths: fc.array(fc.oneof({ weight: 9, arbitrary: fc.nat(6) }, { weight: 1, arbitrary: fc.nat(8) }), {
    minLength: FLOWS,
    maxLength: FLOWS,
  }),
  vanishing: fc.array(fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, fc.boolean()), {
    minLength: FLOWS,
    maxLength: FLOWS,
  }),
  level: fc.constantFrom(0, 100, 600, 499, 2000),
  steps: fc.integer({ min: 1, max: 40 }),
  stepMs: fc.constantFrom(20, 50, 90, 110, 400),
  lost: fc.array(fc.oneof({ weight: 8, arbitrary: fc.constant(0) }, fc.nat(3)), { minLength: 5, maxLength: 5 }),
  noise: fc.array(noise, { maxLength: 4 }),
});

function noiseReport(timeUs: number, { kind, path: number, flow }: Noise, sequence: number): TestReport {
  const path = PATHS[number]!;
  const hops = path.map((nodeId) => ({ nodeId, latency: 7, queueId: 2, occupancy: 3 }));
  const last = path[path.length - 1]!;
  const common = { timeUs, flow, mode: 'md', hops, nodeId: last, own: true, sequence, hwId: 5 } as const;
  if (kind === 'drop') return { ...common, dropped: true };
  if (kind === 'cut') return { ...common, cut: true, own: false, nodeId: 6 };
  if (kind === 'intermediate') return { ...common, intermediate: true };
  if (kind === 'nobody') return { ...common, flow: null };
  if (kind === 'merged') return { ...common, hops: [...hops, { nodeId: last, occupancy: 9, congestion: 1 }] };
  if (kind === 'flagged') return { ...common, queueCongested: true };
  if (kind === 'bare') return { ...common, own: false, nodeId: 6, hops: path.map((nodeId) => ({ nodeId })) };
  return { ...common, code: 2 };
}

/** Reports of flows that go on, in the order of their times; each node numbers its own. */
function reportsOf(phases: readonly Phase[]): TestReport[] {
  const reports: TestReport[] = [];
  const sequences = new Map<number, number>();
  const next = (nodeId: number, skip: number): number => {
    const sequence = (sequences.get(nodeId) ?? 100) + skip;
    sequences.set(nodeId, sequence + 1);
    return sequence;
  };
  let timeUs = START_US + 130_000;
  let noises = 1000;
  for (const { paths, vanishing, level, steps, stepMs, lost, noise: extra } of phases) {
    for (let step = 0; step < steps; step++) {
      paths.forEach((choice, flow) => {
        const path = PATHS[choice]!;
        const at = timeUs + flow * 1000;
        const hop = (nodeId: number) => ({
          nodeId,
          latency: nodeId * 10 + step,
          queueId: nodeId % 2,
          occupancy: level + flow,
        });
        const first = path[0]!;
        const last = path[path.length - 1]!;
        if (step % 2 === 0) {
          const sequence = next(first, 0);
          reports.push({ timeUs: at, flow, mode: 'xd', hops: [hop(first)], nodeId: first, own: true, sequence });
        }
        if (vanishing[flow] === true) return;
        const sequence = next(last, step === 0 ? lost[flow]! : 0);
        reports.push({ timeUs: at + 300, flow, mode: 'md', hops: path.map(hop), nodeId: last, own: true, sequence });
      });
      for (const one of extra) {
        if (one.step === step) reports.push(noiseReport(timeUs + 9000, one, noises++));
      }
      timeUs += stepMs * 1000;
    }
  }
  return reports;
}

/** Reports in the order of their times, over some seconds. */
export const traffic: fc.Arbitrary<TestReport[]> = fc
  .array(phase, { minLength: 2, maxLength: 5 })
  .map(reportsOf)
  .filter((reports) => reports.length > 0);

/** The same, but reports overtake each other, at times by more than the grace. */
export const unorderedTraffic: fc.Arbitrary<TestReport[]> = fc
  .tuple(traffic, fc.infiniteStream(fc.oneof({ weight: 9, arbitrary: fc.nat(40_000) }, fc.nat(600_000))))
  .map(([reports, delays]) => {
    const delayed = reports.map((report) => ({ report, at: report.timeUs + delays.next().value! }));
    return delayed.sort((a, b) => a.at - b.at).map(({ report }) => report);
  });
