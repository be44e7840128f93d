/** How a command is used. */
export interface Usage {
  /** The words behind its name: `[...]` may be left out, `...` may come again. */
  readonly words: string;
  readonly text: string;
  /** A line that works, on a switch that has such tables. */
  readonly example: string;
}

const KEYS = 'keys as VALUE (exact, optional), VALUE/BITS (lpm), VALUE&&&MASK (ternary, optional), LOW->HIGH (range)';
const RATES = 'RATE:BURST twice, of committed and peak: a million bytes or packets a second, and bytes or packets';

const usage = (words: string, text: string, example: string): Usage => ({ words, text, example });

/** The older commands name a table instead of its action profile. */
const ofTable = (words: string, of: string, example: string): Usage =>
  usage(`TABLE${words === '' ? '' : ` ${words}`}`, `as ${of}, for the action profile of a table`, example);

/** By the commands' names. */
export const USAGES: Readonly<Record<string, Usage>> = {
  table_add: usage(
    'TABLE ACTION KEY... => [VALUE...] [PRIORITY]',
    `adds an entry, and tells its handle; ${KEYS}; PRIORITY where keys are ternary, ranges or optional: the smallest is first`,
    'table_add acl drop 10.0.0.0&&&0xff000000 80->90 6&&&0xffff => 10',
  ),
  table_set_default: usage(
    'TABLE ACTION [VALUE...]',
    'sets what happens without an entry',
    'table_set_default hosts to 9',
  ),
  table_reset_default: usage(
    'TABLE',
    'makes the default action that of the program again',
    'table_reset_default hosts',
  ),
  table_modify: usage('TABLE ACTION HANDLE [VALUE...]', 'gives an entry another action', 'table_modify hosts to 0 5'),
  table_delete: usage('TABLE HANDLE', 'deletes an entry', 'table_delete hosts 0'),
  table_clear: usage('TABLE', 'deletes all entries but those of the program', 'table_clear acl'),
  table_num_entries: usage('TABLE', 'counts the entries', 'table_num_entries hosts'),
  table_set_timeout: usage(
    'TABLE HANDLE MILLISECONDS',
    'tells of an entry that no packet has hit for this time; see watch',
    'table_set_timeout hosts 0 2000',
  ),
  table_info: usage('TABLE', 'shows keys and actions of a table', 'table_info acl'),
  table_show_actions: usage('TABLE', 'shows the actions of a table with their parameters', 'table_show_actions acl'),
  show_tables: usage('', 'shows all tables', 'show_tables'),
  show_actions: usage('', 'shows all actions with their parameters', 'show_actions'),
  table_dump: usage('TABLE', 'shows all entries with their handles, and the default', 'table_dump hosts'),
  table_dump_entry: usage('TABLE HANDLE', 'shows an entry', 'table_dump_entry hosts 0'),
  table_dump_entry_from_key: usage(
    'TABLE KEY... [PRIORITY]',
    `shows the entry of a key; ${KEYS}`,
    'table_dump_entry_from_key hosts 10.0.0.1',
  ),
  act_prof_create_member: usage(
    'PROFILE ACTION [VALUE...]',
    'makes a member of an action profile, and tells its handle',
    'act_prof_create_member ways to 3',
  ),
  act_prof_modify_member: usage(
    'PROFILE ACTION HANDLE [VALUE...]',
    'gives a member another action',
    'act_prof_modify_member ways to 0 4',
  ),
  act_prof_delete_member: usage('PROFILE HANDLE', 'deletes a member', 'act_prof_delete_member ways 0'),
  act_prof_create_group: usage(
    'PROFILE',
    'makes an empty group of a profile with a selector, and tells its handle',
    'act_prof_create_group ways',
  ),
  act_prof_delete_group: usage('PROFILE GROUP', 'deletes a group', 'act_prof_delete_group ways 0'),
  act_prof_add_member_to_group: usage(
    'PROFILE MEMBER GROUP',
    'puts a member into a group, by their handles',
    'act_prof_add_member_to_group ways 0 0',
  ),
  act_prof_remove_member_from_group: usage(
    'PROFILE MEMBER GROUP',
    'takes a member out of a group',
    'act_prof_remove_member_from_group ways 0 0',
  ),
  act_prof_dump: usage('PROFILE', 'shows members and groups', 'act_prof_dump ways'),
  act_prof_dump_member: usage('PROFILE HANDLE', 'shows a member', 'act_prof_dump_member ways 0'),
  act_prof_dump_group: usage('PROFILE GROUP', 'shows a group', 'act_prof_dump_group ways 0'),
  table_indirect_create_member: ofTable(
    'ACTION [VALUE...]',
    'act_prof_create_member',
    'table_indirect_create_member routes to 3',
  ),
  table_indirect_modify_member: ofTable(
    'ACTION HANDLE [VALUE...]',
    'act_prof_modify_member',
    'table_indirect_modify_member routes to 0 4',
  ),
  table_indirect_delete_member: ofTable('HANDLE', 'act_prof_delete_member', 'table_indirect_delete_member routes 0'),
  table_indirect_create_group: ofTable('', 'act_prof_create_group', 'table_indirect_create_group routes'),
  table_indirect_delete_group: ofTable('GROUP', 'act_prof_delete_group', 'table_indirect_delete_group routes 0'),
  table_indirect_add_member_to_group: ofTable(
    'MEMBER GROUP',
    'act_prof_add_member_to_group',
    'table_indirect_add_member_to_group routes 0 0',
  ),
  table_indirect_remove_member_from_group: ofTable(
    'MEMBER GROUP',
    'act_prof_remove_member_from_group',
    'table_indirect_remove_member_from_group routes 0 0',
  ),
  table_dump_member: ofTable('HANDLE', 'act_prof_dump_member', 'table_dump_member routes 0'),
  table_dump_group: ofTable('GROUP', 'act_prof_dump_group', 'table_dump_group routes 0'),
  table_indirect_add: usage(
    'TABLE KEY... => MEMBER [PRIORITY]',
    `adds an entry whose action is that of a member, by its handle; ${KEYS}`,
    'table_indirect_add routes 10.0.0.0/8 => 0',
  ),
  table_indirect_add_with_group: usage(
    'TABLE KEY... => GROUP [PRIORITY]',
    `adds an entry whose action is chosen from a group, by its handle; ${KEYS}`,
    'table_indirect_add_with_group routes 10.1.0.0/16 => 0',
  ),
  table_indirect_delete: usage('TABLE HANDLE', 'deletes an entry', 'table_indirect_delete routes 0'),
  table_indirect_reset_default: usage(
    'TABLE',
    'makes the default action that of the program again',
    'table_indirect_reset_default routes',
  ),
  mirroring_add: usage('SESSION PORT', 'sets where clones of a session go', 'mirroring_add 7 3'),
  mirroring_add_mc: usage(
    'SESSION GROUP',
    'sends clones of a session where copies of a multicast group go now',
    'mirroring_add_mc 8 1',
  ),
  mirroring_delete: usage('SESSION', 'ends a session of clones', 'mirroring_delete 7'),
  mirroring_get: usage('SESSION', 'shows where clones of a session go', 'mirroring_get 7'),
  mc_mgrp_create: usage('GROUP', 'makes an empty multicast group', 'mc_mgrp_create 1'),
  mc_mgrp_destroy: usage('GROUP', 'removes a multicast group', 'mc_mgrp_destroy 1'),
  mc_node_create: usage(
    'INSTANCE [PORT...]',
    'makes a node, which copies to ports, and tells its handle; it belongs to this session',
    'mc_node_create 100 1 2',
  ),
  mc_node_update: usage('NODE [PORT...]', 'gives a node other ports', 'mc_node_update 0 1 2 3'),
  mc_node_destroy: usage('NODE', 'removes a node, also from its groups', 'mc_node_destroy 0'),
  mc_node_associate: usage('GROUP NODE', 'puts a node into a multicast group', 'mc_node_associate 1 0'),
  mc_node_dissociate: usage('GROUP NODE', 'takes a node out of a multicast group', 'mc_node_dissociate 1 0'),
  mc_dump: usage('', 'shows all multicast groups', 'mc_dump'),
  counter_read: usage(
    'COUNTER INDEX',
    'shows packets and bytes; INDEX is the handle of an entry where the counter is direct',
    'counter_read seen 3',
  ),
  counter_write: usage('COUNTER INDEX PACKETS BYTES', 'sets a counter', 'counter_write seen 3 10 640'),
  counter_reset: usage('COUNTER', 'sets all cells to 0', 'counter_reset seen'),
  meter_set_rates: usage(
    'METER INDEX RATE:BURST RATE:BURST',
    `sets the rates of a meter; INDEX is the handle of an entry where the meter is direct; ${RATES}`,
    'meter_set_rates rates 1 0.5:1500 1:3000',
  ),
  meter_array_set_rates: usage(
    'METER RATE:BURST RATE:BURST',
    `sets the rates of all cells; ${RATES}`,
    'meter_array_set_rates rates 0.5:1500 1:3000',
  ),
  meter_get_rates: usage('METER INDEX', 'shows the rates of a meter', 'meter_get_rates rates 1'),
  register_read: usage('REGISTER [INDEX]', 'shows a cell, or all', 'register_read cells 2'),
  register_write: usage('REGISTER INDEX VALUE', 'sets a cell', 'register_write cells 2 0x1f'),
  register_reset: usage('REGISTER', 'sets all cells to 0', 'register_reset cells'),
  pvs_add: usage(
    'VALUE_SET VALUE',
    'adds a value; of several fields one number, the first has the highest bits',
    'pvs_add kinds 0x0800',
  ),
  pvs_remove: usage('VALUE_SET VALUE', 'removes a value', 'pvs_remove kinds 0x0800'),
  pvs_clear: usage('VALUE_SET', 'removes all values', 'pvs_clear kinds'),
  pvs_get: usage('VALUE_SET', 'shows all values, in hexadecimal digits', 'pvs_get kinds'),
  show_pvs: usage('', 'shows all value sets', 'show_pvs'),
  set_pipeline: usage(
    'PROGRAM | P4INFO DEVICE_CONFIG',
    'gives the switch a program: a P4 program, or the files of a compiler',
    'set_pipeline forward.p4',
  ),
  show_pipeline: usage('', 'shows which program the switch has', 'show_pipeline'),
  digest_enable: usage(
    'DIGEST [COUNT [MILLISECONDS]]',
    'asks for digests: at most COUNT in a list (1), which waits at most so long (0); see watch',
    'digest_enable learn 10 100',
  ),
  digest_disable: usage('DIGEST', 'asks for no more digests', 'digest_disable learn'),
  packet_out: usage(
    '[FIELD=VALUE...] HEX...',
    'sends a packet through the switch, with the fields of its packet_out header',
    'packet_out port=3 pad=0 00112233 4455',
  ),
  watch: usage(
    'SECONDS [COUNT]',
    'shows packets to the controller, digests and idle entries for a time, or until there were so many',
    'watch 10 5',
  ),
  help: usage('[COMMAND]', 'lists the commands, or tells how one is used', 'help table_add'),
  quit: usage('', 'ends the session', 'quit'),
};

/** Lines that tell how a command is used. */
export function usageLines(name: string, { words, text, example }: Usage): readonly string[] {
  return [`${name}${words === '' ? '' : ` ${words}`}`, `  ${text}`, `  for example: ${example}`];
}
