import { FLAG } from '@int/codec';
import { Classifier, type Match } from '@int/detect';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { corner, empty, match, priority } from './corners.js';
import { firstMatch, meet, type Probe } from './linear-model.js';
import {
  ETHERNET_BYTES,
  MIXES,
  type MixRule,
  makePackets,
  makeRules,
  prefixOf,
  Random,
  writePackets,
} from './mixes.js';

/** INT_SEED, or the same each time. fast-check prints it when a property fails. */
const SEED = Number(process.env.INT_SEED ?? 20_250_222);
const NO_MAC = -1;

/** Looks each probe up, in rows of one batch, with the Ethernet headers inside a larger buffer. */
function lookUp(classifier: Classifier, probes: readonly Probe[]): number[] {
  const { batch, bytes } = writePackets(probes);
  const larger = new Uint8Array(bytes.length + 7).fill(0xff);
  larger.set(bytes, 3);
  const input = larger.subarray(3, 3 + bytes.length);
  return probes.map((probe, row) => {
    if (!probe.flow) batch.flags[row] = batch.flags[row]! & ~FLAG.FLOW;
    return classifier.lookup(batch, row, input, probe.macs ? row * ETHERNET_BYTES : NO_MAC);
  });
}

function probe(changes: Partial<Probe>): Probe {
  return {
    flow: true,
    macs: true,
    version: 4,
    source: [0x0a000001],
    destination: [0x0a000002],
    sourcePort: 5000,
    destinationPort: 80,
    protocol: 17,
    sourceMac: 0x02_00_00_00_00_01,
    destinationMac: 0x02_00_00_00_00_02,
    ...changes,
  };
}

function probesOf(rules: readonly MixRule[], count: number, seed: number): Probe[] {
  return makePackets(rules, count, seed).map((packet) => ({ ...packet, flow: true, macs: true }));
}

function filled(rules: readonly MixRule[]): Classifier {
  const classifier = new Classifier(rules.length);
  rules.forEach((rule, slot) => {
    classifier.insert(slot, rule.priority, rule.match);
  });
  return classifier;
}

