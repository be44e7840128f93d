import { describe, expect, it } from 'vitest';
import type { CheckedProgram, CheckedTable } from '../../../src/check/checked-program.js';
import { describeType } from '../../../src/types/describe.js';
import { check, checkWell, typesOf, withControl, withParser } from './checking.js';

function tableOf(checked: CheckedProgram): CheckedTable {
  const [table] = checked.tables.values();
  if (table === undefined) throw new Error('no table');
  return table;
}

/** The only table of a control with these locals. */
function table(locals: string): CheckedTable {
  return tableOf(checkWell(withControl(locals)));
}

describe('keys of tables', () => {
  it('have the names and types of their expressions, or the names they are given', () => {
    const { keys } = table(`table t {
      key = {
        hdr.h.a : exact; hdr.stack[1].b : ternary; hdr.h.isValid() : exact; meta.wide[15:8] : lpm;
        hdr.h.b & 0x0FFF : ternary; meta.m + 1 : exact @name("sum"); std.ingress_port : optional; meta.e : exact;
        hdr.stack[meta.m].a : range;
      }
      actions = { NoAction; }
    }`);
    expect(keys.map(({ name, matchKind, type }) => [name, matchKind, describeType(type)])).toEqual([
      ['hdr.h.a', 'exact', 'bit<8>'],
      ['hdr.stack[1].b', 'ternary', 'bit<16>'],
      ['hdr.h.$valid$', 'exact', 'bool'],
      ['meta.wide[15:8]', 'lpm', 'bit<8>'],
      ['hdr.h.b & 0xfff', 'ternary', 'bit<16>'],
      ['sum', 'exact', 'bit<8>'],
      ['std.ingress_port', 'optional', 'bit<9>'],
      ['meta.e', 'exact', 'error'],
      ['hdr.stack[meta.m].a', 'range', 'bit<8>'],
    ]);
  });

  it('have the names that fields are given', () => {
    const checked = checkWell(
      withControl('table t { key = { meta.m : exact; } actions = { NoAction; } }')
        .replace('struct Meta { bit<8> m;', 'struct Meta { @name("count") bit<8> m; @name(".alone") bit<8> n;')
        .replace('meta.m : exact;', 'meta.m : exact; meta.n : exact;'),
    );
    expect(tableOf(checked).keys.map((key) => key.name)).toEqual(['meta.count', 'alone']);
  });

  it('may apply another table', () => {
    const checked = checkWell(
      withControl(
        'table s { actions = { NoAction; } }\ntable t { key = { s.apply().hit : exact @name("hit"); } actions = { NoAction; } }',
      ),
    );
    expect([...checked.calls.values()].filter((call) => call.kind === 'apply-table').length).toBe(1);
  });
});

describe('actions of tables', () => {
  it('have the arguments of the list for parameters with a direction', () => {
    const { actions, defaultAction, isDefaultConst } =
      table(`action a(inout bit<8> x, in bit<16> y, bit<8> z) { x = z; }
      table t { actions = { a(meta.m, 5); @tableonly NoAction; } const default_action = a(meta.m, 5, 9); }`);
    expect(
      actions.map((each) => [each.action.name.text, each.bound.map((bound) => bound.parameter.name.text)]),
    ).toEqual([
      ['a', ['x', 'y']],
      ['NoAction', []],
    ]);
    expect(actions.map((each) => each.isTableOnly)).toEqual([false, true]);
    expect(defaultAction?.action).toBe(actions[0]?.action);
    expect(defaultAction?.data.map((each) => each.parameter.name.text)).toEqual(['z']);
    expect(isDefaultConst).toBe(true);
  });

  it('may have a default without being told', () => {
    const { defaultAction, isDefaultConst } = table('table t { actions = { NoAction; } }');
    expect(defaultAction).toBeUndefined();
    expect(isDefaultConst).toBe(false);
  });
});

