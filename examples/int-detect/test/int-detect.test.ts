import { expect, test } from 'vitest';
import { transcriptOf } from '../../../.ci/test/readmes.js';
import { findings, linesOf } from '../src/int-detect.js';

/** At the queue: Ethernet, IPv4, UDP and 500 bytes, shim and INT-MD header, four words of each of two switches. */
const BYTES = 14 + 20 + 8 + 500 + 16 + 2 * 16;

/** What the rules mean, for bursts that come at once and leave by a port that takes a microsecond a byte. */
function expected(): { timeNs: number; rule: string }[] {
  const found: { timeNs: number; rule: string }[] = [];
  const find = (atMs: number, latency: number, rule: string): void =>
    void found.push({ timeNs: (1000 * atMs + latency) * 1000, rule });
  let told = 0;
  const bursts = { 10: [2, 80], 20: [6, 5201], 30: [1, 5201], 40: [10, 80] } as const;
  for (const [at, [packets, port]] of Object.entries(bursts)) {
    for (let k = 0; k < packets; k++) {
      const [latency, waitingBehind] = [k * BYTES, packets - 1 - k];
      if (port === 80 && latency > 1000 && waitingBehind >= 2) find(Number(at), latency, 'web-jam');
      if (port === 80 || Math.abs(latency - told) <= 500) continue;
      find(Number(at), latency, 'any-jump');
      told = latency;
    }
  }
  return found;
}

test('host and switch find the same packets, and those that the rules mean', () => {
  const result = findings();
  expect(result.reports).toBe(19);
  expect(result.host.map(({ timeNs, rule }) => ({ timeNs, rule }))).toEqual(expected());
  expect(result.inSwitch.map(({ timeNs, rule }) => ({ timeNs, rule }))).toEqual(expected());
  expect(linesOf(result)).toEqual(
    transcriptOf('examples/int-detect/README.md', 'npm -s start -w @int/example-int-detect'),
  );
});
