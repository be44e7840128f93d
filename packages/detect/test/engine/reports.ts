import { type Hop, type TelemetryRecord, telemetry } from '@int/codec';
import type { DetectorConfig, Match, Rule, RuleSet, Sample } from '@int/detect';

export const ANY: Match = {
  protocol: null,
  source: null,
  destination: null,
  sourcePort: null,
  destinationPort: null,
  sourceMac: null,
  destinationMac: null,
};

export function rule(name: string, detector: DetectorConfig, more: Partial<Rule> = {}): Rule {
  return { name, priority: 0, match: ANY, detector, sample: null, adapt: null, ...more };
}

export function ruleSet(rules: readonly Rule[], otherwise: RuleSet['default'] = 'drop'): RuleSet {
  return { rules, default: otherwise, adapt: null };
}

export function single(detector: DetectorConfig, sample: Sample | null = null): RuleSet {
  return ruleSet([rule(detector.kind, detector, { sample })]);
}

/** An IPv4 address of 10.0.0.0/8. */
export function address(n: number): string {
  return `10.${(n >>> 16) & 0xff}.${(n >>> 8) & 0xff}.${n & 0xff}`;
}

/** A record of flow number `flow` with these hops, as an INT packet gives it. */
export function record(hops: readonly Hop[], flow: number | null = 0): TelemetryRecord {
  return telemetry({
    flow:
      flow === null
        ? null
        : { source: address(flow), destination: '10.255.0.1', sourcePort: 5000, destinationPort: 80 },
    hops,
    // Of no hops, too: a packet with an INT header.
    int: { mode: 'md' },
    report: null,
  });
}

/** Hops of switches 1, 2, ... with these latencies. */
export function latencies(...values: (number | null | undefined)[]): Hop[] {
  return values.map((hopLatency, k) => (hopLatency === undefined ? { nodeId: k + 1 } : { nodeId: k + 1, hopLatency }));
}
