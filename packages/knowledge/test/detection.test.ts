import { type Incident, KnowledgePlane } from '@int/knowledge';
import { type AttackKind, type LabelledTrafficOptions, labelledTraffic, type Truth } from '@int/netsim';
import { describe, expect, it } from 'vitest';
import { LENGTH } from '../../../.ci/test/length.js';

/** Ten in the long form. */
const SEEDS = LENGTH > 1 ? 10 : 2;

interface Alarm extends Incident {
  /** When it was raised, in the time of the packets. */
  readonly raisedMs: number;
}

/** Runs a scenario through the plane. */
function run(options: LabelledTrafficOptions): { alarms: Alarm[]; closed: Incident[]; truth: readonly Truth[] } {
  const alarms: Alarm[] = [];
  const closed: Incident[] = [];
  let nowMs = 0;
  const plane = new KnowledgePlane(
    { learnMs: 30_000, learnEdgesMs: 60_000 },
    {
      incident: (incident) => {
        if (incident.state === 'open') alarms.push({ ...incident, raisedMs: nowMs });
        else closed.push(incident);
      },
    },
  );
  const { truth, packets } = labelledTraffic(options);
  for (const packet of packets) {
    nowMs = packet.timeMs;
    plane.packet(packet);
  }
  plane.finish();
  return { alarms, closed, truth };
}

const LENGTHS: Partial<Record<AttackKind, Partial<LabelledTrafficOptions>>> = {
  'scan-slow': { seconds: 3600, connectionsPerSecond: 2, attackSeconds: 1800 },
  beacon: { seconds: 2400, connectionsPerSecond: 2, attackSeconds: 1500 },
  'three-phases': { seconds: 3600, connectionsPerSecond: 4, attackSeconds: 1200 },
};

const name = ({ kind, entity }: Incident): string => `${kind} of ${entity}`;

describe.each([
  'syn-flood',
  'reflection',
  'pulsing',
  'scan-vertical',
  'scan-horizontal',
  'scan-slow',
  'scan-distributed',
  'beacon',
  'three-phases',
] as const)('%s', (kind) => {
  it.each(Array.from({ length: SEEDS }, (_, k) => k + 1))(
    'is found with its host, and nothing else is (seed %i)',
    (seed) => {
      const { alarms, closed, truth } = run({ kind, seed, ...LENGTHS[kind] });
      expect(alarms.map(name).sort()).toEqual(truth.map(({ kind: what, host }) => `${what} of host:${host}`).sort());
      for (const { kind: what, host, fromMs, toMs } of truth) {
        const alarm = alarms.find((each) => each.kind === what && each.entity === `host:${host}`)!;
        expect(alarm.raisedMs).toBeGreaterThanOrEqual(fromMs);
        expect(alarm.raisedMs).toBeLessThanOrEqual(toMs + 10_000);
      }
      // Each one that opened has closed, with the same id.
      expect(closed.map(({ id }) => id).sort()).toEqual(alarms.map(({ id }) => id).sort());
    },
  );
});

it.each(['syn-flood', 'reflection', 'pulsing', 'scan-vertical', 'scan-horizontal'] as const)(
  '%s is found within three seconds of its first packet',
  (kind) => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      // Not at the beginning of a second, where the windows of the detectors begin.
      const { alarms, truth } = run({ kind, seed, seconds: 120, attackFrom: 60 + 0.09 * seed, attackSeconds: 20 });
      expect(alarms[0]!.raisedMs - truth[0]!.fromMs).toBeLessThanOrEqual(3000);
    }
  },
);

it.each(['flash-crowd', 'backup', 'calm'] as const)('%s raises nothing', (kind) => {
  for (let seed = 1; seed <= SEEDS; seed++) expect(run({ kind, seed }).alarms.map(name)).toEqual([]);
});

it('finds a beacon as long as its jitter is small enough, and says so by its score', () => {
  const found = [0, 0.1, 0.2, 0.3].map((jitter) =>
    run({ kind: 'beacon', seed: 5, jitter, ...LENGTHS.beacon }).alarms.map(name),
  );
  for (const alarms of found) expect(alarms).toEqual(['beacon of host:10.0.1.15']);
});

it('closes a flood when it ends, and opens it anew when it comes back', () => {
  const first = [
    ...labelledTraffic({ kind: 'syn-flood', seed: 3, seconds: 200, attackFrom: 60, attackSeconds: 20 }).packets,
  ];
  const again = labelledTraffic({
    kind: 'syn-flood',
    seed: 4,
    seconds: 200,
    attackFrom: 60,
    attackSeconds: 20,
    startMs: 1_700_000_200_000,
  });
  const told: string[] = [];
  const plane = new KnowledgePlane(
    { learnMs: 30_000 },
    { incident: ({ kind, state }) => told.push(`${kind} ${state}`) },
  );
  for (const packet of [...first, ...again.packets].sort((a, b) => a.timeMs - b.timeMs)) plane.packet(packet);
  expect(told).toEqual(['syn-flood open', 'syn-flood close', 'syn-flood open', 'syn-flood close']);
});

it('says with the host what phases were seen, what else would explain them, and weighs it by the level', () => {
  const plane = new KnowledgePlane({ learnMs: 30_000, learnEdgesMs: 60_000 }, { incident: () => {} }, (host) =>
    host === '10.1.0.14' ? 3 : 1,
  );
  for (const packet of labelledTraffic({ kind: 'three-phases', seed: 2, ...LENGTHS['three-phases'] }).packets)
    plane.packet(packet);
  plane.finish();
  const hosts = plane.hosts();
  expect(hosts.map(({ host, phases, level }) => [host, level, ...phases.map(({ phase }) => phase)])).toEqual([
    ['10.1.0.14', 3, 'exfiltration'],
    ['10.0.1.17', 1, 'reconnaissance'],
    ['10.1.0.13', 1, 'lateral-movement'],
  ]);
  for (const { phases } of hosts) for (const { otherwise } of phases) expect(otherwise.length).toBeGreaterThan(0);
});
