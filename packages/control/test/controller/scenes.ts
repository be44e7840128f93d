import type { ControlPolicy, Measurement, ObservedFlow, Rehearsal } from '@int/control';
import { CAUTIOUS } from '@int/control';
import type { Incident } from '@int/knowledge';
import { Topology } from '@int/network';
import type { LinkFailureEvent } from '@int/stream';

/** Two leaves, two spines, links of 10 Mbit/s, two hosts at each leaf. */
export const TOPOLOGY = new Topology({
  switches: {
    1: {
      name: 'leaf1',
      ports: {
        1: { to: 'spine1:1', speed: '10M' },
        2: { to: 'spine2:1', speed: '10M' },
        11: { to: 'host a', speed: '100M' },
      },
    },
    2: {
      name: 'leaf2',
      ports: {
        1: { to: 'spine1:2', speed: '10M' },
        2: { to: 'spine2:2', speed: '10M' },
        11: { to: 'host b', speed: '100M' },
      },
    },
    101: { name: 'spine1' },
    102: { name: 'spine2' },
  },
  hosts: { a: { addresses: ['10.0.1.0/24'] }, b: { addresses: ['10.0.2.0/24'] } },
});

export const ALL_ACT: ControlPolicy = {
  ...CAUTIOUS,
  autonomy: { block: 'act', limit: 'act', avoid: 'act', path: 'act', watch: 'act' },
};

export const SAFE: Rehearsal = {
  ...{ isSafe: true, violations: [], moved: [], loads: new Map(), dropped: [], tables: [], steps: [] },
  ...{ unplaced: 0, astray: 0 },
};

export function flow(given: Partial<ObservedFlow> & { readonly mbps?: number } = {}): ObservedFlow {
  const { mbps = 1, ...rest } = given;
  return {
    ...{ source: '10.0.1.1', destination: '10.0.2.1', protocol: 6, sourcePort: 1000, destinationPort: 80 },
    ...{ packets: 100, bytes: (mbps * 1e6) / 8, path: [1, 101, 2], ...rest },
  };
}

export function measurement(
  timeMs: number,
  flows: readonly ObservedFlow[],
  more: Partial<Measurement> = {},
): Measurement {
  return { timeMs, seconds: 1, flows, dropped: [], ageMs: 10, loss: 0, ...more };
}

export function scan(from: number, source = '198.51.100.7', state: Incident['state'] = 'open'): Incident {
  return {
    ...{ type: 'incident', id: `scan-vertical/host:${source}/${from}`, kind: 'scan-vertical', state, from, to: null },
    ...{ entity: `host:${source}`, detector: 'random-walk', formula: 'L >= eta', operands: { L: 1e6, eta: 99_999 } },
    ...{ baseline: null, windowMs: 10_000, confidence: 1, phase: 'reconnaissance', otherwise: [], confirm: '' },
    ...{ suggest: { intent: 'block', match: { source }, ttlMs: 60_000 }, along: [] },
  };
}

export function linkFailure(timeMs: number, from = 1, to = 101, silentMs = 0): LinkFailureEvent {
  const timeNs = `${BigInt(timeMs) * 1_000_000n}`;
  const id = `linkFailure-${from}-${to}-${timeMs}`;
  const sinceNs = `${BigInt(timeMs - silentMs) * 1_000_000n}`;
  return { type: 'immediate', kind: 'linkFailure', id, timeNs, sinceNs, link: [from, to], flows: 3 };
}
