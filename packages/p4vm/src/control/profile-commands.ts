import type { ActionProfile, ProfileTarget } from '../externs/action-profile.js';
import type { Action } from '../ir/program.js';
import {
  atLeast,
  type Command,
  type CommandContext,
  type Commands,
  decimal,
  entryHandle,
  exactly,
  fail,
  resource,
} from './command-context.js';
import { CommandFailure } from './command-errors.js';
import { groupLines, memberLines, profileLines } from './command-text.js';
import { dataOf, keysOf, tableOf, takePriority, withoutArrow } from './table-commands.js';

function profileOf(context: CommandContext, name: string | undefined): ActionProfile {
  return resource(context.control.profiles, 'action profile', name);
}

function selectorOf(context: CommandContext, name: string | undefined): ActionProfile {
  const profile = profileOf(context, name);
  if (!profile.isSelector)
    fail('ERR_CONTROL_NO_SELECTOR', 'Cannot run this command on an action profile without selector');
  return profile;
}

function memberAction(context: CommandContext, profile: ActionProfile, profileName: string, name: string): Action {
  return (
    context.control.profileActions(profile).find(name) ??
    fail('ERR_CONTROL_UNKNOWN_ACTION', `Action profile '${profileName}' has no action '${name}'`)
  );
}

function valuesOf(action: Action, texts: readonly string[]): bigint[] {
  return dataOf(action, texts).map(({ value }) => value);
}

const member = (text: string | undefined): number => decimal(text, 'Bad format for member handle');
const group = (text: string | undefined): number => decimal(text, 'Bad format for group handle');
const anyHandle = (text: string | undefined): number => decimal(text, 'Bad format for handle');

/** Adds a member to a group or removes it. */
function changeGroup(method: 'addToGroup' | 'removeFromGroup'): Command {
  return exactly(3, (context, [name, memberText, groupText]) => {
    const profile = selectorOf(context, name);
    const from = member(memberText);
    const to = group(groupText);
    context.attempt('table', () => profile[method](from, to));
  });
}

const OF_PROFILE = {
  act_prof_create_member: atLeast(2, (context, [profileName = '', actionName = '', ...texts]) => {
    const profile = profileOf(context, profileName);
    const action = memberAction(context, profile, profileName, actionName);
    const values = valuesOf(action, texts);
    const handle = context.attempt('table', () => profile.addMember(action, values));
    context.print(`Member has been created with handle ${handle}`);
    context.outcome = { handle };
  }),
  act_prof_modify_member: atLeast(3, (context, [profileName = '', actionName = '', handleText, ...rest]) => {
    const profile = profileOf(context, profileName);
    const action = memberAction(context, profile, profileName, actionName);
    const handle = member(handleText);
    const values = valuesOf(action, withoutArrow(rest));
    context.attempt('table', () => profile.modifyMember(handle, action, values));
  }),
  act_prof_delete_member: exactly(2, (context, [name, handleText]) => {
    const profile = profileOf(context, name);
    const handle = member(handleText);
    context.attempt('table', () => profile.deleteMember(handle));
  }),
  act_prof_create_group: exactly(1, (context, [name]) => {
    const profile = selectorOf(context, name);
    const handle = context.attempt('table', () => profile.createGroup());
    context.print(`Group has been created with handle ${handle}`);
    context.outcome = { handle };
  }),
  act_prof_delete_group: exactly(2, (context, [name, handleText]) => {
    const profile = selectorOf(context, name);
    const handle = group(handleText);
    context.attempt('table', () => profile.deleteGroup(handle));
  }),
  act_prof_add_member_to_group: changeGroup('addToGroup'),
  act_prof_remove_member_from_group: changeGroup('removeFromGroup'),
  act_prof_dump: exactly(1, (context, [name]) => context.printAll(profileLines(profileOf(context, name)))),
  act_prof_dump_member: exactly(2, (context, [name, handleText]) => {
    const profile = profileOf(context, name);
    const handle = member(handleText);
    context.print(...context.attempt('table', () => memberLines(profile, handle)));
  }),
  act_prof_dump_group: exactly(2, (context, [name, handleText]) => {
    const profile = profileOf(context, name);
    const handle = group(handleText);
    context.print(...context.attempt('table', () => groupLines(profile, handle)));
  }),
} satisfies Commands;

