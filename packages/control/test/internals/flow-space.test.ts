import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import type { FlowMatch } from '../../src/index.js';
import { overlaps, spaceOf } from '../../src/intents/flow-space.js';
import { nextChangeMs } from '../../src/intents/lifetime.js';

const SEED = Number(process.env.INT_SEED ?? 20_261_128);

/** Packets of a small world, in which every one can be looked at: 4 addresses, 2 protocols, 3 ports. */
const ADDRESSES = ['10.0.0.0', '10.0.0.1', '10.0.0.2', '10.0.0.3'];
const SIX = ['2001:db8::', '2001:db8::1', '2001:db8::2', '2001:db8::3'];
const PROTOCOLS = [6, 17];
const PORTS = [0, 1, 2];

const prefix = fc
  .tuple(fc.constantFrom(ADDRESSES, SIX), fc.nat({ max: 3 }), fc.integer({ min: 0, max: 2 }))
  .map(([list, index, bits]) => `${list[index]}/${(list === SIX ? 128 : 32) - bits}`);
const range = fc
  .tuple(fc.constantFrom(...PORTS), fc.constantFrom(...PORTS))
  .map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);
const match: fc.Arbitrary<FlowMatch> = fc
  .record(
    {
      source: prefix,
      destination: prefix,
      protocol: fc.constantFrom(...PROTOCOLS),
      sourcePort: range,
      destinationPort: range,
    },
    { requiredKeys: [] },
  )
  .filter((each) => spaceOf(each) !== null);

interface Packet {
  readonly source: number;
  readonly destination: number;
  readonly isSix: boolean;
  readonly protocol: number;
  readonly sourcePort: number;
  readonly destinationPort: number;
}

function* packets(): Generator<Packet> {
  for (const isSix of [false, true])
    for (let source = 0; source < 4; source++)
      for (let destination = 0; destination < 4; destination++)
        for (const protocol of PROTOCOLS)
          for (const sourcePort of PORTS)
            for (const destinationPort of PORTS)
              yield { isSix, source, destination, protocol, sourcePort, destinationPort };
}

/** A second reading of a match: by the text of the prefix. */
function isIn(text: string | undefined, packet: number, isSix: boolean): boolean {
  if (text === undefined) return true;
  const [address = '', length = ''] = text.split('/');
  const list = isSix ? SIX : ADDRESSES;
  const index = list.indexOf(address);
  const open = (isSix ? 128 : 32) - Number(length);
  return index >= 0 && index >> open === packet >> open;
}

const matches = (each: FlowMatch, packet: Packet): boolean =>
  isIn(each.source, packet.source, packet.isSix) &&
  isIn(each.destination, packet.destination, packet.isSix) &&
  (each.protocol === undefined || each.protocol === packet.protocol) &&
  [[each.sourcePort, packet.sourcePort] as const, [each.destinationPort, packet.destinationPort] as const].every(
    ([ports, port]) => ports === undefined || (ports[0] <= port && port <= ports[1]),
  );

describe('overlaps', () => {
  it('holds exactly when some packet belongs to both', () => {
    const all = [...packets()];
    fc.assert(
      fc.property(match, match, (a, b) => {
        const isShared = all.some((packet) => matches(a, packet) && matches(b, packet));
        expect(overlaps(spaceOf(a)!, spaceOf(b)!)).toBe(isShared);
        expect(overlaps(spaceOf(b)!, spaceOf(a)!)).toBe(isShared);
      }),
      { seed: SEED, numRuns: runs(8000) },
    );
  });

  it('is not for addresses of two versions of IP', () => {
    expect(spaceOf({ source: '10.0.0.1', destination: '2001:db8::1' })).toBeNull();
    expect(spaceOf({ source: '10.0.0.x' })).toBeNull();
  });
});

describe('nextChangeMs', () => {
  it('is the next beginning or end', () => {
    const terms = {
      id: 'k',
      owner: 'o',
      priority: 1,
      reason: '',
      kind: 'keep',
      metric: 'link-load',
      below: 0.5,
    } as const;
    const intents = [
      { ...terms, fromMs: 100, ttlMs: 50 },
      { ...terms, fromMs: 120, ttlMs: null },
    ];
    expect([0, 100, 119, 120, 149].map((now) => nextChangeMs(intents, now))).toEqual([100, 120, 120, 150, 150]);
    expect(nextChangeMs(intents, 150)).toBe(Number.POSITIVE_INFINITY);
  });
});
