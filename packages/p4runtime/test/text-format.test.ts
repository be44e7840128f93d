import { create, createRegistry, equals, toBinary } from '@bufbuild/protobuf';
import { AnySchema, anyPack } from '@bufbuild/protobuf/wkt';
import { formatText, p4config, p4v1, parseText, TextFormatError } from '@int/p4runtime';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../.ci/test/length.js';

const { P4InfoSchema } = p4config;
const { WriteRequestSchema } = p4v1;

/** What reading a text gives: the code and the place of the error, or the message as text. */
function outcome(text: string): string {
  try {
    return formatText(P4InfoSchema, parseText(P4InfoSchema, text));
  } catch (error) {
    if (!TextFormatError.is(error)) throw error;
    return `${error.code} ${error.line}:${error.column}`;
  }
}

describe('parseText', () => {
  it.each([
    ['comments, and separators of all kinds', '# a\ntables { size: 1, } # b\ntables: < size: 2; >', [1, 2]],
    ['lists in brackets', 'tables: [{ size: 3 }, { size: 4 }] tables: []', [3, 4]],
    [
      'numbers in base 16 and 8, and signs apart',
      'tables { size: 0x10 } tables { size: 010 } tables { size: - 5 }',
      [16, 8, -5],
    ],
    ['a number without a space before the next field', 'tables{size:7}tables{size:8}', [7, 8]],
  ])('reads %s', (_what, text, sizes) => {
    expect(parseText(P4InfoSchema, text).tables.map(({ size }) => Number(size))).toEqual(sizes);
  });

  it.each([
    [`"a" 'b' "c"`, 'abc'],
    [String.raw`"\n\t\"\'\\\x41\101\u00e9\U0001F600"`, `\n\t"'\\AAé😀`],
    [String.raw`"\303\251"`, 'é'],
    [`"${'é'}"`, 'é'],
    [`'\\0'`, '\0'],
  ])('reads the string %s', (written, text) => {
    expect(parseText(P4InfoSchema, `pkg_info { name: ${written} }`).pkgInfo?.name).toBe(text);
  });

  it.each([
    ['true', true],
    ['True', true],
    ['t', true],
    ['1', true],
    ['false', false],
    ['f', false],
    ['0', false],
  ])('reads %s as a boolean', (text, value) => {
    expect(parseText(P4InfoSchema, `tables { is_const_table: ${text} }`).tables[0]?.isConstTable).toBe(value);
  });

  it('reads enums by name and by number, also one that this version does not know', () => {
    const text =
      'tables { match_fields { match_type: LPM } match_fields { match_type: 4 } match_fields { match_type: 77 } }';
    const [table] = parseText(P4InfoSchema, text).tables;
    expect(table?.matchFields.map(({ match }) => match.value)).toEqual([3, 4, 77]);
  });

  it('reads maps, also with the name of a prototype', () => {
    const text =
      'type_info { structs { key: "__proto__" value { members { name: "a" } } } structs { value { } key: "b" } }';
    const info = parseText(P4InfoSchema, text);
    const structs = info.typeInfo?.structs ?? {};
    expect(Object.keys(structs)).toEqual(['__proto__', 'b']);
    expect(Object.getPrototypeOf(structs)).toBe(Object.prototype);
    expect(equals(P4InfoSchema, parseText(P4InfoSchema, formatText(P4InfoSchema, info)), info)).toBe(true);
  });

  it('reads and writes what is within an Any', () => {
    const registry = createRegistry(p4config.TableSchema);
    const any = anyPack(p4config.TableSchema, create(p4config.TableSchema, { size: 5n }));
    const text = '[type.googleapis.com/p4.config.v1.Table] {\n  size: 5\n}\n';
    expect(formatText(AnySchema, any, { registry })).toBe(text);
    expect(parseText(AnySchema, text, { registry })).toEqual(any);
    expect(parseText(AnySchema, formatText(AnySchema, any))).toEqual(any);
    expect(() => parseText(AnySchema, text)).toThrow(/p4.config.v1.Table is not known/);
  });

  it.each([
    ['', ''],
    ['tables { size: 1', 'ERR_TEXT_SYNTAX 1:17'],
    ['tables {\n  siz: 1\n}', 'ERR_TEXT_UNKNOWN 2:3'],
    ['tables { size: 1 size: 2 }', 'ERR_TEXT_TWICE 1:18'],
    ['tables { match_fields { match_type: LPM other_match_type: "x" } }', 'ERR_TEXT_TWICE 1:41'],
    ['tables { match_fields { match_type: NONE } }', 'ERR_TEXT_UNKNOWN 1:37'],
    ['tables { size: 9223372036854775808 }', 'ERR_TEXT_VALUE 1:16'],
    [`tables { size: ${'9'.repeat(100_000)} }`, 'ERR_TEXT_VALUE 1:16'],
    ['tables { size: 1.5 }', 'ERR_TEXT_VALUE 1:16'],
    ['tables { size: 08 }', 'ERR_TEXT_VALUE 1:16'],
    ['tables { size: 12a }', 'ERR_TEXT_SYNTAX 1:16'],
    ['tables { preamble { id: -1 } }', 'ERR_TEXT_VALUE 1:25'],
    ['tables { size "1" }', 'ERR_TEXT_SYNTAX 1:15'],
    ['tables { is_const_table: 2 }', 'ERR_TEXT_VALUE 1:26'],
    ['pkg_info { name: "a\nb" }', 'ERR_TEXT_SYNTAX 1:18'],
    ['pkg_info { name: "\\q" }', 'ERR_TEXT_VALUE 1:19'],
    ['pkg_info { name: "\\377" }', 'ERR_TEXT_VALUE 1:18'],
    ['pkg_info { name: "\\ud800" }', 'ERR_TEXT_VALUE 1:19'],
    ['pkg_info { name: a }', 'ERR_TEXT_VALUE 1:18'],
    ['[p4.v1.x] { }', 'ERR_TEXT_UNKNOWN 1:1'],
    ['}', 'ERR_TEXT_SYNTAX 1:1'],
    ['tables { } é', 'ERR_TEXT_SYNTAX 1:12'],
  ])('of %j gives %j', (text, expected) => {
    expect(outcome(text)).toBe(expected);
  });

  it('ends at a depth that no program has', () => {
    const nested = (depth: number): string => `digests { type_spec { ${'tuple { members { '.repeat(depth)}`;
    const text = nested(1000);
    expect(outcome(text)).toMatch(/^ERR_TEXT_DEPTH/);
    expect(outcome(`${nested(40)}${' } }'.repeat(41)}`)).toMatch(/^digests/);
  });

  it('of any text gives a message or a typed error', () => {
    const words = fc.constantFrom(
      'tables',
      'size',
      'preamble',
      'id',
      '{',
      '}',
      '<',
      '>',
      '[',
      ']',
      ':',
      ',',
      ';',
      '-',
      '"a"',
      "'",
      '"',
      '1',
      '0x',
      '1.',
      '.',
      'inf',
      '#',
      '\n',
      ' ',
      '/',
      'type_info',
      'structs',
      'key',
      'value',
      '\\',
      '\0',
    );
    const anything = fc.oneof(
      fc.array(words, { maxLength: 40 }).map((all) => all.join('')),
      fc.string({ unit: 'binary' }),
    );
    fc.assert(
      fc.property(anything, (text) => {
        outcome(text);
      }),
      { numRuns: runs(20_000) },
    );
  });

  it('reads back what it has read, whatever is changed in a text that was fine', () => {
    const good = formatText(P4InfoSchema, sample());
    const change = fc.record({ at: fc.nat(good.length), cut: fc.nat(3), text: fc.string({ maxLength: 3 }) });
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
        let text = good;
        for (const { at, cut, text: put } of changes) text = text.slice(0, at) + put + text.slice(at + cut);
        const first = outcome(text);
        if (!first.startsWith('ERR_')) expect(outcome(first)).toBe(first);
      }),
      { numRuns: runs(20_000) },
    );
  });
});

