import { type Intent, IntentError, readIntents } from '@int/control';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';

const SEED = Number(process.env.INT_SEED ?? 20_261_128);
const terms = { id: 'x', owner: 'me', priority: 10, fromMs: 0, ttlMs: 60_000, reason: 'because' };

const SOUND: readonly Intent[] = [
  {
    ...terms,
    id: 'w',
    kind: 'watch',
    match: { source: '10.0.0.0/8', sourcePort: [1, 9] },
    instructions: 0xff81,
    oneIn: 3,
  },
  { ...terms, id: 'b', kind: 'block', match: { destination: '2001:db8::1', protocol: 58 }, reportOneIn: 0 },
  { ...terms, id: 'l', kind: 'limit', match: {}, bitsPerSecond: 1e6 },
  { ...terms, id: 'a', kind: 'avoid', link: { switchId: 3, port: 7 }, ttlMs: null },
  { ...terms, id: 'p', kind: 'path', match: { protocol: 6, destinationPort: [443, 443] }, via: [1, 2, 3] },
  { ...terms, id: 'r', kind: 'protect', destination: '10.0.1.9', level: 2.5 },
  { ...terms, id: 'k', kind: 'keep', metric: 'link-load', below: 0.8 },
  {
    ...{ ...terms, id: 'd', kind: 'detect', match: {}, switches: [1, 2], metric: 'hopLatency', algorithm: 'perHop' },
    ...{ scope: 'endToEnd', target: 0.5, band: { minimum: 0, maximum: 9 } },
  },
];

const watchOf = (over: object): object => ({ ...SOUND[0], instructions: undefined, ...over });

function problemsOf(value: unknown): readonly { code: string; at: string }[] {
  try {
    readIntents(value);
  } catch (error) {
    if (!IntentError.is(error)) throw error;
    expect(error.code).toBe(error.problems[0]!.code);
    return error.problems.map(({ code, path }) => ({ code, at: path.join('.') }));
  }
  return [];
}