describe('a lookup', () => {
  const one = (changes: Partial<Match>): Classifier => filled([{ priority: 1, match: { ...empty(), ...changes } }]);
  const v6 = { version: 6, source: [0x20010db8, 0, 0, 1], destination: [0x20010db8, 0, 0, 2] } as const;

  it('finds nothing among no rules', () => {
    expect(lookUp(new Classifier(1), [probe({}), probe(v6), probe({ flow: false })])).toEqual([-1, -1, -1]);
  });

  it('finds a rule without conditions for every report', () => {
    expect(lookUp(one({}), [probe({}), probe(v6), probe({ flow: false }), probe({ macs: false })])).toEqual([
      0, 0, 0, 0,
    ]);
  });

  it('finds only a rule without conditions for a report whose flow is unknown, and the best of those', () => {
    const classifier = filled([
      { priority: 9, match: { ...empty(), protocol: 17 } },
      { priority: 8, match: { ...empty(), sourcePort: { from: 0, to: 65535 } } },
      { priority: 5, match: empty() },
      { priority: 7, match: empty() },
      { priority: 6, match: empty() },
    ]);
    expect(lookUp(classifier, [probe({ flow: false })])).toEqual([3]);
    classifier.remove(3);
    expect(lookUp(classifier, [probe({ flow: false })])).toEqual([4]);
    classifier.remove(4);
    classifier.remove(2);
    expect(lookUp(classifier, [probe({ flow: false })])).toEqual([-1]);
  });

  it('takes a prefix of length 0 as a question for the IP version', () => {
    expect(lookUp(one({ source: prefixOf([0], 0) }), [probe({}), probe(v6)])).toEqual([0, -1]);
    expect(lookUp(one({ destination: prefixOf([0, 0, 0, 0], 0) }), [probe({}), probe(v6)])).toEqual([-1, 0]);
  });

  it('matches nothing with addresses of two IP versions', () => {
    const classifier = one({ source: prefixOf([0], 0), destination: prefixOf([0, 0, 0, 0], 0) });
    expect(lookUp(classifier, [probe({}), probe(v6), probe({ flow: false })])).toEqual([-1, -1, -1]);
    expect(classifier.conflict(1, empty())).toBe(-1);
    classifier.remove(0);
    expect(classifier.size).toBe(0);
  });

  it('takes both ends of a port range in', () => {
    const classifier = one({ destinationPort: { from: 1000, to: 2000 }, sourcePort: { from: 5000, to: 5000 } });
    const ports = [999, 1000, 1500, 2000, 2001];
    expect(
      lookUp(
        classifier,
        ports.map((destinationPort) => probe({ destinationPort })),
      ),
    ).toEqual([-1, 0, 0, 0, -1]);
    expect(lookUp(classifier, [probe({ destinationPort: 1000, sourcePort: 5001 })])).toEqual([-1]);
  });

  it('reads MAC addresses where it is told, and matches none of their rules where they are unknown', () => {
    const classifier = one({ sourceMac: 0xfe_dc_ba_98_76_54, destinationMac: 0x80_00_00_00_00_01 });
    expect(classifier.usesMac).toBe(true);
    const { batch, bytes } = writePackets([
      probe({ sourceMac: 0xfe_dc_ba_98_76_54, destinationMac: 0x80_00_00_00_00_01 }),
    ]);
    expect(classifier.lookup(batch, 0, bytes, 0)).toBe(0);
    expect(classifier.lookup(batch, 0, bytes, 1)).toBe(-1);
    expect(classifier.lookup(batch, 0, bytes, -1)).toBe(-1);
    expect(classifier.lookup(batch, 0, null, 0)).toBe(-1);
    expect(classifier.lookup(batch, 0, bytes.subarray(0, 12), 0)).toBe(0);
    expect(classifier.lookup(batch, 0, bytes.subarray(0, 11), 0)).toBe(-1);
    classifier.remove(0);
    expect(classifier.usesMac).toBe(false);
  });

  it('sees a change of the rules at once, though it has seen the flow before', () => {
    const classifier = new Classifier(4);
    classifier.insert(0, 1, { ...empty(), source: prefixOf([0x0a000000], 8) });
    classifier.insert(1, 2, {
      ...empty(),
      destination: prefixOf([0x0b000000], 8),
      destinationPort: { from: 1, to: 9 },
    });
    const seen: number[] = [];
    const look = (): number => seen.push(...lookUp(classifier, [probe({})]));
    look();
    classifier.insert(2, 3, { ...empty(), sourcePort: { from: 5000, to: 5000 } });
    look();
    classifier.insert(3, 4, { ...empty(), protocol: 17 });
    look();
    classifier.remove(3);
    look();
    classifier.remove(2);
    look();
    expect(seen).toEqual([0, 2, 3, 2, 0]);
  });

  it('gives the same one of several rules of the best priority each time', () => {
    const rules = makeRules('firewall', 400, SEED).map((rule) => ({ ...rule, priority: 7 }));
    const probes = probesOf(rules, 500, SEED);
    const [first, second] = [filled(rules), filled(rules)];
    const found = lookUp(first, probes);
    expect(lookUp(first, probes)).toEqual(found);
    expect(lookUp(second, probes.toReversed())).toEqual(found.toReversed());
  });
});

