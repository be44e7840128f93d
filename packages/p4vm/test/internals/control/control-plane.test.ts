import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseInteger, parseIpv4, parseIpv6, parseMac } from '../../../src/control/address-text.js';
import { describeProgram } from '../../../src/control/describe-program.js';
import { formatMatch, parseMatch, parseValue, type ValueNames } from '../../../src/control/value-input.js';
import { nameCalculations } from '../../../src/externs/calculation-names.js';
import { ControlError, type ControlErrorCode } from '../../../src/tables/control-error.js';
import { canonicalMatch, matchesPattern } from '../../../src/tables/key-match.js';
import { bits, hashAlgorithm, program, seed, table } from '../tables/declarations.js';
import { bench, block, fullProgram, hashCall, hashing } from './programs.js';

function refusal(attempt: () => unknown): ControlErrorCode | undefined {
  try {
    attempt();
    return undefined;
  } catch (error) {
    if (error instanceof ControlError) return error.code;
    throw error;
  }
}

const names: ValueNames = { errors: ['NoError', 'PacketTooShort'], enums: new Map() };

describe('values', () => {
  it('are numbers, addresses, or names', () => {
    const read = (width: number, input: Parameters<typeof parseValue>[1]): bigint =>
      parseValue(bits(width), input, 'x', names);
    expect(read(32, '10.0.1.255')).toBe(0x0a0001ffn);
    expect(read(48, '00:1b:21:3c:9d:f8')).toBe(0x001b213c9df8n);
    expect(read(128, '2001:db8::1')).toBe(0x20010db8000000000000000000000001n);
    expect(read(16, '0x800')).toBe(0x800n);
    expect(read(16, 5)).toBe(5n);
    expect(read(1, true)).toBe(1n);
    expect(read(8, -1)).toBe(255n);
    expect(parseValue({ kind: 'error' }, 'error.PacketTooShort', 'x', names)).toBe(1n);
    expect(parseValue(hashAlgorithm(), 'crc16', 'x', names)).toBe(2n);
    expect(parseValue({ kind: 'bool' }, 'true', 'x', names)).toBe(1n);
  });

  it('are refused if they do not fit or cannot be read', () => {
    const code = (width: number, input: Parameters<typeof parseValue>[1]): ControlErrorCode | undefined =>
      refusal(() => parseValue(bits(width), input, 'x', names));
    expect(code(8, 256)).toBe('ERR_CONTROL_VALUE_TOO_WIDE');
    expect(code(8, -129)).toBe('ERR_CONTROL_VALUE_TOO_WIDE');
    expect(code(8, 0.5)).toBe('ERR_CONTROL_BAD_VALUE');
    expect(code(16, '10.0.0.1')).toBe('ERR_CONTROL_BAD_VALUE');
    expect(code(32, '10.0.0.256')).toBe('ERR_CONTROL_BAD_VALUE');
    expect(code(48, '1:2:3:4:5')).toBe('ERR_CONTROL_BAD_VALUE');
    expect(code(128, '1::2::3')).toBe('ERR_CONTROL_BAD_VALUE');
    expect(code(32, '')).toBe('ERR_CONTROL_BAD_VALUE');
  });

  it('of IPv6 are read in all their spellings', () => {
    expect(parseIpv6('::')).toBe(0n);
    expect(parseIpv6('::1')).toBe(1n);
    expect(parseIpv6('1::')).toBe(1n << 112n);
    expect(parseIpv6('::ffff:1.2.3.4')).toBe(0xffff01020304n);
    expect(parseIpv6('1:2:3:4:5:6:7:8')).toBe(0x00010002000300040005000600070008n);
    for (const wrong of ['1:2:3:4:5:6:7', '1:2:3:4:5:6:7:8:9', '1:2:3:4:5:6:7::8', ':1', '12345::', '::1.2.3']) {
      expect(parseIpv6(wrong)).toBeUndefined();
    }
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 }), (groups) => {
        const text = groups.map((group) => group.toString(16)).join(':');
        expect(parseIpv6(text)).toBe(groups.reduce((value, group) => (value << 16n) | BigInt(group), 0n));
      }),
      { seed },
    );
  });

  it('never throw anything but control errors', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom(1, 9, 32, 48, 128), (text, width) => {
        refusal(() => parseValue(bits(width), text, 'x', names));
        refusal(() => parseMatch({ name: 'k', kind: 'ternary', width }, bits(width), text, names));
        for (const parse of [parseInteger, parseIpv4, parseMac, parseIpv6]) parse(text);
      }),
      { seed, numRuns: 500 },
    );
  });
});

