import type { DetectorConfig, Match, Rule, RuleSet } from '@int/detect';

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
