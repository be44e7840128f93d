import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pythonFloat } from '../../../src/control/command-text.js';
import { hexBytes, pythonInteger } from '../../../src/control/command-values.js';
import { seed } from '../tables/declarations.js';
import { type Bench, bench } from './programs.js';

function text(of: Bench, ...lines: readonly string[]): string[] {
  return lines.map((line) => of.commands.execute(line).text);
}

describe('table commands', () => {
  it('add an entry and say so', () => {
    const of = bench();
    const result = of.commands.execute('table_add ipv4_lpm forward 10.0.0.0/8 => 0x3ff');
    expect(result).toEqual({
      command: 'table_add',
      status: 'done',
      handle: 0,
      text: [
        'Adding entry to lpm match table ipv4_lpm',
        'match key:           LPM-0a:00:00:00/8',
        'action:              forward',
        'runtime data:        03:ff',
        'Entry has been added with handle 0',
      ].join('\n'),
    });
    expect(of.state.tables[1]!.lookup(0x0a010203)).toMatchObject({ action: 1, data: [0x1ff] });
  });

  it('take the priority from the end, for tables with ternary, optional or range keys', () => {
    const of = bench();
    const [added] = text(of, 'table_add acl drop 1.2.3.4&&&0xffff0000 3&&&0x1ff 2001:db8::/32 => 7');
    expect(added).toContain(
      'TERNARY-01:02:03:04 &&& ff:ff:00:00\tTERNARY-00:03 &&& 01:ff\tLPM-20:01:0d:b8:00:00:00:00:00:00:00:00:00:00:00:00/32',
    );
    expect(
      text(of, 'table_add ports drop 1->0x50 => 5', 'table_add ports drop 1->0x50 => x', 'table_dump_entry ports 0'),
    ).toEqual([
      [
        'Adding entry to range match table ports',
        'match key:           RANGE-00:01 -> 00:50',
        'action:              drop',
        'runtime data:        ',
        'Entry has been added with handle 0',
      ].join('\n'),
      'Error: Table is ternary, but could not extract a valid priority from args',
      [
        'Dumping entry 0x0',
        'Match key:',
        '* meta.l4             : RANGE     0001 -> 0050',
        'Priority: 5',
        'Action entry: MyIngress.drop - ',
      ].join('\n'),
    ]);
  });

  it('word errors as the command line does', () => {
    const of = bench();
    const lines: readonly (readonly [string, string])[] = [
      ['table_add', 'Error: Insufficient number of args'],
      ['table_add none drop 1 =>', 'Error: Invalid table name (none)'],
      ['table_add l2 drop 1 =>', 'Error: Invalid table name (l2)'],
      ['table_add ipv4_lpm none 1/1 =>', 'Error: Table ipv4_lpm has no action none'],
      ['table_add ipv4_lpm forward 1/1 =>', 'Error: Action MyIngress.forward needs 1 parameters'],
      ['table_add ipv4_lpm drop =>', 'Error: Table ipv4_lpm needs 1 key fields'],
      [
        'table_add ipv4_lpm drop 10.0.0.1 =>',
        "Invalid match key: Invalid LPM value 10.0.0.1, use '/' to separate prefix and length",
      ],
      ['table_add ipv4_lpm drop 10.0.0/8 =>', 'Invalid match key: Error while parsing 10.0.0 - Invalid IPv4 address'],
      [
        'table_add ipv4_lpm drop ten/8 =>',
        'Invalid match key: Error while parsing ten - Invalid input, could not cast to integer, try in hex with 0x prefix',
      ],
      [
        'table_add ipv4_lpm forward 10.0.0.0/8 => 0x10000',
        'Invalid runtime data: Error while parsing 0x10000 - Parameter is too large',
      ],
      [
        'table_add acl drop 1 2 3 => 4',
        "Invalid match key: Invalid ternary value 1, use '&&&' to separate key and mask",
      ],
      ['table_add ports drop 5->4 => 4', 'Invalid match key: start is less than end in expression 5->4'],
      ['table_delete ipv4_lpm x', 'Error: Bad format for entry handle'],
      ['table_delete ipv4_lpm', 'Error: Wrong number of args, expected 2 but got 1'],
      ['table_set_timeout acl 0 5', 'Error: Table acl does not support entry timeouts'],
      ['register_read none 1', 'Error: Invalid register name (none)'],
    ];
    for (const [line, message] of lines) {
      const result = of.commands.execute(line);
      expect([line, result.status, result.text]).toEqual([line, 'failed', message]);
      expect(result.error?.message).toBe(message);
    }
    expect(of.commands.execute('table_add ports drop 1->0 =>').status).toBe('failed');
  });

  it('name what the switch refuses', () => {
    const of = bench();
    const last = (line: string): string => text(of, line)[0]!.split('\n').at(-1)!;
    expect(last('table_add MyIngress.l2 drop 1 =>')).toBe('Entry has been added with handle 0');
    expect(last('table_add MyIngress.l2 drop 00:00:00:00:00:01 =>')).toBe('Invalid table operation (DUPLICATE_ENTRY)');
    expect(last('table_add MyIngress.l2 drop 2 =>')).toBe('Entry has been added with handle 1');
    expect(last('table_add MyIngress.l2 drop 3 =>')).toBe('Invalid table operation (TABLE_FULL)');
    expect(last('table_delete MyIngress.l2 5')).toBe('Invalid table operation (INVALID_HANDLE)');
    expect(last('table_delete MyIngress.l2 0')).toBe('Deleting entry 0 from MyIngress.l2');
    expect(last('table_add MyIngress.l2 drop 3 =>')).toBe('Entry has been added with handle 16777216');
    expect(last('table_delete MyIngress.l2 0')).toBe('Invalid table operation (EXPIRED_HANDLE)');
    expect(last('table_add ipv4_lpm drop 1.2.3.4/33 =>')).toBe('Invalid table operation (BAD_MATCH_KEY)');
    expect(last('table_add fixed drop 5 =>')).toBe('Invalid table operation (IMMUTABLE_TABLE_ENTRIES)');
    expect(last('table_set_default acl drop')).toBe('Invalid table operation (DEFAULT_ENTRY_IS_CONST)');
    expect(last('table_add ecmp drop 1 =>')).toBe('Invalid table operation (WRONG_TABLE_TYPE)');
    expect(last('table_num_entries MyIngress.l2')).toBe('2');
    expect(text(of, 'table_clear MyIngress.l2', 'table_num_entries MyIngress.l2')).toEqual(['', '0']);
  });

  it('show tables, actions and defaults', () => {
    const of = bench();
    expect(text(of, 'table_set_default ipv4_lpm forward 2', 'table_dump ipv4_lpm', 'table_info acl')).toEqual([
      'Setting default action of ipv4_lpm\naction:              forward\nruntime data:        00:02',
      '==========\nTABLE ENTRIES\n==========\nDumping default entry\nAction entry: MyIngress.forward - 02\n==========',
      [
        `${'MyIngress.acl'.padEnd(30)} [implementation=None, mk=hdr.ipv4.src(ternary, 32),\tmeta.port(ternary, 9),\thdr.ipv6.dst(lpm, 128)]`,
        '*'.repeat(80),
        `${'MyIngress.drop'.padEnd(30)} []`,
        `${'MyIngress.forward'.padEnd(30)} [port(9)]`,
        `${'MyIngress.rewrite'.padEnd(30)} [mac(48),\tdelta(8)]`,
        `${'NoAction'.padEnd(30)} []`,
      ].join('\n'),
    ]);
    of.commands.execute('table_reset_default ipv4_lpm');
    expect(text(of, 'table_dump ipv4_lpm')[0]).toContain('Action entry: NoAction - ');
    expect(text(of, 'show_tables')[0]!.split('\n')).toHaveLength(9);
    expect(text(of, 'show_actions')[0]!.split('\n')).toHaveLength(5);
  });
});

