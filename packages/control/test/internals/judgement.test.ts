import { expect, it } from 'vitest';
import { stillFires } from '../../src/controller/judgement.js';
import type { LinkMap } from '../../src/controller/link-map.js';
import type { LiveProposal } from '../../src/controller/live-proposal.js';

const VICTIM = '10.0.2.1';

it('a flood that is blocked by many addresses is seen while they send together what they sent', () => {
  const sources = Array.from({ length: 60 }, (_, k) => `203.0.113.${k}`);
  const intents = sources.map((source) => ({
    kind: 'block',
    match: { source: `${source}/32`, destination: VICTIM },
    reportOneIn: 10,
  }));
  const proposal = { intents, draft: { packetsPerSecond: 300, flows: new Map() } } as unknown as LiveProposal;
  /** Of each source so many of the packets that are dropped are reported, within a second. */
  const seen = (reports: number, count: number): boolean => {
    const dropped = sources.slice(0, count).map((source) => ({
      ...{ source, destination: VICTIM, protocol: 6, sourcePort: 1024, destinationPort: 80 },
      ...{ path: [1], packets: reports, bytes: 0 },
    }));
    const measurement = { timeMs: 0, seconds: 1, flows: [], dropped, ageMs: 0, loss: 0 };
    return stillFires(proposal, measurement, {} as LinkMap, 0.8);
  };
  // 5 packets a second of each are 300 together, of which 30 are reported.
  expect(seen(1, 30)).toBe(true);
  expect(seen(0, 0)).toBe(false);
});
