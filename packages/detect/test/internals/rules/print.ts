import { printCnf } from '../../../src/expression/print.js';
import { macText, prefixText, protocolName } from '../../../src/rules/address.js';
import type { DetectorConfig, Match, PortRange, Rule, RuleSet, Sample } from '../../../src/rules/model.js';
import type { DetectSpec, HopThresholdSpec, MatchSpec, RuleSpec, RulesSpec } from '../../../src/rules/spec.js';

/**
 * A rule set as people write it: constants in device units, without `units`. Compiled again it is the same.
 */
export function ruleSetToSpec(ruleSet: RuleSet): RulesSpec {
  return {
    version: 1,
    default: ruleSet.default,
    ...(ruleSet.adapt === null ? {} : { adapt: { target: ruleSet.adapt.target } }),
    rules: ruleSet.rules.map(ruleToSpec),
  };
}

/** A rule as people write it, constants in device units. */
export function ruleToSpec({ name, priority, match, detector, sample, adapt }: Rule): RuleSpec {
  return {
    name,
    priority,
    match: matchToSpec(match),
    detect: detectorToSpec(detector),
    ...(sample === null ? {} : { sample: sampleToSpec(sample) }),
    ...(adapt === null ? {} : { adapt: { target: adapt.target, min: adapt.minimum, max: adapt.maximum } }),
  };
}

function portsText({ from, to }: PortRange): string | number {
  return from === to ? from : `${from}-${to}`;
}

function matchToSpec(match: Match): 'any' | MatchSpec {
  if (Object.values(match).every((value) => value === null)) return 'any';
  const { protocol, source, destination, sourcePort, destinationPort, sourceMac, destinationMac } = match;
  return {
    ...(protocol === null ? {} : { protocol: protocolName(protocol) }),
    ...(source === null ? {} : { source: prefixText(source) }),
    ...(destination === null ? {} : { destination: prefixText(destination) }),
    ...(sourcePort === null ? {} : { sourcePort: portsText(sourcePort) }),
    ...(destinationPort === null ? {} : { destinationPort: portsText(destinationPort) }),
    ...(sourceMac === null ? {} : { sourceMac: macText(sourceMac) }),
    ...(destinationMac === null ? {} : { destinationMac: macText(destinationMac) }),
  };
}

function sampleToSpec(sample: Sample): NonNullable<RuleSpec['sample']> {
  return 'oneIn' in sample ? { oneIn: sample.oneIn } : { every: `${sample.everyNs}ns` };
}

function thresholdToSpec(threshold: number, switches: ReadonlyMap<number, number> | undefined): HopThresholdSpec {
  return switches === undefined ? threshold : { default: threshold, switches: Object.fromEntries(switches) };
}

function detectorToSpec(detector: DetectorConfig): DetectSpec {
  switch (detector.kind) {
    case 'noop':
      return { noop: {} };
    case 'pathChange':
      return { pathChange: {} };
    case 'complex':
      return { complex: printCnf(detector.expression) };
    case 'perHop': {
      const { metric, threshold, switchThresholds } = detector;
      return { perHop: { metric, threshold: thresholdToSpec(threshold, switchThresholds) } };
    }
    case 'perFlow':
      return { perFlow: { metric: detector.metric, threshold: detector.threshold } };
    case 'movingAverage': {
      const { metric, threshold } = detector;
      const smoothing = 'weight' in detector ? { weight: detector.weight } : { alpha: detector.alpha };
      return { movingAverage: { metric, threshold, ...smoothing } };
    }
    case 'threshold':
    case 'change': {
      const { kind, metric, threshold, scope, switchThresholds } = detector;
      const spec =
        scope === 'hop'
          ? { metric, threshold: thresholdToSpec(threshold, switchThresholds), scope }
          : { metric, threshold, scope };
      return kind === 'threshold' ? { threshold: spec } : { change: spec };
    }
    default:
      throw new Error(`${detector.kind} is not printed here`);
  }
}
