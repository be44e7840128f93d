import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { P4RuntimeClient, P4RuntimeServer, P4vmTarget } from '@int/p4runtime';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { LENGTH } from '../../../.ci/test/length.js';
import { BIN, run, temporaryFolder } from './run.js';
import { InTerminal } from './terminal.js';

const files = temporaryFolder();
const P4 = fileURLToPath(new URL('../../../p4', import.meta.url));

let target: P4vmTarget;
let server: P4RuntimeServer;
let at: string;
beforeEach(async () => {
  target = new P4vmTarget({ cpuPort: 510 });
  server = new P4RuntimeServer({ devices: [{ deviceId: 1, target }] });
  const { host, port } = await server.listen({ port: 0 });
  at = `${host}:${port}`;
});
afterEach(() => server.close());

const PROGRAM = `#include <core.p4>
#include <v1model.p4>
header h_t { bit<32> a; bit<16> b; bit<16> c; }
@controller_header("packet_out") header out_t { bit<9> port; bit<7> pad; }
@controller_header("packet_in") header in_t { bit<9> port; bit<7> pad; }
struct headers { out_t down; in_t up; h_t h; }
struct meta { }
parser P(packet_in p, out headers hdr, inout meta m, inout standard_metadata_t s) {
  value_set<bit<16>>(4) kinds;
  state start { transition select(s.ingress_port) { 510: cpu; default: h; } }
  state cpu { p.extract(hdr.down); transition h; }
  state h { p.extract(hdr.h); transition select(hdr.h.c) { kinds: accept; default: accept; } }
}
control V(inout headers hdr, inout meta m) { apply { } }
control I(inout headers hdr, inout meta m, inout standard_metadata_t s) {
  counter(4, CounterType.packets_and_bytes) seen;
  direct_counter(CounterType.packets) hits;
  meter(4, MeterType.bytes) rates;
  register<bit<16>>(3) cells;
  action_selector(HashAlgorithm.crc16, 8, 10) ways;
  action to(bit<9> port) { s.egress_spec = port; }
  action counted(bit<9> port) { hits.count(); s.egress_spec = port; }
  action drop() { mark_to_drop(s); }
  table exact_t { key = { hdr.h.a: exact; } actions = { to; drop; } default_action = drop(); size = 16; support_timeout = true; }
  table mixed_t { key = { hdr.h.a: ternary; hdr.h.b: range; hdr.h.c: optional; } actions = { counted; NoAction; } counters = hits; }
  table group_t { key = { hdr.h.a: lpm; hdr.h.b: selector; } actions = { to; drop; } implementation = ways; }
  apply { seen.count((bit<32>) hdr.h.b); exact_t.apply(); mixed_t.apply(); group_t.apply(); if (hdr.down.isValid()) { s.egress_spec = hdr.down.port; hdr.down.setInvalid(); } }
}
control E(inout headers hdr, inout meta m, inout standard_metadata_t s) {
  apply { if (s.egress_port == 510) { hdr.up.setValid(); hdr.up.port = s.ingress_port; hdr.up.pad = 0; } }
}
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out p, in headers hdr) { apply { p.emit(hdr.up); p.emit(hdr.h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
`;

/** Runs lines on a switch that runs the program. */
async function control(lines: string): ReturnType<typeof run> {
  const path = await files.write('control.p4', PROGRAM);
  return run(['p4', 'control', '--target', at, '-'], { input: `set_pipeline ${path}\n${lines}` });
}

const said = (text: string): string[] => text.split('\n').slice(1, -1);

/** All commands whose examples work one after the other, on a switch whose tables have the names that they use. */
const IN_ORDER = `table_add table_set_default table_reset_default
  show_tables show_actions table_info table_show_actions table_num_entries table_dump
  table_clear mc_mgrp_create mc_node_create mc_node_associate mc_node_update mirroring_add mirroring_add_mc mirroring_get
  mirroring_delete mc_dump mc_node_dissociate mc_node_destroy mc_mgrp_destroy
  table_modify table_set_timeout table_dump_entry table_dump_entry_from_key table_delete
  act_prof_create_member act_prof_create_group act_prof_modify_member act_prof_add_member_to_group act_prof_dump
  act_prof_dump_member act_prof_dump_group table_dump_member table_dump_group table_indirect_add
  table_indirect_add_with_group table_indirect_delete act_prof_remove_member_from_group
  table_indirect_add_member_to_group table_indirect_modify_member table_indirect_remove_member_from_group
  counter_write counter_read counter_reset meter_set_rates meter_get_rates meter_array_set_rates register_write register_read
  register_reset pvs_add pvs_get show_pvs pvs_remove pvs_clear show_pipeline packet_out help quit`.split(/\s+/);
