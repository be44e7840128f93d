import { type HostileCase, times, v1model } from './hostile-case.js';

const SWITCH = v1model({
  locals: `register<bit<8>>(4194304) r; counter(16, CounterType.packets) c; meter(1000, MeterType.packets) u;
    action to(bit<9> port) { s.egress_spec = port; } action wide(bit<2048> x) { m.seen = (bit<32>)x; }
    table exact_t { key = { m.seen: exact; } actions = { to; wide; NoAction; } size = 16777216; }
    table ternary_t { key = { m.seen: ternary; } actions = { to; NoAction; } size = 16777216; }
    table lpm_t { key = { m.seen: lpm; } actions = { to; } size = 100; }
    action_selector(HashAlgorithm.crc32, 1000000, 16) sel;
    table sel_t { key = { m.seen: exact; hdr.h.a: selector; } actions = { to; } implementation = sel; }`,
  apply:
    'exact_t.apply(); ternary_t.apply(); lpm_t.apply(); sel_t.apply(); r.write(1, 1); c.count(1); bit<2> x; u.execute_meter(1, x);',
});

const copies = v1model({ apply: 's.mcast_grp = 1;' });
const ports = (count: number): string => times(count, (i) => `${i}`, ' ');

/** What commands and packet tests ask for. */
export const CONTROL_CASES: readonly HostileCase[] = [
  {
    name: 'commands: a million entries',
    text: () => SWITCH,
    commands: () => times(1_000_000, (i) => `table_add exact_t to ${i} => 1`),
    limits: { stateBytes: 50_000_000 },
    ends: 'refused: ERR_CONTROL_NO_ROOM',
  },
  {
    name: 'commands: 20,000 entries with 20,000 masks',
    text: () => SWITCH,
    commands: () => times(20_000, (i) => `table_add ternary_t to ${i}&&&${i} => 1 1`),
    ends: 'result',
  },
  {
    name: 'commands: 50,000 nodes of multicast groups',
    text: () => copies,
    commands: () => `mc_mgrp_create 1\n${times(50_000, (i) => `mc_node_create ${i} 1`)}`,
    ends: 'result',
  },
  {
    name: 'commands: nodes with 20,000 ports each',
    text: () => copies,
    commands: () =>
      `mc_mgrp_create 1\n${times(30, (i) => `mc_node_create ${i} ${ports(20_000)}\nmc_node_associate 1 ${i}`)}`,
    ends: 'dropped: memory',
  },
  {
    name: 'commands: ports up to 2^64',
    text: () => copies,
    commands: () => 'mc_node_create 0 18446744073709551615',
    ends: 'refused: ERR_CONTROL_BAD_VALUE',
  },
  {
    name: 'commands: a million groups',
    text: () => copies,
    commands: () => times(300_000, (i) => `mc_mgrp_create ${i}`),
    ends: 'refused: ERR_CONTROL_BAD_MULTICAST',
  },
  {
    name: 'commands: 10^9 mirror sessions',
    text: () => copies,
    commands: () => 'mirroring_add 1000000000 1',
    ends: 'refused: ERR_CONTROL_BAD_SESSION',
  },
  {
    name: 'commands: a million mirror sessions',
    text: () => copies,
    commands: () => times(200_000, (i) => `mirroring_add ${i} 1`),
    ends: 'refused: ERR_CONTROL_BAD_SESSION',
  },
  {
    name: 'commands: all cells of a register of four million',
    text: () => SWITCH,
    commands: () => times(100, () => 'register_read r'),
    ends: 'refused: ERR_CONTROL_TOO_MANY',
  },
  {
    name: 'commands: numbers of a million digits',
    text: () => SWITCH,
    commands: () =>
      `register_write r 1 ${'9'.repeat(1_000_000)}\ntable_add exact_t to ${'9'.repeat(1_000_000)} => 1\nregister_read r ${'9'.repeat(1_000_000)}`,
    ends: 'refused: ERR_CONTROL_BAD_SYNTAX',
  },
  {
    name: 'commands: a line of eight million characters',
    text: () => SWITCH,
    commands: () => `table_add ${'x '.repeat(4_000_000)}`,
    ends: 'refused: ERR_CONTROL_BAD_SYNTAX',
  },
  {
    name: 'commands: half a million lines that mean nothing',
    text: () => SWITCH,
    commands: () => 'nonsense\n'.repeat(500_000),
    ends: 'refused: ERR_CONTROL_UNKNOWN_COMMAND',
  },
  {
    name: 'commands: 100,000 members and groups of a selector',
    text: () => SWITCH,
    commands: () =>
      `${times(60_000, (i) => `act_prof_create_member sel to ${i % 512}`)}\nact_prof_create_group sel\n${times(60_000, (i) => `act_prof_add_member_to_group sel ${i} 0`)}\ntable_indirect_add_with_group sel_t 0 => 0`,
    packets: 100,
    ends: 'result',
  },
  {
    name: 'commands: rates that are none',
    text: () => SWITCH,
    commands: () => 'meter_array_set_rates u 1e308:9007199254740991 1e309:1\nmeter_set_rates u 4294967295 1:1 2:2',
    ends: 'refused: ERR_CONTROL_BAD_RATES',
  },
  {
    name: 'commands: hundreds of queues',
    text: () => SWITCH,
    commands: () => times(1_000, (i) => `set_queue_depth ${i}000000000 ${i} 99999`),
    ends: 'result',
  },
  {
    name: 'packet tests: a key of many parts without a value',
    text: () => SWITCH,
    stf: () => `add exact_t ${'a.'.repeat(40)}a to(port:1)\n`,
    ends: 'stf-syntax',
  },
  {
    name: 'packet tests: an action of many parts without arguments',
    text: () => SWITCH,
    stf: () => `add exact_t m.seen:1 ${'a.'.repeat(40)}a !\n`,
    ends: 'stf-syntax',
  },
  {
    name: 'packet tests: a packet of eight million bytes',
    text: () => SWITCH,
    stf: () => `packet 0 ${'00'.repeat(8_000_000)}\n`,
    ends: 'stf-syntax',
  },
  {
    name: 'packet tests: 100,000 packets that nobody expected',
    text: () => v1model({}),
    stf: () => `expect 1\n${'packet 0 0102\n'.repeat(100_000)}`,
    ends: 'stf-failed',
  },
  {
    name: 'packet tests: copies without end',
    text: () => copies,
    stf: () =>
      `mc_mgrp_create 1\nmc_node_create 1 ${ports(5_000)}\nmc_node_associate 1 0\n${`packet 0 0102${'00'.repeat(1_000)}\n`.repeat(30)}`,
    ends: 'stf-failed',
  },
  {
    name: 'packet tests: 200,000 statements that are none',
    text: () => SWITCH,
    stf: () => 'flood 3\n'.repeat(200_000),
    ends: 'stf-syntax',
  },
  {
    name: 'packet tests: 50,000 expectations that fail',
    text: () => v1model({}),
    stf: () => times(50_000, () => `expect 2 ${'00'.repeat(40)}`),
    ends: 'stf-failed',
  },
];