describe('matches', () => {
  it('written as text match the same values when read again', () => {
    const width = 16;
    const number = fc.bigInt({ min: 0n, max: 0xffffn });
    const inputs = fc.oneof(
      fc.record({ kind: fc.constant('lpm' as const), value: number, length: fc.integer({ min: 0, max: 16 }) }),
      fc.record({ kind: fc.constant('ternary' as const), value: number, mask: number }),
      fc.record({ kind: fc.constant('range' as const), low: number, high: number }),
    );
    fc.assert(
      fc.property(inputs, number, (input, probe) => {
        let text: string;
        if (input.kind === 'lpm') text = `${input.value}/${input.length}`;
        else if (input.kind === 'ternary') text = `${input.value} &&& 0x${input.mask.toString(16)}`;
        else text = input.low < input.high ? `${input.low}..${input.high}` : `${input.high}->${input.low}`;
        const shape = { name: 'k', kind: input.kind, width };
        const match = canonicalMatch(shape, parseMatch(shape, bits(width), text, names));
        const again = canonicalMatch(shape, parseMatch(shape, bits(width), formatMatch(match), names));
        expect(matchesPattern(width, again, probe)).toBe(matchesPattern(width, match, probe));
        expect(formatMatch(again)).toBe(formatMatch(match));
      }),
      { seed, numRuns: 300 },
    );
  });
});