/** What needs something else before it, or another switch. */
const APART =
  `act_prof_delete_group act_prof_delete_member digest_disable digest_enable set_pipeline table_indirect_create_group
  table_indirect_create_member table_indirect_delete_group table_indirect_delete_member table_indirect_reset_default
  watch`.split(/\s+/);

describe('int p4 control', () => {
  test('tells of each command how it is used, with an example that works', async () => {
    const program = await files.write(
      'help.p4',
      PROGRAM.replace('counted; NoAction;', 'counted; drop; NoAction;')
        .replaceAll('exact_t', 'hosts')
        .replaceAll('mixed_t', 'acl')
        .replaceAll('group_t', 'routes'),
    );
    const names = await run(['p4', 'control', '--target', at, '-'], { input: 'help\n' });
    const [list = '', hint] = names.stdout.split('\n');
    expect(hint).toBe('help COMMAND tells how a command is used');
    const all = list.split('  ');
    expect([...IN_ORDER, ...APART].sort()).toEqual(all);
    const told = await run(['p4', 'control', '--target', at, '-'], {
      input: [...IN_ORDER, ...APART].map((name) => `help ${name}\n`).join(''),
    });
    expect({ code: told.code, stderr: told.stderr }).toEqual({ code: 0, stderr: '' });
    const lines = told.stdout.split('\n').slice(0, -1);
    expect(lines).toHaveLength(3 * all.length);
    const examples = new Map<string, string>();
    for (const [index, name] of [...IN_ORDER, ...APART].entries()) {
      const [usage = '', text, example = ''] = lines.slice(3 * index, 3 * index + 3);
      expect(usage.split(' ')[0], usage).toBe(name);
      expect(text).toMatch(/^ {2}\S/);
      expect(example).toMatch(new RegExp(`^  for example: ${name}( |$)`));
      examples.set(name, example.slice('  for example: '.length));
    }
    // An entry of the table of hosts, of which other examples are, has the handle 0.
    const script = ['table_add hosts to 10.0.0.1 => 3', ...IN_ORDER.map((name) => examples.get(name)!)];
    const done = await run(['p4', 'control', '--target', at, '-'], {
      input: [`set_pipeline ${program}`, ...script].join('\n'),
    });
    expect({ code: done.code, stderr: done.stderr }).toEqual({ code: 0, stderr: '' });
    const none = await run(['p4', 'control', '--target', at, '-'], {
      input: 'help nothing\nhelp shell\nhelp toString\n',
    });
    expect(none.stdout).toBe('');
    expect(none.stderr).toMatch(
      /there is no command nothing[\s\S]*shell is left out: [\s\S]*there is no command toString/,
    );
  });

  test('fills, shows and changes tables', async () => {
    const { code, stdout, stderr } = await control(`# a comment

table_add exact_t to 10.0.0.1 => 3
table_add I.exact_t I.drop 0x0a000002 =>
table_add mixed_t counted 10.0.0.0&&&255.0.0.0 1->5 7&&&0xffff => 4 20
table_add mixed_t NoAction 0&&&0 0->65535 0&&&0 => 30
table_modify exact_t to 1 => 5
table_set_timeout exact_t 0 2000
table_delete exact_t 0
table_set_default exact_t to 9
table_dump exact_t
table_dump mixed_t
table_num_entries mixed_t
table_dump_entry_from_key mixed_t 0&&&0 0->65535 0&&&0 30
table_clear mixed_t
table_num_entries mixed_t
`);
    expect(stderr).toBe('');
    expect(code).toBe(0);
    expect(said(stdout)).toEqual([
      'Entry has been added with handle 0',
      'Entry has been added with handle 1',
      'Entry has been added with handle 0',
      'Entry has been added with handle 1',
      'Deleting entry 0 from I.exact_t',
      '==========',
      'TABLE ENTRIES',
      '**********',
      'Dumping entry 0x1',
      'Match key:',
      '* hdr.h.a             : EXACT     0a000002',
      'Action entry: I.to - 05',
      '==========',
      'Dumping default entry',
      'Action entry: I.to - 09',
      '==========',
      '==========',
      'TABLE ENTRIES',
      '**********',
      'Dumping entry 0x0',
      'Match key:',
      '* hdr.h.a             : TERNARY   0a000000 &&& ff000000',
      '* hdr.h.b             : RANGE     0001 -> 0005',
      '* hdr.h.c             : TERNARY   0007',
      'Priority: 20',
      'Action entry: I.counted - 04',
      '**********',
      'Dumping entry 0x1',
      'Match key:',
      '* hdr.h.a             : TERNARY   *',
      '* hdr.h.b             : RANGE     *',
      '* hdr.h.c             : TERNARY   *',
      'Priority: 30',
      'Action entry: NoAction - ',
      '==========',
      'Dumping default entry',
      'Action entry: NoAction - ',
      '==========',
      '2',
      'Dumping entry 0x1',
      'Match key:',
      '* hdr.h.a             : TERNARY   *',
      '* hdr.h.b             : RANGE     *',
      '* hdr.h.c             : TERNARY   *',
      'Priority: 30',
      'Action entry: NoAction - ',
      '0',
    ]);
  });

  test('reads and writes counters, meters, registers, value sets and the replication engine', async () => {
    const { code, stdout, stderr } = await control(`table_add mixed_t counted 0&&&0 0->65535 0&&&0 => 4 1
counter_write seen 2 5 600
counter_read seen 2
counter_write hits 0 7 0
counter_read I.hits 0
counter_reset seen
counter_read seen 2
meter_set_rates rates 1 0.001:10 0.002:20
meter_get_rates rates 1
meter_array_set_rates rates 1:1 2:2
meter_get_rates rates 3
register_write cells 1 0x1234
register_read cells
register_read cells 1
register_reset cells
register_read cells
pvs_add kinds 0x800
pvs_add kinds 5
pvs_remove kinds 5
pvs_get kinds
show_pvs
mc_mgrp_create 7
mc_node_create 3 1 2
mc_node_create 4 5
mc_node_associate 7 0
mc_node_associate 7 1
mc_node_dissociate 7 0
mc_dump
mirroring_add 9 6
mirroring_add 9 5
mirroring_get 9
mirroring_delete 9
`);
    expect(stderr).toBe('');
    expect(code).toBe(0);
    expect(said(stdout)).toEqual([
      'Entry has been added with handle 0',
      'seen[2] has been updated',
      'seen[2]= (600 bytes, 5 packets)',
      'hits[0] has been updated',
      'I.hits[0]= (0 bytes, 7 packets)',
      'seen[2]= (0 bytes, 0 packets)',
      '0: info rate = 0.001, burst size = 10',
      '1: info rate = 0.002, burst size = 20',
      '0: info rate = 1, burst size = 1',
      '1: info rate = 2, burst size = 2',
      'cells= 0, 4660, 0',
      'cells[1]= 4660',
      'cells= 0, 0, 0',
      '0800',
      `${'P.kinds'.padEnd(30)} [compressed bitwidth:16]`,
      'Creating multicast group 7',
      'node was created with handle 0',
      'node was created with handle 1',
      '==========',
      'MC ENTRIES',
      '**********',
      'mgrp(7)',
      '  -> (rid=4) -> port 5',
      '==========',
      'MirroringSessionConfig(ports=[5 (instance 0)], length=0)',
    ]);
  });

  test('handles members and groups of action profiles', async () => {
    const { code, stdout, stderr } = await control(`act_prof_create_member ways to 1
table_indirect_create_member group_t to 2
act_prof_create_group ways
act_prof_add_member_to_group ways 0 0
act_prof_add_member_to_group ways 1 0
act_prof_remove_member_from_group ways 0 0
act_prof_modify_member ways drop 0
table_indirect_add group_t 10.0.0.0/8 => 0
table_indirect_add_with_group group_t 11.0.0.0/8 => 0
act_prof_dump ways
table_dump group_t
table_indirect_delete group_t 0
act_prof_delete_member ways 0
`);
    expect(stderr).toBe('');
    expect(code).toBe(0);
    const lines = said(stdout);
    expect(lines).toContain('Group has been created with handle 0');
    const dump = lines.indexOf('==========');
    expect(lines.slice(dump, dump + 13)).toEqual([
      '==========',
      'MEMBERS',
      '**********',
      'Dumping member 0',
      'Action entry: I.drop - ',
      '**********',
      'Dumping member 1',
      'Action entry: I.to - 02',
      '==========',
      'GROUPS',
      '**********',
      'Dumping group 0',
      'Members: [1]',
    ]);
    expect(lines).toContain('Index: group(1)');
  });

  test('sends packets, and shows those that come up', async () => {
    const { code, stdout, stderr } = await control('packet_out port=510 pad=0 0a0000010002 0003\nwatch 5 1\n');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^The pipeline is set\npacket \{"port":"510","pad":"0"\} 0a00000100020003\n$/);
  });

  test('talks at a terminal, completes names with Tab, and ends at Ctrl-D', async () => {
    const path = await files.write('talk.p4', PROGRAM);
    const command = [process.execPath, BIN, 'p4', 'control', '--target', at];
    const terminal = new InTerminal(command, { columns: 120, rows: 40 });
    await terminal.see(/P4> /);
    terminal.type(`set_pipeline ${path}\r`);
    let seen = await terminal.see(/The pipeline is set/);
    // A terminal takes a tab among other characters as pasted.
    for (const [typed, shown] of [
      ['table_num_en', /table_num_en/],
      ['\t', /tries /],
      ['I.exa', /I\.exa/],
      ['\t', /ct_t /],
    ] as const) {
      terminal.type(typed);
      seen = await terminal.see(shown, seen);
    }
    terminal.type('\r');
    seen = await terminal.see(/\n0\r?\n/, seen);
    terminal.type('jump\r');
    seen = await terminal.see(/int: there is no command jump/, seen);
    terminal.type('\x04');
    expect(await terminal.end()).toBe(0);
  });

  test('tells what is wrong with its line, goes on, and ends with 1', async () => {
    const { code, stdout, stderr } = await control(`table_add nowhere to 1 => 2
table_add exact_t to 1 2 => 3
table_add exact_t counted 1 => 3
table_add exact_t to 1 => 512
jump
set_crc32_parameters calc 0 0 0 0 0
register_read cells 7
table_add exact_t to 1 => 3
table_add exact_t to 1 => 3
show_tables
`);
    expect(code).toBe(1);
    expect(stderr.split('\n').slice(0, -1)).toEqual([
      'int: standard input:2: there is no table nowhere',
      'int: standard input:3: the table I.exact_t has 1 key fields, and 2 are given',
      'int: standard input:4: the table has no action counted',
      'int: standard input:5: port: 512 does not fit in 9 bits',
      'int: standard input:6: there is no command jump',
      'int: standard input:7: set_crc32_parameters is left out: P4Runtime does not change calculations',
      expect.stringMatching(/^int: standard input:8: .*OUT_OF_RANGE/),
      expect.stringMatching(/^int: standard input:10: .*ALREADY_EXISTS/),
    ]);
    expect(said(stdout)[1]).toBe(`${'I.exact_t'.padEnd(30)} [implementation=None, mk=hdr.h.a(exact, 32)]`);
  });

  test('says what to do if another controller has its election id, or a higher one', async () => {
    const other = new P4RuntimeClient({ target: at, electionId: 5 });
    onTestFinished(() => other.close());
    await other.connect();
    const args = ['p4', 'control', '--target', at, '-'];
    const taken = await run([...args, '--election-id', '5'], { input: '' });
    expect(taken.code).toBe(3);
    expect(taken.stderr).toContain('another controller is there: give a free --election-id, and a higher one to write');
    const lower = await run([...args, '--election-id', '4'], { input: '' });
    expect(lower.code).toBe(0);
    expect(lower.stderr).toContain('another controller is the primary: this one may read, not write');
  });

  test('ends with 3 if nobody is there, with 2 for a wrong command line', async () => {
    expect(await run(['p4', 'control', '--target', '127.0.0.1:1', '-'], { input: '' })).toMatchObject({ code: 3 });
    expect(await run(['p4', 'control', '--target', 'here'])).toMatchObject({ code: 2 });
    expect(await run(['p4', 'control', '--tls-cert', 'x'])).toMatchObject({ code: 2 });
  });

  test.each(['int', 'intmon', 'gpint', 'dart', 'flowcache'])(
    'runs the files of commands of %s.p4 unchanged',
    async (name) => {
      const folder = join(P4, name, 'commands');
      // The first of each, which compiles the program twice; all in the long form.
      for (const file of readdirSync(folder).slice(0, LENGTH > 1 || name === 'int' ? undefined : 1)) {
        const input = `set_pipeline ${join(P4, `${name}.p4`)}\n`;
        expect(await run(['p4', 'control', '--target', at, '-'], { input })).toMatchObject({ code: 0, stderr: '' });
        const { stderr } = await run(['p4', 'control', '--target', at, join(folder, file)]);
        // All that P4Runtime has requests for.
        const others = stderr.split('\n').filter((line) => line !== '' && !/ is left out: P4Runtime /.test(line));
        expect(others, file).toEqual([]);
      }
    },
    120_000,
  );
});
