import type { FlowState } from './flow-state.js';
import type { Ground, Hop } from './walk.js';

/** Packets through one switch that tell what its meters let pass. */
const PACKETS = 4000;

interface Metered {
  readonly state: FlowState;
  readonly hop: Hop;
  /** The entries with meters that it hits: flows that hit the same share a bucket. */
  readonly entries: string;
}

/**
 * Finds which share of flows the meters of switches let pass. Packets of all metered flows go through the switch in the order of
 * their times, at the rates of the minute, until the buckets have run dry; then they are counted.
 */
export function measureMeters(
  ground: Ground,
  flows: readonly FlowState[],
  changed: ReadonlySet<number>,
  seconds: number,
): void {
  for (const [id, machine] of ground.switches) {
    if (!machine.hasMeters()) continue;
    const passing = flows.flatMap((state): Metered[] => {
      const hop = state.now.hops.find(({ switchId }) => switchId === id);
      if (hop === undefined || state.flow.packets === 0) return [];
      const entries = machine.hits(hop.port, hop.frame).filter(({ isMetered }) => isMetered);
      return entries.length === 0 ? [] : [{ state, hop, entries: entries.map(({ key }) => key).join() }];
    });
    // A flow that was walked again has lost its share, and others share its bucket.
    if (passing.length > 0 && (changed.has(id) || passing.some(({ state }) => !state.metered.has(id)))) {
      measure(id, passing, ground, seconds);
    }
  }
}

function measure(id: number, flows: readonly Metered[], { switches }: Ground, seconds: number): void {
  const machine = switches.get(id)!;
  const packets = flows.reduce((sum, { state }) => sum + state.flow.packets, 0);
  const lengthUs = Math.min(seconds, (PACKETS * seconds) / packets) * 1e6;
  const times = flows.flatMap(({ state, hop }, flow) => {
    const count = Math.round((state.flow.packets * lengthUs) / (seconds * 1e6));
    // Spread evenly, each flow with a phase of its own.
    const phase = (flow * 0.618_033_988_75) % 1;
    return Array.from({ length: count }, (_, i) => ({ us: Math.floor(((i + phase) * lengthUs) / count), flow, hop }));
  });
  times.sort((a, b) => a.us - b.us);
  const counts = flows.map(() => ({ sent: 0, passed: 0 }));
  machine.rest();
  let nowUs = 0;
  for (const { us, flow, hop } of times) {
    const passes = machine.process(hop.port, hop.frame, us - nowUs).some(({ isReport }) => !isReport);
    nowUs = us;
    if (us < lengthUs / 2) continue;
    counts[flow]!.sent++;
    if (passes) counts[flow]!.passed++;
  }
  // Flows of few packets have the share of all with the same meters.
  const pooled = new Map<string, { sent: number; passed: number }>();
  for (const [at, { entries }] of flows.entries()) {
    const pool = pooled.get(entries) ?? { sent: 0, passed: 0 };
    pool.sent += counts[at]!.sent;
    pool.passed += counts[at]!.passed;
    pooled.set(entries, pool);
  }
  for (const { state, entries } of flows) {
    const { sent, passed } = pooled.get(entries)!;
    state.metered.set(id, sent === 0 ? 1 : passed / sent);
  }
}
