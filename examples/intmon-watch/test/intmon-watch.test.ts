import { expect, test } from 'vitest';
import { transcriptOf } from '../../../.ci/test/readmes.js';
import { linesOf, watched } from '../src/intmon-watch.js';

/** Microseconds a link takes. */
const DELAY = 50;
/** Ethernet, IPv4, UDP and payload; the IntMon header; what a switch pushes: eight fields of four bytes. */
const [PLAIN, HEADER, HOP] = [142, 12, 32] as const;
/** Hundredths of a percent: bytes of the last window of 1 ms, as the switch counts them in 1/65536. */
const utilization = (bytes: number): number => Math.floor((bytes * 5243) / 65_536);

test('each field is what times and lengths of the packets say', () => {
  const result = watched();
  // Two at once, and one 1.5 ms later, when one window of a millisecond is full.
  const packets = [
    { atUs: 10_000, waitsUs: 0, behind: 1, before: 0 },
    { atUs: 10_000, waitsUs: PLAIN + HEADER + 2 * HOP, behind: 0, before: 0 },
    { atUs: 11_500, waitsUs: 0, behind: 0, before: 2 },
  ];
  const expected = packets.map(({ atUs, waitsUs, behind, before }) => {
    const at = { l1IngressInterface: 1, l1EgressInterface: 2, queueCongestion: 0 };
    const [first, second] = [atUs + DELAY, atUs + 2 * DELAY];
    const third = second + waitsUs + DELAY;
    return [
      {
        ...{ ...at, nodeId: 1, hopLatency: 0, queueOccupancy: behind, ingressTimestamp: BigInt(first) },
        egressUtilization: utilization(before * PLAIN),
      },
      {
        ...{ ...at, nodeId: 2, hopLatency: waitsUs, queueOccupancy: behind, ingressTimestamp: BigInt(second) },
        egressUtilization: utilization(before * (PLAIN + HEADER + HOP)),
      },
      {
        ...{ ...at, nodeId: 3, hopLatency: 0, queueOccupancy: 0, ingressTimestamp: BigInt(third) },
        egressUtilization: null,
      },
    ];
  });
  const neighbour = [1, 2, 3].map((nodeId) => ({ nodeId, hopLatency: 0 }));
  expect(result.records.map(({ hops }) => hops)).toEqual([...expected, neighbour]);
  expect(result.records.map(({ flow }) => flow?.sourcePort)).toEqual([5000, 5000, 5000, 5001]);
  expect(result.delivered).toEqual([100, 100, 100, 100, 100]);
  expect(linesOf(result)).toEqual(
    transcriptOf('examples/intmon-watch/README.md', 'npm -s start -w @int/example-intmon-watch'),
  );
});