function sample(): p4config.P4Info {
  return create(P4InfoSchema, {
    pkgInfo: create(p4config.PkgInfoSchema, { name: 'a "quoted"\n name', arch: 'v1model' }),
    tables: [
      create(p4config.TableSchema, {
        preamble: create(p4config.PreambleSchema, { id: 33_554_433, name: 'I.t', annotations: ['@a("é")'] }),
        size: 1024n,
        idleTimeoutBehavior: p4config.Table_IdleTimeoutBehavior.NOTIFY_CONTROL,
        matchFields: [
          create(p4config.MatchFieldSchema, {
            id: 1,
            match: { case: 'matchType', value: p4config.MatchField_MatchType.LPM },
          }),
        ],
      }),
    ],
  });
}

/** Write requests with entries of tables. */
const requests = fc
  .record({
    deviceId: fc.bigInt(0n, 2n ** 64n - 1n),
    role: fc.string({ unit: 'grapheme' }),
    election: fc.tuple(fc.bigInt(0n, 2n ** 64n - 1n), fc.bigInt(0n, 2n ** 64n - 1n)),
    entries: fc.array(
      fc.record({
        type: fc.constantFrom(0, 1, 2, 3, 9),
        tableId: fc.nat(),
        priority: fc.integer(),
        value: fc.uint8Array({ maxLength: 20 }),
        mask: fc.uint8Array({ maxLength: 20 }),
        ttl: fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
        isDefault: fc.boolean(),
      }),
      { maxLength: 4 },
    ),
  })
  .map(({ deviceId, role, election: [high, low], entries }) =>
    create(WriteRequestSchema, {
      deviceId,
      role,
      electionId: create(p4v1.Uint128Schema, { high, low }),
      updates: entries.map(({ type, tableId, priority, value, mask, ttl, isDefault }) => {
        const ternary = create(p4v1.FieldMatch_TernarySchema, {
          value: Uint8Array.from(value),
          mask: Uint8Array.from(mask),
        });
        const match = [
          create(p4v1.FieldMatchSchema, { fieldId: 1, fieldMatchType: { case: 'ternary', value: ternary } }),
        ];
        const entry = create(p4v1.TableEntrySchema, {
          tableId,
          priority,
          match,
          idleTimeoutNs: ttl,
          isDefaultAction: isDefault,
        });
        const entity = create(p4v1.EntitySchema, { entity: { case: 'tableEntry', value: entry } });
        return create(p4v1.UpdateSchema, { type: type as p4v1.Update_Type, entity });
      }),
    }),
  );

describe('formatText', () => {
  it('writes requests that parseText reads back', () => {
    fc.assert(
      fc.property(requests, (request) => {
        const again = parseText(WriteRequestSchema, formatText(WriteRequestSchema, request));
        expect(toBinary(WriteRequestSchema, again)).toEqual(toBinary(WriteRequestSchema, request));
      }),
      { numRuns: runs(5000) },
    );
  });

  it('writes as the reference does', () => {
    expect(formatText(P4InfoSchema, sample())).toBe(String.raw`pkg_info {
  name: "a \"quoted\"\n name"
  arch: "v1model"
}
tables {
  preamble {
    id: 33554433
    name: "I.t"
    annotations: "@a(\"\303\251\")"
  }
  match_fields {
    id: 1
    match_type: LPM
  }
  size: 1024
  idle_timeout_behavior: NOTIFY_CONTROL
}
`);
  });
});