describe('readIntents', () => {
  it('reads what it wrote', () => {
    expect(readIntents(JSON.parse(JSON.stringify(SOUND)))).toEqual(SOUND);
    const [limit] = readIntents([{ ...terms, kind: 'limit', match: { sourcePort: 53 }, bitsPerSecond: 8 }]);
    expect(limit).toMatchObject({ match: { sourcePort: [53, 53] } });
    const fields = ['switchId', 'egressPort', 'hopLatency', 'egressUtilization'];
    const [watch] = readIntents([JSON.parse(JSON.stringify(watchOf({ fields })))]);
    expect(watch).toMatchObject({ instructions: 0xe100 });
    // In the order of their bits, for switches that have exactly these; and what was read is read again.
    expect(watch).toMatchObject({ fields: ['switchId', 'hopLatency', 'egressPort', 'egressUtilization'] });
    expect(readIntents([JSON.parse(JSON.stringify(watch))])).toEqual([watch]);
  });

  it.each([
    ['no list', {}, 'ERR_INTENT_TYPE', ''],
    ['no object', [5], 'ERR_INTENT_TYPE', '0'],
    ['a kind that there is not', [{ ...terms, kind: 'pray' }], 'ERR_INTENT_KIND', '0.kind'],
    ['a kind of the prototype', [{ ...terms, kind: 'toString' }], 'ERR_INTENT_KIND', '0.kind'],
    ['a field that there is not', [{ ...SOUND[2], rate: 5 }], 'ERR_INTENT_FIELD', '0.rate'],
    ['a field of a match that there is not', [{ ...SOUND[2], match: { port: 5 } }], 'ERR_INTENT_FIELD', '0.match.port'],
    ['no id', [{ ...SOUND[2], id: '' }], 'ERR_INTENT_VALUE', '0.id'],
    ['an id with a control character', [{ ...SOUND[2], id: '\u001b[2J' }], 'ERR_INTENT_VALUE', '0.id'],
    ['a priority of 0', [{ ...SOUND[2], priority: 0 }], 'ERR_INTENT_VALUE', '0.priority'],
    ['a priority that is text', [{ ...SOUND[2], priority: '5' }], 'ERR_INTENT_TYPE', '0.priority'],
    ['a TTL of 0', [{ ...SOUND[2], ttlMs: 0 }], 'ERR_INTENT_VALUE', '0.ttlMs'],
    ['a TTL that is left out', [{ ...SOUND[2], ttlMs: undefined }], 'ERR_INTENT_TYPE', '0.ttlMs'],
    ['no address', [{ ...SOUND[2], match: { source: 'h1' } }], 'ERR_INTENT_VALUE', '0.match.source'],
    [
      'a range that is empty',
      [{ ...SOUND[2], match: { sourcePort: [9, 1] } }],
      'ERR_INTENT_VALUE',
      '0.match.sourcePort',
    ],
    [
      'two versions of IP',
      [{ ...SOUND[2], match: { source: '10.0.0.1', destination: '::1' } }],
      'ERR_INTENT_VALUE',
      '0.match',
    ],
    ['reserved instructions', [{ ...SOUND[0], instructions: 0x8040 }], 'ERR_INTENT_VALUE', '0.instructions'],
    ['a field that no switch has', [watchOf({ fields: ['luck'] })], 'ERR_INTENT_VALUE', '0.fields.0'],
    ['no fields', [watchOf({ fields: [] })], 'ERR_INTENT_VALUE', '0.fields'],
    ['fields and instructions', [{ ...SOUND[0], fields: ['switchId'] }], 'ERR_INTENT_VALUE', '0.fields'],
    ['a path without switches', [{ ...SOUND[4], via: [] }], 'ERR_INTENT_VALUE', '0.via'],
    ['a path through a switch twice', [{ ...SOUND[4], via: [1, 2, 1] }], 'ERR_INTENT_VALUE', '0.via.2'],
    ['a goal of 0', [{ ...SOUND[6], below: 0 }], 'ERR_INTENT_VALUE', '0.below'],
    ['another metric', [{ ...SOUND[6], metric: 'luck' }], 'ERR_INTENT_VALUE', '0.metric'],
    ['a detection without a target', [{ ...SOUND[7], target: 0 }], 'ERR_INTENT_VALUE', '0.target'],
    ['another algorithm', [{ ...SOUND[7], algorithm: 'noop' }], 'ERR_INTENT_VALUE', '0.algorithm'],
    ['a band that is empty', [{ ...SOUND[7], band: { minimum: 2, maximum: 1 } }], 'ERR_INTENT_VALUE', '0.band.maximum'],
    ['a detection nowhere', [{ ...SOUND[7], switches: [] }], 'ERR_INTENT_VALUE', '0.switches'],
    ['nothing to protect', [{ ...SOUND[5], destination: undefined }], 'ERR_INTENT_VALUE', '0.destination'],
    ['two of one id', [SOUND[2], SOUND[2]], 'ERR_INTENT_DUPLICATE', '1.id'],
  ])('refuses %s', (_, value, code, at) => {
    expect(problemsOf(value)).toContainEqual({ code, at });
  });

  it('throws nothing else, whatever it is given', () => {
    const anything = fc.oneof(
      fc.anything(),
      fc
        .constantFrom(...SOUND)
        .chain((intent) =>
          fc
            .tuple(fc.constantFrom(...Object.keys(intent), 'match', 'link'), fc.anything())
            .map(([key, value]) => ({ ...intent, [key]: value })),
        ),
    );
    fc.assert(
      fc.property(fc.array(anything, { maxLength: 4 }), (values) => {
        try {
          readIntents(values);
        } catch (error) {
          expect(IntentError.is(error)).toBe(true);
        }
      }),
      { seed: SEED, numRuns: runs(8000) },
    );
  });
});
