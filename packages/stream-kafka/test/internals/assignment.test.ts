import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  assign,
  decodeAssignment,
  decodeSubscription,
  encodeAssignment,
  encodeSubscription,
  type TopicPartition,
} from '../../src/kafka/assignment.js';
import { SEED } from './log.js';

const topic = fc.constantFrom('int.reports', 'int.partials', 'x');
const partition: fc.Arbitrary<TopicPartition> = fc.record({ topic, partition: fc.nat(9) });
const partitions = fc.uniqueArray(partition, { selector: nameOf, maxLength: 20 });
const groups = fc.dictionary(fc.string({ minLength: 1, maxLength: 8 }), partitions, { minKeys: 1, maxKeys: 6 });

function nameOf({ topic: of, partition: number }: TopicPartition): string {
  return `${of} ${number}`;
}

describe('dealing partitions out', () => {
  it('gives each partition to one member, and no member two more than another', () => {
    fc.assert(
      fc.property(groups, partitions, (owned, all) => {
        const dealt = assign(new Map(Object.entries(owned)), all);
        expect([...dealt.keys()].sort()).toEqual(Object.keys(owned).sort());
        const names = [...dealt.values()].flat().map(nameOf);
        expect(names.sort()).toEqual(all.map(nameOf).sort());
        const counts = [...dealt.values()].map(({ length }) => length);
        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
      }),
      { seed: SEED },
    );
  });

  it('changes nothing when nothing has changed', () => {
    fc.assert(
      fc.property(groups, partitions, (owned, all) => {
        const once = assign(new Map(Object.entries(owned)), all);
        expect(assign(once, all)).toEqual(once);
      }),
      { seed: SEED },
    );
  });

  it('takes from the others only what a member that joins has to get', () => {
    fc.assert(
      fc.property(groups, partitions, (owned, all) => {
        const before = assign(new Map(Object.entries(owned)), all);
        const after = assign(new Map([...before, ['a member that joins', []]]), all);
        const moved = [...before].flatMap(([member, had]) => {
          const has = new Set(after.get(member)!.map(nameOf));
          return had.filter((one) => !has.has(nameOf(one)));
        });
        expect(moved).toHaveLength(after.get('a member that joins')!.length);
      }),
      { seed: SEED },
    );
  });

  it('is the same after writing and reading', () => {
    fc.assert(
      fc.property(partitions, fc.array(topic), (owned, topics) => {
        const subscription = decodeSubscription(encodeSubscription({ topics, owned }));
        expect(subscription.topics).toEqual(topics);
        expect(subscription.owned.map(nameOf).sort()).toEqual(owned.map(nameOf).sort());
        expect(decodeAssignment(encodeAssignment(owned)).map(nameOf).sort()).toEqual(owned.map(nameOf).sort());
      }),
      { seed: SEED },
    );
  });
});