describe('action profile commands', () => {
  it('make members and groups, by profile and by table', () => {
    const of = bench();
    expect(
      text(
        of,
        'act_prof_create_member sel forward 1',
        'table_indirect_create_member ecmp forward 2',
        'act_prof_create_group sel',
        'act_prof_add_member_to_group sel 0 0',
        'act_prof_add_member_to_group sel 1 0',
        'act_prof_add_member_to_group sel 1 0',
        'table_indirect_add_with_group ecmp 10.0.0.1 => 0',
        'table_indirect_add ecmp 10.0.0.2 => 1',
        'table_indirect_set_default ecmp 1',
        'act_prof_delete_member sel 1',
        'act_prof_delete_group sel 0',
        'table_indirect_add indirect 10.0.0.0/8 => 0',
        'act_prof_create_group prof',
        'act_prof_create_member prof rewrite 1 2',
        'table_indirect_add MyIngress.l2 1 => 0',
      ),
    ).toEqual([
      'Member has been created with handle 0',
      'Member has been created with handle 1',
      'Group has been created with handle 0',
      '',
      '',
      'Invalid table operation (MBR_ALREADY_IN_GRP)',
      'Adding entry to indirect match table MyIngress.ecmp\nEntry has been added with handle 0',
      'Adding entry to indirect match table MyIngress.ecmp\nEntry has been added with handle 1',
      '',
      'Invalid table operation (MBR_STILL_USED)',
      'Invalid table operation (GRP_STILL_USED)',
      'Adding entry to indirect match table MyIngress.indirect\nInvalid table operation (INVALID_MBR_HANDLE)',
      'Error: Cannot run this command on an action profile without selector',
      "Error: Action profile 'prof' has no action 'rewrite'",
      'Error: Cannot run this command on non-indirect table',
    ]);
    expect(text(of, 'table_dump ecmp')[0]!.split('\n')).toEqual([
      '==========',
      'TABLE ENTRIES',
      '**********',
      'Dumping entry 0x0',
      'Match key:',
      '* hdr.ipv4.dst        : EXACT     0a000001',
      'Index: group(0)',
      '**********',
      'Dumping entry 0x1',
      'Match key:',
      '* hdr.ipv4.dst        : EXACT     0a000002',
      'Index: member(1)',
      '==========',
      'MEMBERS',
      '**********',
      'Dumping member 0',
      'Action entry: MyIngress.forward - 01',
      '**********',
      'Dumping member 1',
      'Action entry: MyIngress.forward - 02',
      '==========',
      'GROUPS',
      '**********',
      'Dumping group 0',
      'Members: [0, 1]',
      '==========',
      'Dumping default entry',
      'Index: member(1)',
      '==========',
    ]);
  });
});