/** Checks that the table of a command has an action profile, for `groups` one with a selector. */
function checkIndirect(profile: ActionProfile | undefined, groups: boolean): ActionProfile {
  if (groups && profile?.isSelector !== true) {
    fail(
      'ERR_CONTROL_NOT_INDIRECT',
      'Cannot run this command on non-indirect table, or on indirect table with no selector',
    );
  }
  return profile ?? fail('ERR_CONTROL_NOT_INDIRECT', 'Cannot run this command on non-indirect table');
}

/** The older commands name a table instead of its action profile. */
function ofTable(command: Command, groups: boolean, mayBeShared = false): Command {
  return atLeast(1, (context, [tableName, ...rest]) => {
    const profile = checkIndirect(tableOf(context, tableName).runtime.profile, groups);
    if (!mayBeShared && context.control.usesOf(profile) > 1)
      fail('ERR_CONTROL_WRONG_KIND', 'Legacy command does not work with shared action profiles');
    command(context, [profile.declaration.name, ...rest]);
  });
}

function addEntry(kind: ProfileTarget['kind']): Command {
  return atLeast(2, (context, args) => {
    const tableName = args[0]!;
    const { runtime, name } = tableOf(context, tableName);
    checkIndirect(runtime.profile, kind === 'group');
    const priority = takePriority(runtime, args);
    const arrow = args.indexOf('=>', 1);
    if (arrow < 0 || args.length !== arrow + 2)
      fail('ERR_CONTROL_BAD_SYNTAX', 'Invalid arguments, could not find handle');
    const to = anyHandle(args[arrow + 1]);
    const keys = keysOf(runtime, tableName, args.slice(1, arrow)).map(({ match }) => match);
    context.print(`Adding entry to indirect match table ${name}`);
    const handle = context.attempt('table', () => runtime.add(keys, { kind, handle: to }, priority));
    context.print(`Entry has been added with handle ${handle}`);
    context.outcome = { handle };
  });
}

function setDefault(kind: ProfileTarget['kind']): Command {
  return exactly(2, (context, [tableName, handleText]) => {
    const { runtime } = tableOf(context, tableName);
    checkIndirect(runtime.profile, kind === 'group');
    const handle = anyHandle(handleText);
    context.attempt('table', () => runtime.setDefault({ kind, handle }));
  });
}

export const PROFILE_COMMANDS: Commands = {
  ...OF_PROFILE,
  table_indirect_create_member: ofTable(OF_PROFILE.act_prof_create_member, false),
  table_indirect_modify_member: ofTable(OF_PROFILE.act_prof_modify_member, false),
  table_indirect_delete_member: ofTable(OF_PROFILE.act_prof_delete_member, false),
  table_indirect_create_group: ofTable(OF_PROFILE.act_prof_create_group, true),
  table_indirect_delete_group: ofTable(OF_PROFILE.act_prof_delete_group, true),
  table_indirect_add_member_to_group: ofTable(OF_PROFILE.act_prof_add_member_to_group, true),
  table_indirect_remove_member_from_group: ofTable(OF_PROFILE.act_prof_remove_member_from_group, true),
  table_dump_member: ofTable(OF_PROFILE.act_prof_dump_member, false, true),
  table_dump_group: ofTable(OF_PROFILE.act_prof_dump_group, false, true),
  table_indirect_add: addEntry('member'),
  table_indirect_add_with_group: addEntry('group'),
  table_indirect_set_default: setDefault('member'),
  table_indirect_set_default_with_group: setDefault('group'),
  table_indirect_reset_default: exactly(1, (context, [tableName]) => {
    const table = tableOf(context, tableName);
    if (table.runtime.profile === undefined) {
      throw new CommandFailure('ERR_CONTROL_NOT_INDIRECT', 'Invalid table operation (WRONG_TABLE_TYPE)');
    }
    table.resetDefault();
  }),
  table_indirect_delete: exactly(2, (context, [tableName, handleText]) => {
    const { runtime } = tableOf(context, tableName);
    checkIndirect(runtime.profile, false);
    const handle = entryHandle(handleText);
    context.print(`Deleting entry ${handle} from ${tableName}`);
    context.attempt('table', () => runtime.delete(handle));
  }),
};