describe('tables by name', () => {
  it('are found by full names and by ends that are not shared', () => {
    const { control } = bench();
    expect(control.table('ipv4_lpm').name).toBe('MyIngress.ipv4_lpm');
    expect(control.table('MyEgress.l2').name).toBe('MyEgress.l2');
    expect(refusal(() => control.table('l2'))).toBe('ERR_CONTROL_UNKNOWN_TABLE');
    expect(refusal(() => control.table('pv4_lpm'))).toBe('ERR_CONTROL_UNKNOWN_TABLE');
  });

  it('take entries by the names of keys and parameters, and show them so', () => {
    const { control } = bench();
    const acl = control.table('acl');
    const handle = acl.add({
      match: { 'hdr.ipv4.src': '10.0.0.0&&&255.0.0.0', port: 3 },
      action: 'rewrite',
      params: { mac: '00:00:00:00:00:01', delta: -2 },
      priority: 4,
    });
    expect(acl.entries()).toEqual([
      {
        handle,
        match: { 'hdr.ipv4.src': '0xa000000&&&0xff000000', 'meta.port': '0x3&&&0x1ff', 'hdr.ipv6.dst': '0x0/0' },
        keys: acl.runtime.entry(handle).keys,
        priority: 4,
        action: 'MyIngress.rewrite',
        params: { mac: 1n, delta: 254n },
        member: undefined,
        group: undefined,
        isConst: false,
      },
    ]);
    expect(acl.runtime.lookup(0x0a0b0c0d, 3, 5n)).toMatchObject({ action: 3, data: [1n, -2] });
    expect(acl.find({ 'hdr.ipv4.src': ['10.0.0.0', '255.0.0.0'], port: 3 }, 4)).toBe(handle);
    acl.modify(handle, { action: 'drop' });
    expect(acl.entry(handle).action).toBe('MyIngress.drop');
    acl.delete(handle);
    expect(acl.count).toBe(0);
  });

  it('refuse what does not fit with a code that says why', () => {
    const { control } = bench();
    const l2 = control.table('MyIngress.l2');
    const add = (entry: Parameters<typeof l2.add>[0]): ControlErrorCode | undefined => refusal(() => l2.add(entry));
    expect(add({ match: [1], action: 'nothing' })).toBe('ERR_CONTROL_UNKNOWN_ACTION');
    expect(add({ match: { 'hdr.eth.src': 1 }, action: 'drop' })).toBe('ERR_CONTROL_UNKNOWN_KEY');
    expect(add({ match: [1, 2], action: 'drop' })).toBe('ERR_CONTROL_WRONG_ARITY');
    expect(add({ match: {}, action: 'drop' })).toBe('ERR_CONTROL_BAD_MATCH');
    expect(add({ match: [1], action: 'forward' })).toBe('ERR_CONTROL_WRONG_ARITY');
    expect(add({ match: [1], action: 'forward', params: [1, 2] })).toBe('ERR_CONTROL_WRONG_ARITY');
    expect(add({ match: [1], action: 'forward', params: { prt: 1 } })).toBe('ERR_CONTROL_UNKNOWN_PARAMETER');
    expect(add({ match: [1], action: 'forward', params: [512] })).toBe('ERR_CONTROL_VALUE_TOO_WIDE');
    expect(add({ match: [1n << 48n], action: 'drop' })).toBe('ERR_CONTROL_VALUE_TOO_WIDE');
    expect(add({ match: [1] })).toBe('ERR_CONTROL_WRONG_ARITY');
    expect(add({ match: [1], member: 0 })).toBe('ERR_CONTROL_NOT_INDIRECT');
    expect(l2.count).toBe(0);
    l2.add({ match: [1], action: 'drop' });
    expect(add({ match: [1], action: 'drop' })).toBe('ERR_CONTROL_DUPLICATE_ENTRY');
    l2.add({ match: [2], action: 'drop' });
    expect(add({ match: [3], action: 'drop' })).toBe('ERR_CONTROL_TABLE_FULL');
    expect(refusal(() => control.table('fixed').add({ match: [2], action: 'drop' }))).toBe('ERR_CONTROL_CONST_TABLE');
    expect(refusal(() => control.table('acl').setDefault({ action: 'drop' }))).toBe('ERR_CONTROL_CONST_DEFAULT');
    expect(refusal(() => control.table('acl').add({ match: [0, '1&&&3', 0], action: 'drop' }))).toBe(
      'ERR_CONTROL_BAD_MATCH',
    );
  });

  it('point to members and groups of action profiles', () => {
    const { control } = bench();
    const profile = control.profile('sel');
    const members = [1, 2].map((port) => control.addMember('sel', 'forward', [port]));
    const group = profile.createGroup();
    for (const each of members) profile.addToGroup(each, group);
    const ecmp = control.table('ecmp');
    ecmp.add({ match: ['10.0.0.1'], group });
    const found = new Set<unknown>();
    for (let src = 0; src < 64; src++) found.add(ecmp.runtime.lookup(0x0a000001, src).data[0]);
    expect(found).toEqual(new Set([1, 2]));
    ecmp.setDefault({ member: members[1]! });
    expect(ecmp.default).toMatchObject({ member: members[1] });
    expect(ecmp.entries()[0]).toMatchObject({ group, member: undefined, action: undefined });
    expect(refusal(() => control.addMember('sel', 'rewrite', [1, 2]))).toBe('ERR_CONTROL_UNKNOWN_ACTION');
  });
});

describe('extern objects by name', () => {
  it('are read and written', () => {
    const { control, clock } = bench();
    control.register('MyIngress.state').set(1, 77n);
    expect(control.register('MyIngress.state').get(1)).toBe(77n);
    expect(refusal(() => control.register('state'))).toBe('ERR_CONTROL_UNKNOWN_EXTERN');
    clock.packetLength = 90;
    control.counter('packets').count(3);
    expect(control.counter('packets').read(3)).toEqual({ packets: 1, bytes: 90 });
    expect(refusal(() => control.counter('hits'))).toBe('ERR_CONTROL_WRONG_KIND');
    const l2 = control.table('MyIngress.l2');
    const handle = l2.add({ match: [9], action: 'drop' });
    l2.runtime.lookup(9n);
    expect(l2.counter(handle)).toEqual({ packets: 1, bytes: 90 });
    control.addToValueSet('types', ['0x800']);
    expect(control.valueSet('types').matches(0x800)).toBe(true);
    expect(refusal(() => control.addToValueSet('types', [1, 2]))).toBe('ERR_CONTROL_WRONG_ARITY');
    control.reset();
    expect(control.register('MyIngress.state').get(1)).toBe(0n);
    expect(control.counter('packets').read(3)).toEqual({ packets: 0, bytes: 0 });
    expect([l2.count, control.table('fixed').count]).toEqual([0, 1]);
  });

  it('replicate packets by the switch, if there is one', () => {
    const { control, replication } = bench();
    control.setMirror(5, { port: 2 });
    expect(replication.mirror(5)).toEqual({ port: 2 });
    expect(refusal(() => control.setMirror(0x8000, { port: 2 }))).toBe('ERR_CONTROL_BAD_SESSION');
    control.deleteMirror(5);
    expect(refusal(() => control.deleteMirror(5))).toBe('ERR_CONTROL_BAD_SESSION');
    control.addMulticastGroup(1, [{ ports: [1, 2] }, { ports: [3], replicationId: 9 }]);
    expect(replication.multicastGroups()).toMatchObject([
      {
        group: 1,
        nodes: [
          { ports: [1, 2], replicationId: 0 },
          { ports: [3], replicationId: 9 },
        ],
      },
    ]);
  });
});