describe('commands for extern objects', () => {
  it('read and write registers', () => {
    const of = bench();
    expect(
      text(
        of,
        'register_write MyIngress.state 1 5',
        'register_read MyIngress.state 1',
        'register_read MyIngress.state',
        'register_write MyIngress.state 3 5',
        'register_write MyEgress.state 0 257',
        'register_read MyEgress.state 0',
        'register_write MyEgress.state 0 0x10',
        'register_reset MyIngress.state',
        'register_read MyIngress.state',
      ),
    ).toEqual([
      '',
      'MyIngress.state[1]= 5',
      'MyIngress.state= 0, 5, 0',
      'Invalid register operation (INVALID_INDEX)',
      '',
      'MyEgress.state[0]= 1',
      'Error: Bad format for value, must be an integer',
      '',
      'MyIngress.state= 0, 0, 0',
    ]);
    expect(of.commands.execute('register_read MyEgress.state').values).toEqual([1n, 0n]);
  });

  it('read, write and reset counters, also of entries', () => {
    const of = bench();
    of.commands.execute('table_add MyIngress.l2 drop 1 =>');
    of.clock.packetLength = 70;
    of.state.tables[0]!.lookup(1n);
    expect(
      text(
        of,
        'counter_read hits 0',
        'counter_write packets 2 3 4',
        'counter_read packets 2',
        'counter_reset packets',
        'counter_read packets 2',
        'counter_read packets 4',
        'counter_read hits 1',
      ),
    ).toEqual([
      'this is the direct counter for table MyIngress.l2\nhits[0]= (70 bytes, 1 packets)',
      'packets[2] has been updated',
      'packets[2]= (4 bytes, 3 packets)',
      '',
      'packets[2]= (0 bytes, 0 packets)',
      'Invalid counter operation (INVALID_INDEX)',
      'this is the direct counter for table MyIngress.l2\nInvalid table operation (INVALID_HANDLE)',
    ]);
  });

  it('set and show rates of meters', () => {
    const of = bench();
    expect(
      text(
        of,
        'meter_set_rates rate 0 0.00001:1 2:7',
        'meter_get_rates rate 0',
        'meter_get_rates rate 1',
        'meter_array_set_rates rate 1:2 3:4',
        'meter_get_rates rate 3',
        'meter_set_rates rate 0 2:1 1:1',
        'meter_set_rates rate 0 2:1',
        'meter_set_rates rate 0 a:1 2:2',
        'meter_set_rates rate 9 1:1 2:2',
        'meter_set_rates entry_rate 0 1:1 2:2',
      ),
    ).toEqual([
      '',
      '0: info rate = 1e-05, burst size = 1\n1: info rate = 2.0, burst size = 7',
      'WARNING: expected 2 rates but only received 0',
      '',
      '0: info rate = 1.0, burst size = 2\n1: info rate = 3.0, burst size = 4',
      'Invalid meter operation (INVALID_INFO_RATE_VALUE)',
      'Error: Invalid number of rates, expected 2 but got 1',
      'Error: Error while parsing rates',
      'Invalid meter operation (INVALID_INDEX)',
      'Invalid table operation (INVALID_HANDLE)',
    ]);
  });

  it('set parameters of custom CRCs by the name of the calculation', () => {
    const of = bench();
    const ascii = new TextEncoder().encode('123456789');
    expect(
      text(
        of,
        'set_crc16_parameters calc_0 0x1021 0xffff 0 false 0',
        'set_crc32_parameters calc 0x1edc6f41 0xffffffff 0xffffffff true True',
        'set_crc16_parameters calc 1 1 1 true true',
        'set_crc16_parameters calc_0 0x10000 1 1 true true',
        'set_crc16_parameters calc_0 1 1 1 maybe true',
        'set_crc16_parameters crc16_custom 1 1 1 true true',
      ),
    ).toEqual([
      '',
      '',
      'Error: Invalid crc16_custom name (calc)',
      'Error: Integer cannot fit within 16 bits',
      'Error: Invalid bool parameter',
      'Error: Invalid crc16_custom name (crc16_custom)',
    ]);
    expect(of.state.calculations.hash('calc_0', ascii, 9)).toBe(0x29b1n);
    expect(of.state.calculations.hash('calc', ascii, 9)).toBe(0xe3069283n);
    expect(of.state.calculations.hash('calc_2', ascii, 9)).toBe(0xbb3dn);
  });

  it('change value sets, several keys as one number', () => {
    const of = bench();
    expect(
      text(of, 'pvs_add types 0x800', 'pvs_add types 0x10000', 'pvs_add pairs 0xabc', 'pvs_get pairs', 'show_pvs'),
    ).toEqual([
      '',
      'Error: Input is too large, it should fit within 16 bits',
      '',
      '0abc',
      `${'MyParser.pairs'.padEnd(30)} [compressed bitwidth:12]\n${'MyParser.types'.padEnd(30)} [compressed bitwidth:16]`,
    ]);
    expect(of.state.valueSets[1]!.matches(0xa, 0xbc)).toBe(true);
    expect(of.state.valueSets[0]!.matches(0x800)).toBe(true);
    text(of, 'pvs_remove types 0x800', 'pvs_clear pairs');
    expect(of.state.valueSets.map((set) => set.members())).toEqual([[], []]);
  });
});

