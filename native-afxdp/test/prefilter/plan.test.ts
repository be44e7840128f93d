import { planPrefilter, rulesBehind } from '@int/afxdp/prefilter';
import { readRules } from '@int/detect/yaml';
import { describe, expect, test } from 'vitest';
import { ANY, rule, ruleSet } from './rules.js';

const perFlow = { kind: 'perFlow', metric: 'hopLatency', threshold: 10 } as const;
const perHop = { kind: 'perHop', metric: 'hopLatency', threshold: 10 } as const;
const average = { kind: 'movingAverage', metric: 'hopLatency', threshold: 10, weight: 3 } as const;

/** Names of the rules that are left to user space, and why. */
function left(rules: Parameters<typeof planPrefilter>[0]): Record<string, string | null> {
  return Object.fromEntries(
    planPrefilter(rules)
      .rules.filter(({ inKernel }) => !inKernel)
      .map(({ rule: { name }, reason }) => [name, reason]),
  );
}

describe('what the kernel takes over', () => {
  test('noop, perHop, perFlow, integer averages and thresholds of both scopes', () => {
    const rules = ruleSet([
      rule('noop', { kind: 'noop' }, { priority: 1 }),
      rule('hop', perHop, { priority: 2 }),
      rule('flow', perFlow, { priority: 3 }),
      rule('average', average, { priority: 4 }),
      rule('level', { kind: 'threshold', metric: 'queueOccupancy', threshold: 5, scope: 'hop' }, { priority: 5 }),
      rule('sum', { kind: 'threshold', metric: 'bufferId', threshold: 5, scope: 'endToEnd' }, { priority: 6 }),
    ]);
    expect(left(rules)).toEqual({});
    expect(planPrefilter(rules).rules.map(({ rule: { name } }) => name)).toEqual([
      'sum',
      'level',
      'average',
      'flow',
      'hop',
      'noop',
    ]);
  });

  test('thresholds are the numbers of the device that the rules file converts to', () => {
    const rules = readRules(`
version: 1
units: { hopLatency: ns, queueOccupancy: { cell: 80B } }
rules:
  - name: latency
    priority: 2
    match: any
    detect: { perHop: { metric: hopLatency, threshold: 10us } }
  - name: queue
    priority: 1
    match: any
    detect: { threshold: { metric: queueOccupancy, threshold: 800B } }
`);
    const { rules: planned, otherwise, filters } = planPrefilter(rules);
    expect(planned.map(({ rule: { detector } }) => 'threshold' in detector && detector.threshold)).toEqual([
      10_000, 10,
    ]);
    expect([otherwise, filters]).toEqual(['pass', true]);
  });

  test('nothing of what it cannot decide, and says why', () => {
    const rules = ruleSet([
      rule('change', { kind: 'change', metric: 'hopLatency', threshold: 1, scope: 'hop' }, { priority: 1 }),
      rule('path', { kind: 'pathChange' }, { priority: 2 }),
      rule(
        'complex',
        { kind: 'complex', expression: [[{ aggregate: 'count', metric: null, operator: '>', constant: 3 }]] },
        { priority: 3 },
      ),
      rule('float', { kind: 'movingAverage', metric: 'hopLatency', threshold: 1, alpha: 0.5 }, { priority: 4 }),
      rule('old', { kind: 'threshold', metric: 'queueCongestion', threshold: 1, scope: 'hop' }, { priority: 5 }),
      rule('units', { ...perHop, switchThresholds: new Map([[1, 5]]) }, { priority: 6 }),
      rule('sampled', { kind: 'noop' }, { priority: 7, sample: { oneIn: 2 } }),
      rule('timed', { kind: 'noop' }, { priority: 8, sample: { everyNs: 1000 } }),
      rule('adaptive', average, { priority: 9, adapt: { target: 10, minimum: 1, maximum: 100 } }),
      rule('mac', { kind: 'noop' }, { priority: 10, match: { ...ANY, sourceMac: 1 } }),
    ]);
    expect(left(rules)).toEqual({
      change: 'detector',
      path: 'detector',
      complex: 'detector',
      float: 'alpha',
      old: 'metric',
      units: 'switchThresholds',
      sampled: 'sample',
      timed: 'sample',
      adaptive: 'adapt',
      mac: 'mac',
    });
    for (const { message } of planPrefilter(rules).rules) expect(message).toMatch(/^[a-z].*[^.]$/);
  });

  test('no rule whose state one in user space writes as well', () => {
    const rules = ruleSet([
      rule('sampled', perFlow, { priority: 3, sample: { oneIn: 2 } }),
      rule('same state', perFlow, { priority: 2 }),
      rule('other metric', { ...perFlow, metric: 'egressUtilization' }, { priority: 1 }),
      rule('other detector', perHop, { priority: 0 }),
      // The float form has state of its own.
      rule('float', { kind: 'movingAverage', metric: 'hopLatency', threshold: 1, alpha: 0.5 }, { priority: -1 }),
      rule('integer', average, { priority: -2 }),
    ]);
    expect(left(rules)).toEqual({ sampled: 'sample', 'same state': 'sharedState', float: 'alpha' });
  });

  test('no rule with state that gets what a MAC address does not match', () => {
    const udp = { ...ANY, protocol: 17 };
    const rules = ruleSet([
      rule('before', perHop, { priority: 9 }),
      rule('mac', { kind: 'noop' }, { priority: 8, match: { ...udp, destinationMac: 7 } }),
      rule('behind', perFlow, { priority: 7, match: udp }),
      rule('stateless', { kind: 'threshold', metric: 'hopLatency', threshold: 1, scope: 'hop' }, { priority: 6 }),
      rule('elsewhere', average, { priority: 5, match: { ...ANY, protocol: 6 } }),
      rule('with it', perFlow, { priority: 4, match: { ...ANY, protocol: 1 } }),
    ]);
    expect(left(rules)).toEqual({ mac: 'mac', behind: 'behindMac', 'with it': 'sharedState' });
  });

  test('the 16 rules of highest priority; what only the others match is handed on', () => {
    const match = (port: number) => ({ ...ANY, protocol: 17, destinationPort: { from: port, to: port } });
    const rules = ruleSet(
      Array.from({ length: 18 }, (_, n) =>
        rule(`rule ${n}`, n < 9 ? perFlow : perHop, { priority: 100 - n, match: match(n) }),
      ),
    );
    const expected = Object.fromEntries(
      Array.from({ length: 9 }, (_, n) => [`rule ${n + 9}`, n + 9 < 16 ? 'sharedState' : 'room']),
    );
    expect(left(rules)).toEqual(expected);
    expect(planPrefilter(rules).otherwise).toBe('pass');
    expect(planPrefilter(ruleSet(rules.rules.slice(0, 16))).otherwise).toBe('drop');
  });

  test('says when it filters nothing', () => {
    expect(planPrefilter(ruleSet([], 'report')).filters).toBe(false);
    expect(planPrefilter(ruleSet([rule('all', { kind: 'noop' })], 'report')).filters).toBe(false);
    expect(planPrefilter(ruleSet([rule('all', { kind: 'pathChange' })], 'report')).filters).toBe(false);
    expect(planPrefilter(ruleSet([rule('all', perHop)], 'report')).filters).toBe(true);
    expect(planPrefilter(ruleSet([], 'drop')).filters).toBe(true);
  });
});

describe('the rules behind the filter', () => {
  test('are the same, but for averages that the kernel keeps', () => {
    const rules = ruleSet([
      rule('hop', perHop, { priority: 3 }),
      rule('average', average, { priority: 2, match: { ...ANY, protocol: 6 } }),
      rule('float', { kind: 'movingAverage', metric: 'hopLatency', threshold: 1, alpha: 0.5 }, { priority: 1 }),
    ]);
    const { rules: behind, ...rest } = rulesBehind(rules);
    expect(rest).toEqual({ default: 'drop', adapt: null });
    expect(behind).toEqual([rules.rules[0], { ...rules.rules[1], detector: { kind: 'noop' } }, rules.rules[2]]);
  });

  test('keep an average that the kernel leaves to user space', () => {
    const rules = ruleSet([
      rule('sampled', average, { priority: 2, sample: { oneIn: 3 } }),
      rule('average', average, { priority: 1 }),
    ]);
    expect(rulesBehind(rules)).toEqual(rules);
  });
});
