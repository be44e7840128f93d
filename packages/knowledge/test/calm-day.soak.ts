import { type Incident, KnowledgePlane } from '@int/knowledge';
import { labelledTraffic } from '@int/netsim';
import { Random } from '@int/random';
import { expect, it } from 'vitest';
import { LENGTH } from '../../../.ci/test/length.js';

/** A day in the long form. */
const HOURS = LENGTH > 1 ? 24 : 1;
const METRICS = 1000;

it(`raises at most one false alarm in ${HOURS} h of ${METRICS} metrics with noise and the course of a day`, {
  timeout: 900_000,
}, () => {
  const random = new Random('calm day');
  const noise = Float64Array.from({ length: 1 << 16 }, () => {
    const radius = Math.sqrt(-2 * Math.log(1 - random.uniform()));
    return Math.exp(0.1 * radius * Math.cos(2 * Math.PI * random.uniform()));
  });
  const alarms: string[] = [];
  const plane = new KnowledgePlane({}, { incident: ({ id, state }) => state === 'open' && alarms.push(id) });
  const levels = Float64Array.from({ length: METRICS }, () => 1000 * Math.exp(2 * random.uniform()));
  for (let second = 0; second < 3600 * HOURS; second++) {
    const day = 1 + 0.6 * Math.sin((second / 86_400) * 2 * Math.PI);
    for (let k = 0; k < METRICS; k++) {
      const value = Math.round(levels[k]! * day * noise[random.integer(1 << 16)]!);
      plane.metric({ timeMs: 1000 * second, metric: 'queueOccupancy', switchId: k >> 3, part: k & 7, value });
    }
  }
  plane.finish();
  expect(alarms.length, alarms.join('\n')).toBeLessThanOrEqual(1);
});

it(`raises nothing in ${HOURS} h of an office`, { timeout: 900_000 }, () => {
  const alarms: Incident[] = [];
  const plane = new KnowledgePlane({}, { incident: (incident) => alarms.push(incident) });
  const traffic = labelledTraffic({
    kind: 'calm',
    seed: 21,
    seconds: 3600 * HOURS,
    connectionsPerSecond: 4,
    isSeasonal: true,
  });
  for (const packet of traffic.packets) plane.packet(packet);
  plane.finish();
  expect(alarms.map(({ id }) => id)).toEqual([]);
});
