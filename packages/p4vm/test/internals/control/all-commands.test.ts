import { expect, it } from 'vitest';
import { bench } from './programs.js';

/**
 * All commands of simple_switch_CLI, in an order in which each has what it needs, and how what it prints begins. `''`:
 * nothing, as there; `unsupported`: it has no meaning for a switch in this process.
 */
const COMMANDS: readonly (readonly [line: string, begins: string])[] = [
  ['table_add ipv4_lpm forward 10.0.0.0/8 => 3', 'Adding entry to lpm match table ipv4_lpm'],
  ['table_num_entries ipv4_lpm', '1'],
  ['table_dump ipv4_lpm', '==========\nTABLE ENTRIES\n**********\nDumping entry 0x0'],
  ['table_dump_entry ipv4_lpm 0', 'Dumping entry 0x0'],
  ['table_dump_entry_from_key ipv4_lpm 10.0.0.0/8', 'Dumping entry 0x0'],
  ['table_modify ipv4_lpm forward 0 => 4', 'Modifying entry 0 for lpm match table ipv4_lpm'],
  ['table_delete ipv4_lpm 0', 'Deleting entry 0 from ipv4_lpm'],
  ['table_set_default ipv4_lpm drop', 'Setting default action of ipv4_lpm'],
  ['table_reset_default ipv4_lpm', ''],
  ['table_clear ipv4_lpm', ''],
  ['table_set_timeout ipv4_lpm 0 5', 'Error: Table ipv4_lpm does not support entry timeouts'],
  ['table_info ipv4_lpm', 'MyIngress.ipv4_lpm'],
  ['table_show_actions ipv4_lpm', 'MyIngress.'],
  ['show_tables', 'MyEgress.'],
  ['show_actions', 'MyIngress.'],
  ['act_prof_create_member prof forward 3', 'Member has been created with handle 0'],
  ['act_prof_modify_member prof forward 0 4', ''],
  ['act_prof_dump_member prof 0', 'Dumping member 0'],
  ['act_prof_dump prof', '==========\nMEMBERS'],
  ['act_prof_delete_member prof 0', ''],
  ['act_prof_create_member sel forward 3', 'Member has been created with handle 0'],
  ['act_prof_create_group sel', 'Group has been created with handle 0'],
  ['act_prof_add_member_to_group sel 0 0', ''],
  ['act_prof_dump_group sel 0', 'Dumping group 0'],
  ['act_prof_remove_member_from_group sel 0 0', ''],
  ['act_prof_delete_group sel 0', ''],
  ['table_indirect_create_member ecmp forward 3', 'Member has been created with handle'],
  ['table_indirect_modify_member ecmp forward 1 4', ''],
  ['table_indirect_create_group ecmp', 'Group has been created with handle'],
  ['table_indirect_add_member_to_group ecmp 1 0', ''],
  ['table_dump_member ecmp 1', 'Dumping member 1'],
  ['table_dump_group ecmp 0', 'Dumping group 0'],
  ['table_indirect_add ecmp 1 => 1', 'Adding entry to indirect match table MyIngress.ecmp'],
  ['table_indirect_add_with_group ecmp 2 => 0', 'Adding entry to indirect match table MyIngress.ecmp'],
  ['table_indirect_delete ecmp 0', 'Deleting entry 0 from ecmp'],
  ['table_indirect_set_default ecmp 1', ''],
  ['table_indirect_set_default_with_group ecmp 0', ''],
  ['table_indirect_reset_default ecmp', ''],
  ['table_indirect_remove_member_from_group ecmp 1 0', ''],
  ['table_indirect_delete_group ecmp 0', 'Invalid table operation (GRP_STILL_USED)'],
  ['table_indirect_delete_member ecmp 0', ''],
  ['counter_read packets 0', 'packets[0]= '],
  ['counter_write packets 0 1 2', 'packets[0] has been updated'],
  ['counter_reset packets', ''],
  ['meter_set_rates rate 0 0.001:1500 0.002:3000', ''],
  ['meter_array_set_rates rate 0.001:1500 0.002:3000', ''],
  ['meter_get_rates rate 0', '0: info rate = 0.001, burst size = 1500'],
  ['register_read MyIngress.state 0', 'MyIngress.state[0]= 0'],
  ['register_write MyIngress.state 0 5', ''],
  ['register_reset MyIngress.state', ''],
  ['mc_mgrp_create 1', 'Creating multicast group 1'],
  ['mc_node_create 7 1 2', 'Creating node with rid 7'],
  ['mc_node_associate 1 0', 'Associating node 0 to multicast group 1'],
  ['mc_node_update 0 3', 'Updating node 0'],
  ['mc_set_lag_membership 1 2 3', 'Setting lag membership'],
  ['mc_dump', '==========\nMC ENTRIES'],
  ['mc_node_dissociate 1 0', 'Dissociating node 0 from multicast group 1'],
  ['mc_node_destroy 0', 'Destroying node 0'],
  ['mc_mgrp_destroy 1', 'Destroying multicast group 1'],
  ['mirroring_add 5 2', ''],
  ['mirroring_get 5', 'MirroringSessionConfig('],
  ['mirroring_delete 5', ''],
  ['mirroring_add_mc 5 1', ''],
  ['pvs_add types 0x800', ''],
  ['pvs_get types', '0800'],
  ['show_pvs', 'MyParser.'],
  ['pvs_remove types 0x800', ''],
  ['pvs_clear types', ''],
  ['set_crc16_parameters calc_0 0x1021 0xffff 0 true true', ''],
  ['set_crc32_parameters calc 0x04c11db7 0 0 true true', ''],
  ['set_queue_depth 10', ''],
  ['set_queue_rate 10', ''],
  ['get_time_elapsed', '0'],
  ['get_time_since_epoch', '0'],
  ['greet', 'hello'],
  ['reset_state', ''],
  ...[
    'shell ls',
    'port_add veth0 1',
    'port_remove 1',
    'show_ports',
    'switch_info',
    'load_new_config_file x.json',
    'swap_configs',
    'write_config_to_file x.json',
    'serialize_state x',
    'set_toeplitz_hash_key calc 00',
  ].map((line): [string, string] => [line, 'unsupported: ']),
  ['EOF', ''],
];

it('of simple_switch_CLI all print something, but for those that print nothing there', () => {
  const { commands } = bench();
  const printed = COMMANDS.map(([line]) => [line, commands.execute(line)] as const);
  expect(new Set(printed.map(([line]) => line.split(' ')[0])).size).toBe(86);
  expect(printed.filter(([, { status }]) => status === 'unknown').map(([line]) => line)).toEqual([]);
  const wrong = COMMANDS.flatMap(([line, begins], at) => {
    const { text } = printed[at]![1];
    return (begins === '' ? text === '' : text.startsWith(begins)) ? [] : [[line, begins, text]];
  });
  expect(wrong).toEqual([]);
});