describe('a classifier', () => {
  it('refuses a capacity that is none', () => {
    for (const capacity of [0, -1, 1.5, Number.NaN, 2 ** 20 + 1]) {
      expect(() => new Classifier(capacity)).toThrow(RangeError);
    }
  });

  it('refuses slots that do not exist, are taken, or are free', () => {
    const classifier = new Classifier(2);
    for (const slot of [-1, 2, 0.5, Number.NaN]) {
      expect(() => classifier.insert(slot, 1, empty())).toThrow(RangeError);
      expect(() => classifier.remove(slot)).toThrow(RangeError);
    }
    expect(() => classifier.remove(0)).toThrow('slot 0 is free');
    classifier.insert(0, 1, empty());
    expect(() => classifier.insert(0, 2, empty())).toThrow('slot 0 is taken');
    classifier.remove(0);
    expect(() => classifier.remove(0)).toThrow('slot 0 is free');
  });

  it('refuses numbers out of their range and is as before then', () => {
    const classifier = new Classifier(2);
    const bad: Partial<Match>[] = [
      { protocol: 256 },
      { protocol: -1 },
      { protocol: 1.5 },
      { source: { version: 4, words: [1, 2], length: 8 } },
      { source: { version: 6, words: [1], length: 8 } },
      { source: { version: 5 as 4, words: [0], length: 0 } },
      { source: { version: 4, words: [0], length: 33 } },
      { destination: { version: 6, words: [0, 0, 0, 0], length: 129 } },
      { destination: { version: 4, words: [-1], length: 32 } },
      { destination: { version: 4, words: [0x0a000001], length: 31 } },
      { destination: { version: 6, words: [0, 1, 0, 0], length: 32 } },
      { sourcePort: { from: 2, to: 1 } },
      { sourcePort: { from: -1, to: 1 } },
      { destinationPort: { from: 0, to: 65536 } },
      { sourceMac: 2 ** 48 },
      { destinationMac: -1 },
    ];
    for (const changes of bad) {
      expect(() => classifier.insert(0, 1, { ...empty(), ...changes }), JSON.stringify(changes)).toThrow(RangeError);
      expect(() => classifier.conflict(1, { ...empty(), ...changes })).toThrow(RangeError);
    }
    for (const value of [2 ** 31, -(2 ** 31) - 1, 0.5, Number.NaN]) {
      expect(() => classifier.insert(0, value, empty())).toThrow(RangeError);
    }
    expect(classifier.size).toBe(0);
    expect(lookUp(classifier, [probe({})])).toEqual([-1]);
    classifier.insert(0, -(2 ** 31), empty());
    expect(lookUp(classifier, [probe({})])).toEqual([0]);
  });

  it('finds conflicts of a wide rule among many narrow ones of its priority', () => {
    const rules = makeRules('hosts', 600, SEED);
    const classifier = filled(rules);
    const random = new Random(SEED);
    let conflicts = 0;
    for (let i = 0; i < 150; i++) {
      const near = random.pick(rules).match;
      const { sourcePort, destinationPort } = random.pick(rules).match;
      const from = sourcePort!.from;
      const wide: Match = {
        ...empty(),
        source: random.chance(0.5) ? null : prefixOf(near.source!.words, random.below(33)),
        destination: random.chance(0.5) ? null : prefixOf(near.destination!.words, random.below(33)),
        sourcePort: random.chance(0.5) ? null : { from, to: Math.min(0xffff, from + random.below(4000)) },
        destinationPort: random.chance(0.5) ? null : destinationPort,
      };
      const rivals = rules.flatMap((rule, slot) => (meet(rule.match, wide) ? [slot] : []));
      expect(rivals.length === 0 ? [-1] : rivals).toContain(classifier.conflict(100, wide));
      expect(classifier.conflict(101, wide)).toBe(-1);
      if (rivals.length === 1) expect(classifier.conflict(100, wide, rivals[0])).toBe(-1);
      if (rivals.length > 0) conflicts++;
    }
    expect(conflicts).toBeGreaterThan(15);
    expect(conflicts).toBeLessThan(135);
  });

  it('finds no conflict between MAC addresses that differ in one bit', () => {
    const classifier = new Classifier(2);
    const mac = 0x12_34_56_78_9a_bc;
    classifier.insert(0, 1, { ...empty(), sourceMac: mac });
    classifier.insert(1, 2, { ...empty(), destinationMac: mac });
    expect(classifier.conflict(1, { ...empty(), sourceMac: mac })).toBe(0);
    expect(classifier.conflict(2, { ...empty(), destinationMac: mac })).toBe(1);
    expect(classifier.conflict(1, { ...empty(), destinationMac: 1 })).toBe(0);
    for (let bit = 0; bit < 48; bit++) {
      const other = Math.floor(mac / 2 ** bit) % 2 === 0 ? mac + 2 ** bit : mac - 2 ** bit;
      expect(classifier.conflict(1, { ...empty(), sourceMac: other })).toBe(-1);
      expect(classifier.conflict(2, { ...empty(), destinationMac: other })).toBe(-1);
    }
  });

  it('finds rules whose ranges straddle in both ports, in each corner', () => {
    const rules: MixRule[] = [];
    // 4 wide, the middle on a multiple of 256: two cells of each port at every level but the first.
    for (let source = 1; source <= 24; source++) {
      for (let destination = 1; destination <= 24; destination++) {
        const around = (port: number): { from: number; to: number } => ({ from: port * 256 - 2, to: port * 256 + 1 });
        rules.push({
          priority: 5,
          match: { ...empty(), sourcePort: around(source), destinationPort: around(destination) },
        });
      }
    }
    const classifier = filled(rules);
    const held = new Map(rules.entries());
    const probes = rules.flatMap(({ match: { sourcePort, destinationPort } }) =>
      [-1, 0, 3, 4].flatMap((a) =>
        [-1, 0, 3, 4].map((b) =>
          probe({ sourcePort: sourcePort!.from + a, destinationPort: destinationPort!.from + b }),
        ),
      ),
    );
    const some = probes.filter((_, i) => i % 13 === 0);
    expect(classifier.shape().entries).toEqual([4 * rules.length, 4 * rules.length]);
    expect(lookUp(classifier, some)).toEqual(some.map((each) => firstMatch(held, each)));
    rules.forEach((_, slot) => {
      classifier.remove(slot);
    });
    expect(classifier.shape().entries).toEqual([0, 0]);
  });

  it('says how many bytes it takes: more with rules, and no more once they are gone', () => {
    const empty = new Classifier(1000).byteLength;
    const rules = makeRules('ranges', 1000, SEED);
    const classifier = filled(rules);
    const full = classifier.byteLength;
    expect(full).toBeGreaterThan(empty);
    for (let round = 0; round < 2; round++) {
      rules.forEach((_, slot) => {
        classifier.remove(slot);
      });
      rules.forEach((rule, slot) => {
        classifier.insert(slot, rule.priority, rule.match);
      });
    }
    expect(classifier.byteLength).toBe(full);
  });

  it('agrees with a look at every rule, whatever is inserted, replaced and removed', () => {
    const operation = fc.record({
      slot: fc.nat({ max: 39 }),
      priority,
      match,
      probes: fc.integer(),
    });
    fc.assert(
      fc.property(fc.array(operation, { minLength: 1, maxLength: 80 }), (operations) => {
        const classifier = new Classifier(40);
        const rules = new Map<number, MixRule>();
        for (const { slot, priority, match, probes } of operations) {
          const taken = rules.has(slot);
          const rivals = [...rules].filter(
            ([other, rule]) => other !== slot && rule.priority === priority && meet(rule.match, match),
          );
          const conflict = classifier.conflict(priority, match, slot);
          expect(rivals.length === 0 ? [-1] : rivals.map(([other]) => other)).toContain(conflict);
          if (taken) {
            classifier.remove(slot);
            rules.delete(slot);
          }
          // A slot that was taken is freed in half of the cases, and gets the new rule in the others.
          if (conflict === -1 && !(taken && (probes & 1) === 0)) {
            classifier.insert(slot, priority, match);
            rules.set(slot, { priority, match });
          }
          expect(classifier.size).toBe(rules.size);
          expect(classifier.usesMac).toBe(
            [...rules.values()].some((rule) => rule.match.sourceMac !== null || rule.match.destinationMac !== null),
          );
          const random = new Random(probes);
          const held = [...rules.values()].map((rule) => rule.match);
          const asked = Array.from({ length: 6 }, () => corner(random, held.length === 0 ? match : random.pick(held)));
          expect(lookUp(classifier, asked)).toEqual(asked.map((each) => firstMatch(rules, each)));
        }
      }),
      { seed: SEED, numRuns: runs(100) },
    );
  });

  it('agrees with a look at every rule among hundreds that overlap', () => {
    const rule = fc.record({ priority: fc.integer({ min: -50, max: 50 }), match });
    fc.assert(
      fc.property(fc.array(rule, { minLength: 200, maxLength: 600 }), fc.integer(), (drawn, seed) => {
        const classifier = new Classifier(drawn.length);
        const rules = new Map<number, MixRule>();
        drawn.forEach((each, slot) => {
          const rivals = [...rules.values()].some((r) => r.priority === each.priority && meet(r.match, each.match));
          expect(classifier.conflict(each.priority, each.match) >= 0).toBe(rivals);
          if (rivals) return;
          classifier.insert(slot, each.priority, each.match);
          rules.set(slot, each);
        });
        const random = new Random(seed);
        const check = (): void => {
          const asked = Array.from({ length: 200 }, () => corner(random, random.pick(drawn).match));
          expect(lookUp(classifier, asked)).toEqual(asked.map((each) => firstMatch(rules, each)));
        };
        check();
        for (const slot of [...rules.keys()].filter(() => random.chance(0.7))) {
          classifier.remove(slot);
          rules.delete(slot);
        }
        check();
      }),
      { seed: SEED, numRuns: 12 },
    );
  });
});

