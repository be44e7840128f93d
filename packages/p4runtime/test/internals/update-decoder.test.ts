import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { p4v1 } from '@int/p4runtime';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { decodeUpdate } from '../../src/server/update-decoder.js';

const bytes = fc.uint8Array({ maxLength: 20 });
const id = fc.oneof(fc.nat(20), fc.integer({ min: 0, max: 0xffff_ffff }), fc.constant(0x0200_0001));

const fieldMatch = fc
  .record({
    fieldId: id,
    fieldMatchType: fc.oneof(
      fc.record({ case: fc.constant('exact' as const), value: fc.record({ value: bytes }) }),
      fc.record({ case: fc.constant('optional' as const), value: fc.record({ value: bytes }) }),
      fc.record({ case: fc.constant('ternary' as const), value: fc.record({ value: bytes, mask: bytes }) }),
      fc.record({ case: fc.constant('range' as const), value: fc.record({ low: bytes, high: bytes }) }),
      fc.record({
        case: fc.constant('lpm' as const),
        value: fc.record({ value: bytes, prefixLen: fc.oneof(fc.nat(128), fc.integer()) }),
      }),
      fc.constant({ case: undefined }),
    ),
  })
  .map((value) => create(p4v1.FieldMatchSchema, value as never));

const action = fc
  .oneof(
    { weight: 5, arbitrary: fc.record({ actionId: id, params: fc.array(fc.record({ paramId: id, value: bytes })) }) },
    { weight: 1, arbitrary: fc.constant(undefined) },
  )
  .map((value) =>
    create(
      p4v1.TableActionSchema,
      value === undefined
        ? { type: { case: 'actionProfileMemberId', value: 7 } }
        : {
            type: { case: 'action', value },
          },
    ),
  );

const often = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined, freq: 8 });
const rarely = <Value>(arbitrary: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 12, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

const update = fc
  .record({
    type: fc.integer({ min: 0, max: 5 }),
    tableId: id,
    match: fc.array(fieldMatch, { maxLength: 4 }),
    action: often(action),
    priority: fc.oneof(fc.nat(300), fc.integer()),
    isDefaultAction: rarely(fc.constant(true)),
    isConst: rarely(fc.constant(true)),
    idleTimeoutNs: rarely(fc.constant(5n)),
    controllerMetadata: rarely(fc.constant(9n)),
    metadata: rarely(bytes),
    counterData: rarely(fc.constant(create(p4v1.CounterDataSchema, { packetCount: 3n }))),
  })
  .map(({ type, ...entry }) => {
    const given = Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined));
    const value = create(p4v1.TableEntrySchema, given);
    return toBinary(
      p4v1.UpdateSchema,
      create(p4v1.UpdateSchema, { type, entity: { entity: { case: 'tableEntry', value } } }),
    );
  });

/** What decodes bytes, as one value: the message, or that there is none. */
function outcome(decode: () => p4v1.Update): unknown {
  try {
    return decode();
  } catch {
    return 'no message';
  }
}

function agree(given: Uint8Array): void {
  expect(outcome(() => decodeUpdate(given))).toEqual(outcome(() => fromBinary(p4v1.UpdateSchema, given)));
}

describe('decodeUpdate', () => {
  it('decodes as the library does', () => {
    fc.assert(fc.property(update, agree), { numRuns: runs(2000), seed: 23 });
  });

  it('decodes bytes inside larger memory, which it does not copy', () => {
    fc.assert(
      fc.property(update, fc.nat(9), (given, offset) => {
        const around = new Uint8Array(given.length + 2 * offset).fill(0x12);
        around.set(given, offset);
        agree(around.subarray(offset, offset + given.length));
      }),
      { numRuns: runs(300), seed: 24 },
    );
  });

  it('agrees about bytes that are cut off, changed, repeated, or put in', () => {
    fc.assert(
      fc.property(update, fc.nat(), fc.nat(255), fc.nat(4), update, (given, place, byte, way, other) => {
        const at = given.length === 0 ? 0 : place % given.length;
        const changed = given.slice();
        changed[at] = byte;
        const ways = [
          given.slice(0, at),
          changed,
          Uint8Array.of(...given, ...other),
          Uint8Array.of(...given.slice(0, at), byte, ...given.slice(at)),
          Uint8Array.of(...given.slice(0, at), ...given.slice(at + 1)),
        ];
        agree(ways[way]!);
      }),
      { numRuns: runs(10_000), seed: 25 },
    );
  });

  it('agrees about bytes of any kind', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(0x08, 0x12, 0x0a, 0x1a, 0x22, 0x20, 0x10, 0x32, 0x3a, 0, 1, 2, 4, 0x80, 0xff)),
        (all) => agree(Uint8Array.from(all)),
      ),
      { numRuns: runs(5000), seed: 26 },
    );
  });
});