describe('calculations', () => {
  it('are named in order: actions, bodies, checksums computed, checksums verified', () => {
    const found = nameCalculations(fullProgram()).map(({ name, algorithm }) => [name, algorithm]);
    expect(found).toEqual([
      ['calc', 'crc32_custom'],
      ['calc_0', 'crc16_custom'],
      ['calc_1', 'csum16'],
      ['calc_2', 'crc16_custom'],
    ]);
  });

  it('have a name per table that uses their action', () => {
    const base = program();
    const of = program({
      tables: [table({ id: 0, actions: [hashing] }), table({ id: 1, actions: [hashing] })],
      ingress: { ...base.ingress, actions: [hashing], body: block(hashCall('hash', 'crc16')) },
    });
    expect(nameCalculations(of)).toMatchObject([
      { name: 'calc', aliases: ['calc_0'], algorithm: 'crc16_custom' },
      { name: 'calc_1', aliases: [], algorithm: 'crc16' },
    ]);
  });
});

describe('the description of a program', () => {
  it('is plain data with everything the control plane can reach', () => {
    const description = describeProgram(fullProgram());
    expect(JSON.parse(JSON.stringify(description))).toEqual(description);
    expect(description.tables.map((each) => each.name)).toContain('MyIngress.acl');
    expect(description.tables[2]).toMatchObject({
      keys: [
        { name: 'hdr.ipv4.src', match: 'ternary', width: 32, kind: 'bit' },
        { name: 'meta.port', match: 'optional', width: 9, kind: 'bit' },
        { name: 'hdr.ipv6.dst', match: 'lpm', width: 128, kind: 'bit' },
      ],
      priorities: true,
      defaultAction: { name: 'NoAction', data: [], const: true },
    });
    expect(description.actions[3]).toMatchObject({
      name: 'MyIngress.rewrite',
      parameters: [
        { name: 'mac', width: 48, kind: 'bit' },
        { name: 'delta', width: 8, kind: 'int' },
      ],
    });
    expect(description.counters).toEqual([
      { name: 'MyIngress.packets', size: 4, unit: 'packets_and_bytes', table: null },
      { name: 'MyIngress.hits', size: null, unit: 'packets', table: 'MyIngress.l2' },
    ]);
    expect(description.meters[1]).toMatchObject({ name: 'MyIngress.entry_rate', table: 'MyIngress.ipv4_lpm' });
    expect(description.registers[0]).toEqual({ name: 'MyIngress.state', size: 3, width: 48, kind: 'bit' });
    expect(description.actionProfiles).toEqual([
      { name: 'MyIngress.sel', size: 8, selector: 'crc16', tables: ['MyIngress.ecmp'] },
      { name: 'MyIngress.prof', size: 8, selector: null, tables: ['MyIngress.indirect'] },
    ]);
    expect(description.digests).toEqual([
      {
        name: 'learn_t',
        fields: [
          { name: 'mac', width: 48, kind: 'bit' },
          { name: 'port', width: 9, kind: 'bit' },
        ],
      },
    ]);
    expect(description.valueSets[1]).toMatchObject({ name: 'MyParser.pairs', size: 4 });
    expect(description.calculations).toHaveLength(4);
  });
});