describe('entries of tables', () => {
  const keys = 'key = { meta.m : ternary; hdr.h.b : exact; } actions = { a; }';
  const action = 'action a(bit<8> x) { meta.m = x; }';

  it('have labels of the types of the keys, and data', () => {
    const checked = checkWell(
      withControl(
        `${action} table t { ${keys} const entries = { (81 &&& 82, 83) : a(84); (_, 85) : a(86); (Kind.one, 87) : a(Kind.two); } }`,
      ),
    );
    const { entries, areEntriesConst } = tableOf(checked);
    expect(entries.length).toBe(3);
    expect(areEntriesConst).toBe(true);
    expect(entries.every((entry) => entry.priority === undefined)).toBe(true);
    expect(typesOf(checked, '82')).toEqual(['bit<8>']);
    expect(typesOf(checked, '83')).toEqual(['bit<16>']);
    expect(typesOf(checked, '84')).toEqual(['bit<8>']);
    expect(typesOf(checked, '81 &&& 82')).toEqual(['set of bit<8>']);
    expect(entries[0]?.call.data.length).toBe(1);
  });

  it('have priorities that follow from the first, downwards if the largest wins', () => {
    const list =
      'entries = { priority = 90: (1, 1) : a(1); (2, 1) : a(1); priority = 40: (3, 1) : a(1); (4, 1) : a(1); }';
    const largest = table(`${action} table t { ${keys} priority_delta = 10; ${list} }`);
    expect(largest.entries.map((entry) => entry.priority)).toEqual([90, 80, 40, 30]);
    const smallest = table(`${action} table t { ${keys} largest_priority_wins = false; ${list} }`);
    expect(smallest.entries.map((entry) => entry.priority)).toEqual([90, 91, 40, 41]);
  });

  it('may be one label for all keys, a list in braces, or none at all', () => {
    expect(table(`${action} table t { ${keys} entries = { _ : a(1); } }`).entries.length).toBe(1);
    expect(table(`${action} table t { ${keys} entries = { { 1, 2 } : a(1); } }`).entries.length).toBe(1);
    expect(table(`${action} table t { ${keys} const entries = { } }`).entries.length).toBe(0);
  });

  it('are what the match kinds allow', () => {
    const right = [
      ['lpm', '0x10 &&& 0xf0'],
      ['lpm', '_'],
      ['range', '1 .. 5'],
      ['range', '3'],
      ['optional', '_'],
      ['optional', '4'],
      ['ternary', 'default'],
      ['exact', '1'],
    ];
    for (const [matchKind, label] of right) {
      const text = withControl(
        `table t { key = { meta.m : ${matchKind}; } actions = { NoAction; } entries = { ${label} : NoAction(); } }`,
      );
      expect([matchKind, label, check(text).found]).toEqual([matchKind, label, []]);
    }
  });
});

describe('properties of tables', () => {
  it('hold instances, numbers and flags', () => {
    expect(
      check(
        withControl(`direct_counter(CounterType.packets) c; direct_meter<bit<8>>(MeterType.bytes) m;
          table t { key = { meta.m : exact; hdr.h.a : selector; } actions = { NoAction; } size = 1 << 10; counters = c; meters = m;
            implementation = action_selector(HashAlgorithm.crc16, 32w4, 32w8); support_timeout = true; }`),
      ).found,
    ).toEqual([]);
  });
});

describe('labels of a select', () => {
  it('have the types of the keys', () => {
    const checked = checkWell(
      withParser(
        'state start { transition select(meta.m, hdr.h.b) { (91, 92): accept; (93 .. 94, _): accept; (1 &&& 3, default): accept; both: accept; _: reject; } }',
        'value_set<tuple<bit<8>, bit<16>>>(4) both;',
      ),
    );
    expect(typesOf(checked, '91')).toEqual(['bit<8>']);
    expect(typesOf(checked, '92')).toEqual(['bit<16>']);
    expect(typesOf(checked, '94')).toEqual(['bit<8>']);
    expect(typesOf(checked, 'both')).toEqual(['set of tuple<bit<8>, bit<16>>']);
  });

  it('may be members of enums, numbers of serializable ones and value sets of structs', () => {
    expect(
      check(
        withParser(
          `state start { transition select(Color.red) { Color.green: next; _: accept; } }
           state next { transition select((Kind) meta.m) { Kind.one: more; 3 &&& 3: accept; _: accept; } }
           state more { transition select(meta.m) { set: accept; _: reject; } }`,
          'value_set<Vs>(4) set;',
        ).replace('parser P(', 'struct Vs { @match(ternary) bit<8> x; }\nparser P('),
      ).found,
    ).toEqual([]);
  });
});