describe('replication commands', () => {
  it('make groups and nodes', () => {
    const of = bench();
    expect(
      text(
        of,
        'mc_mgrp_create 1',
        'mc_node_create 2 1 5 8 | 1 3',
        'mc_node_associate 1 0',
        'mc_node_associate 1 0',
        'mc_node_associate 2 0',
        'mc_node_associate 1 7',
        'mc_node_update 0 4 2',
        'mc_node_create 1 5 5',
        'mc_node_create 1 x',
        'mc_dump',
        'mc_node_dissociate 1 0',
        'mc_node_destroy 0',
        'mc_node_destroy 0',
        'mc_mgrp_destroy 1',
      ),
    ).toEqual([
      'Creating multicast group 1',
      'Creating node with rid 2 , port map 100100010 and lag map 1010\nnode was created with handle 0',
      'Associating node 0 to multicast group 1',
      'Associating node 0 to multicast group 1\nInvalid PRE operation (ERROR)',
      'Associating node 0 to multicast group 2\nInvalid PRE operation (INVALID_MGRP_HANDLE)',
      'Associating node 7 to multicast group 1\nInvalid PRE operation (INVALID_L1_HANDLE)',
      'Updating node 0 with port map 10100 and lag map ',
      "Error: Found duplicate port number '5'",
      "Error: 'x' is not a valid port number",
      [
        '==========',
        'MC ENTRIES',
        '**********',
        'mgrp(1)',
        '  -> (L1h=0, rid=2) -> (ports=[2, 4], lags=[])',
        '==========',
        'LAGS',
        '==========',
      ].join('\n'),
      'Dissociating node 0 from multicast group 1',
      'Destroying node 0',
      'Destroying node 0\nInvalid PRE operation (INVALID_L1_HANDLE)',
      'Destroying multicast group 1',
    ]);
  });

  it('set mirror sessions and queues', () => {
    const of = bench();
    expect(
      text(
        of,
        'mirroring_add 5 2',
        'mirroring_get 5',
        'mirroring_add_mc 5 3',
        'mirroring_get 5',
        'mirroring_delete 5',
        'mirroring_delete 5',
        'mirroring_get 5',
        'mirroring_add x 2',
        'set_queue_depth 10',
        'set_queue_rate 100 1 2',
      ),
    ).toEqual([
      '',
      'MirroringSessionConfig(port=2, mgid=None)',
      '',
      'MirroringSessionConfig(port=None, mgid=3)',
      '',
      'Invalid mirroring operation (SESSION_NOT_FOUND)',
      'Invalid mirroring operation (SESSION_NOT_FOUND)',
      'Error: Bad format for mirror_id, expected integer',
      '',
      '',
    ]);
    expect(of.queues).toEqual([
      ['depth', 10, undefined, undefined],
      ['rate', 100, 1, 2],
    ]);
  });
});