describe.each(MIXES)('with many rules of the mix %s, a classifier', (mix) => {
  const rules = makeRules(mix, mix === 'mixed' ? 4000 : 1000, SEED);

  it('agrees with a look at every rule while a third of them come and go', () => {
    const classifier = filled(rules);
    const held = new Map(rules.entries());
    const random = new Random(SEED);
    const corners = Array.from({ length: 120 }, () => corner(random, random.pick(rules).match));
    const probes = [...probesOf(rules, 200, SEED + 1), ...corners];
    const check = (): void => {
      expect(lookUp(classifier, probes)).toEqual(probes.map((each) => firstMatch(held, each)));
    };
    check();
    const gone = [...held.keys()].filter(() => random.chance(0.33));
    for (const slot of gone) {
      classifier.remove(slot);
      held.delete(slot);
    }
    check();
    for (const slot of gone.toReversed()) {
      classifier.insert(slot, rules[slot]!.priority, rules[slot]!.match);
      held.set(slot, rules[slot]!);
    }
    check();
  });

  it('finds no conflict, as there is none, and finds each rule that would have one with itself', () => {
    const classifier = new Classifier(rules.length);
    rules.forEach(({ priority, match }, slot) => {
      expect(classifier.conflict(priority, match)).toBe(-1);
      classifier.insert(slot, priority, match);
    });
    rules.forEach(({ priority, match }, slot) => {
      expect(classifier.conflict(priority, match)).toBe(slot);
      expect(classifier.conflict(priority, match, slot)).toBe(-1);
    });
  });

  it('holds nothing any more once all are removed', () => {
    const classifier = filled(rules);
    rules.forEach((_, slot) => {
      classifier.remove(slot);
    });
    expect(classifier.size).toBe(0);
    expect(classifier.usesMac).toBe(false);
    expect(classifier.shape()).toEqual({ tables: [0, 0], entries: [0, 0], longestChain: [0, 0] });
  });
});

