import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { FloodSources } from '../../src/controller/flood-sources.js';
import type { FlowMatch } from '../../src/index.js';
import type { ObservedFlow } from '../../src/twin/rehearsal.js';

const SEED = Number(process.env.INT_SEED ?? 20_261_128);
const VICTIM = '10.0.2.1';

const flow = (source: string, packets: number): ObservedFlow => ({
  ...{ source, destination: VICTIM, protocol: 6, sourcePort: 1024, destinationPort: 80 },
  ...{ path: [1, 101, 2], packets, bytes: 60 * packets },
});

function covers({ source }: FlowMatch, address: string): boolean {
  const [first, length] = source!.split('/') as [string, string];
  const bits = (text: string): string =>
    text
      .split('.')
      .map((byte) => Number(byte).toString(2).padStart(8, '0'))
      .join('');
  return bits(first).slice(0, Number(length)) === bits(address).slice(0, Number(length));
}

function prefixesOf(
  strangers: readonly string[],
  usual: readonly string[],
  packets = 3,
  isPatient = true,
): readonly FlowMatch[] | 'spread' | 'unseen' {
  const sources = new FloodSources();
  sources.learn(
    usual.map((source) => flow(source, 10)),
    0,
    () => false,
  );
  const flows = [...strangers, ...usual].map((source) => flow(source, packets));
  return sources.prefixes(VICTIM, flows, isPatient);
}

describe('FloodSources', () => {
  it('divides a prefix that has a usual client in it', () => {
    const strangers = Array.from({ length: 200 }, (_, k) => `203.0.113.${k}`);
    const found = prefixesOf(strangers, ['203.0.113.252']);
    // All of it but that client: of the addresses that were not seen some may still come.
    expect(found).toMatchObject(
      ['0/25', '128/26', '192/27', '224/28', '240/29', '248/30', '254/31', '253/32'].map((end) => ({
        source: `203.0.113.${end}`,
      })),
    );
  });

  it('names single addresses while they are few enough, and prefixes once too much would be left out', () => {
    const strangers = Array.from({ length: 80 }, (_, k) => `203.0.113.${k}`);
    expect(prefixesOf(strangers.slice(0, 60), [])).toHaveLength(60);
    // 64 of 80 addresses would leave a fifth of the flood.
    expect(prefixesOf(strangers, [])).toMatchObject([{ source: '203.0.113.0/24', protocol: 6 }]);
  });

  it('looks at what is to come: of addresses that were seen once there are more', () => {
    const near = Array.from({ length: 60 }, (_, k) => `203.0.113.${k}`);
    expect(prefixesOf(near, [], 1)).toMatchObject([{ source: '203.0.113.0/24' }]);
    // The only prefixes that have them all are wide: one waits, and does what one can when there is no more time.
    const far = Array.from({ length: 60 }, (_, k) => `${20 + (k % 6)}.${k}.7.1`);
    expect(prefixesOf(far, [], 1)).toBe('unseen');
    expect(prefixesOf(far, [], 1, false)).toHaveLength(60);
    expect(prefixesOf(far, [], 3)).toHaveLength(60);
  });

  it('gives no prefix with a usual source, and most of the flood, if there are few enough', () => {
    const address = fc.tuple(fc.constantFrom(0, 1, 128, 255), fc.nat({ max: 255 })).map(([c, d]) => `198.51.${c}.${d}`);
    fc.assert(
      fc.property(
        fc.uniqueArray(address, { minLength: 1, maxLength: 300 }),
        fc.uniqueArray(address, { maxLength: 8 }),
        (flood, usual) => {
          const strangers = flood.filter((each) => !usual.includes(each));
          const found = prefixesOf(strangers, usual);
          if (strangers.length === 0) expect(found).toBe('unseen');
          if (typeof found === 'string') return;
          expect(found.length).toBeLessThanOrEqual(64);
          expect(usual.filter((each) => found.some((prefix) => covers(prefix, each)))).toEqual([]);
          const covered = strangers.filter((each) => found.some((prefix) => covers(prefix, each)));
          expect(covered.length).toBeGreaterThanOrEqual(0.8 * strangers.length);
        },
      ),
      { seed: SEED, numRuns: runs(1000) },
    );
  });
});
