import type { DegradedPart } from '@int/collector';
import { expect, test } from 'vitest';
import { HealthWatch } from '../../src/output/health-watch.js';

test('HealthWatch tells when a state begins and when it is over, once each, but for outages, which sinks tell', () => {
  const part = (where: string, name: string): DegradedPart => ({
    where,
    name,
    since: Date.now() - 12_000,
    text: `of ${where}`,
  });
  let degraded: readonly DegradedPart[] = [];
  const told: string[] = [];
  const watch = new HealthWatch(
    () => degraded,
    (message) => told.push(message),
  );
  watch.look();
  degraded = [part('udp', 'shedding'), part('kafka', 'outage'), part('kafka', 'spooling')];
  expect(watch.look()).toBe(degraded);
  watch.look();
  degraded = [part('kafka', 'spooling')];
  watch.look();
  degraded = [];
  watch.look();
  expect(told).toEqual([
    'degraded: udp: shedding: of udp',
    'degraded: kafka: spooling: of kafka',
    'no longer degraded: udp: shedding, after 12 s',
    'no longer degraded: kafka: spooling, after 12 s',
  ]);
});