describe('commands that need more memory than there is', () => {
  it('fail and do not throw', () => {
    const of = bench();
    const ports = Array.from({ length: 40_000 }, (_, port) => port).join(' ');
    let result = of.commands.execute(`mc_set_lag_membership 0 ${ports}`);
    for (let lag = 1; result.status === 'done'; lag++)
      result = of.commands.execute(`mc_set_lag_membership ${lag} ${ports}`);
    const error = { code: 'ERR_CONTROL_NO_ROOM', message: 'Invalid table operation (TABLE_FULL)' };
    expect(result.error).toEqual(error);
    expect(bench(undefined, 0).commands.execute('act_prof_create_group sel').error).toEqual(error);
  });
});

describe('lines', () => {
  it('that are blank, comments or have no meaning here are ignored; others that are no commands are not', () => {
    const of = bench();
    const lines = [
      '',
      '# table_add x',
      '   ',
      'help',
      'port_add veth0 1',
      'table_frobnicate 1',
      '  table_num_entries   acl  ',
    ];
    const statuses = lines.map((line) => of.commands.execute(line)).map(({ command, status }) => [command, status]);
    expect(statuses).toEqual([
      ['', 'ignored'],
      ['', 'ignored'],
      ['', 'ignored'],
      ['help', 'ignored'],
      ['port_add', 'ignored'],
      ['table_frobnicate', 'unknown'],
      ['table_num_entries', 'done'],
    ]);
  });

  it('reset everything but mirror sessions', () => {
    const of = bench();
    text(
      of,
      'mirroring_add 1 2',
      'mc_mgrp_create 1',
      'table_add ipv4_lpm drop 0/0 =>',
      'register_write MyEgress.state 0 1',
    );
    expect(of.commands.execute('reset_state').status).toBe('done');
    expect(of.replication.multicastGroups()).toEqual([]);
    expect(of.replication.mirror(1)).toBeDefined();
    expect(text(of, 'table_num_entries ipv4_lpm', 'register_read MyEgress.state 0')).toEqual([
      '0',
      'MyEgress.state[0]= 0',
    ]);
  });

  it('of any words never make the interpreter throw', () => {
    const of = bench();
    const word = fc.constantFrom(
      'table_add',
      'table_modify',
      'table_delete',
      'table_set_default',
      'table_dump',
      'table_indirect_add',
      'table_clear',
      'act_prof_create_member',
      'act_prof_add_member_to_group',
      'act_prof_create_group',
      'counter_read',
      'meter_set_rates',
      'register_write',
      'mc_node_create',
      'mc_node_update',
      'mirroring_add',
      'pvs_add',
      'set_crc16_parameters',
      'table_dump_entry_from_key',
      'table_set_timeout',
      'set_queue_rate',
      'table_indirect_set_default_with_group',
      'MyIngress.l2',
      'ipv4_lpm',
      'acl',
      'ports',
      'fixed',
      'ecmp',
      'ERR_CONTROL_INDIRECT',
      'keyless',
      'sel',
      'prof',
      'hits',
      'packets',
      'rate',
      'entry_rate',
      'MyIngress.state',
      'types',
      'pairs',
      'calc',
      'forward',
      'drop',
      'rewrite',
      '=>',
      '|',
      '0',
      '1',
      '-1',
      '65536',
      '99999999999999999999999',
      '0x',
      '1/8',
      '1/-3',
      '1&&&1',
      '1->2',
      '2->1',
      '->',
      '&&&',
      '/',
      '1:1',
      ':',
      '10.0.0.1',
      '1.2',
      '00:00:00:00:00:01',
      '::1',
      'true',
      'NaN',
      '1e400:1',
    );
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 8 }), (words) => {
        const result = of.commands.execute(words.join(' '));
        expect(['done', 'failed', 'unknown']).toContain(result.status);
        expect(result.error === undefined).toBe(result.status === 'done');
      }),
      { seed, numRuns: 3000 },
    );
  });
});

describe('numbers in commands', () => {
  it('are read as Python reads them', () => {
    expect(
      ['0x1F', '0b101', '0o17', '12', '1_000', '+5', '-3', '00', '0'].map((each) => pythonInteger(each, 0)),
    ).toEqual([31n, 5n, 15n, 12n, 1000n, 5n, -3n, 0n, 0n]);
    for (const wrong of ['010', '', '1__0', '_1', '1_', '0x', 'ten', '1.0', '1e3']) {
      expect(pythonInteger(wrong, 0)).toBeUndefined();
    }
    expect(['010', '7', '0x7'].map((each) => pythonInteger(each, 10))).toEqual([10n, 7n, undefined]);
  });

  it('are written as Python writes them', () => {
    expect([1, 0.5, 1e-5, 1.5e-7, 1e16, 123456, 0].map(pythonFloat)).toEqual([
      '1.0',
      '0.5',
      '1e-05',
      '1.5e-07',
      '1e+16',
      '123456.0',
      '0.0',
    ]);
    expect(hexBytes(0x1ffn, 2, ':')).toBe('01:ff');
  });
});