describe('the cost of a lookup', () => {
  it.each(MIXES.filter((mix) => mix !== 'nested'))('hardly grows with the number of rules: %s', (mix) => {
    const shape = filled(makeRules(mix, 10_000, SEED)).shape();
    expect(Math.max(...shape.tables)).toBeLessThanOrEqual(40);
    // A chain holds a bucket or two, and those whose rules nothing tells apart are few and short.
    expect(Math.max(...shape.longestChain)).toBeLessThanOrEqual(32);
    expect(Math.max(...shape.entries)).toBeLessThanOrEqual(20_000);
  });

  it('stays bounded by the number of rules where nothing tells them apart', () => {
    const shape = filled(makeRules('nested', 3000, SEED)).shape();
    expect(Math.max(...shape.tables)).toBeLessThanOrEqual(96);
    expect(Math.max(...shape.longestChain)).toBeLessThanOrEqual(3000);
  });

  it('is bounded by 96 tables where rules are of thousands of kinds', () => {
    const random = new Random(SEED);
    const rules: MixRule[] = [];
    // For each pair of lengths sixteen rules, with and without a protocol, that differ in the last two bits of their
    // prefixes only, all around one address: every coarser key is the same for all of them.
    for (let source = 2; source <= 32; source += 2) {
      for (let destination = 2; destination <= 32; destination += 2) {
        for (let i = 0; i < 32; i++) {
          const near = (length: number, last: number): number =>
            (0x0a141e28 ^ (last === 0 ? 0 : last << (32 - length))) >>> 0;
          rules.push({
            priority: random.word() | 0,
            match: {
              ...empty(),
              protocol: i < 16 ? null : 6,
              source: prefixOf([near(source, i & 3)], source),
              destination: prefixOf([near(destination, (i >>> 2) & 3)], destination),
            },
          });
        }
      }
    }
    const classifier = filled(rules);
    const tables = Math.max(...classifier.shape().tables);
    expect(tables).toBeGreaterThanOrEqual(90);
    expect(tables).toBeLessThanOrEqual(96);
    const held = new Map(rules.entries());
    const probes = probesOf(rules, 200, SEED);
    expect(lookUp(classifier, probes)).toEqual(probes.map((each) => firstMatch(held, each)));
    for (const slot of [...held.keys()].filter(() => random.chance(0.9))) {
      classifier.remove(slot);
      held.delete(slot);
    }
    expect(Math.max(...classifier.shape().tables)).toBeLessThan(tables);
    expect(lookUp(classifier, probes)).toEqual(probes.map((each) => firstMatch(held, each)));
  });
});
