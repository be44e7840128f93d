import type { ActionProfile, ProfileTarget } from '../externs/action-profile.js';
import { atLeast, type Command, type CommandContext, decimal, exactly, fail, resource } from './command-context.js';
import { CommandFailure } from './command-errors.js';
import { groupLines, memberLines, profileLines } from './command-text.js';
import { parseCommandKey } from './command-values.js';
import { dataOf, tableOf, takePriority } from './table-commands.js';

function profileOf(context: CommandContext, name: string): ActionProfile {
  return resource(context.control.profiles, 'action profile', name);
}

function selectorOf(context: CommandContext, name: string): ActionProfile {
  const profile = profileOf(context, name);
  if (!profile.isSelector)
    fail('ERR_CONTROL_NO_SELECTOR', 'Cannot run this command on an action profile without selector');
  return profile;
}

const member = (text: string | undefined): number => decimal(text, 'Bad format for member handle');
const group = (text: string | undefined): number => decimal(text, 'Bad format for group handle');

const createMember: Command = (context, args) => {
  atLeast(args, 2);
  const [profileName = '', actionName = '', ...texts] = args;
  const profile = profileOf(context, profileName);
  const action =
    context.control.profileActions(profile).find(actionName) ??
    fail('ERR_CONTROL_UNKNOWN_ACTION', `Action profile '${profileName}' has no action '${actionName}'`);
  const data = dataOf(action, texts);
  const values = data.map(({ value }) => value);
  const handle = context.attempt('table', () => profile.addMember(action, values));
  context.print(`Member has been created with handle ${handle}`);
  context.outcome = { handle };
};

const modifyMember: Command = (context, args) => {
  atLeast(args, 3);
  const [profileName = '', actionName = '', handleText, ...rest] = args;
  const profile = profileOf(context, profileName);
  const action =
    context.control.profileActions(profile).find(actionName) ??
    fail('ERR_CONTROL_UNKNOWN_ACTION', `Action profile '${profileName}' has no action '${actionName}'`);
  const handle = member(handleText);
  const data = dataOf(action, rest[0] === '=>' ? rest.slice(1) : rest);
  context.attempt('table', () =>
    profile.modifyMember(
      handle,
      action,
      data.map(({ value }) => value),
    ),
  );
};

const deleteMember: Command = (context, args) => {
  exactly(args, 2);
  const profile = profileOf(context, args[0]!);
  const handle = member(args[1]);
  context.attempt('table', () => profile.deleteMember(handle));
};

const createGroup: Command = (context, args) => {
  exactly(args, 1);
  const handle = selectorOf(context, args[0]!).createGroup();
  context.print(`Group has been created with handle ${handle}`);
  context.outcome = { handle };
};

const deleteGroup: Command = (context, args) => {
  exactly(args, 2);
  const profile = selectorOf(context, args[0]!);
  const handle = group(args[1]);
  context.attempt('table', () => profile.deleteGroup(handle));
};

const addToGroup: Command = (context, args) => {
  exactly(args, 3);
  const profile = selectorOf(context, args[0]!);
  const from = member(args[1]);
  const to = group(args[2]);
  context.attempt('table', () => profile.addToGroup(from, to));
};

const removeFromGroup: Command = (context, args) => {
  exactly(args, 3);
  const profile = selectorOf(context, args[0]!);
  const from = member(args[1]);
  const to = group(args[2]);
  context.attempt('table', () => profile.removeFromGroup(from, to));
};

const dump: Command = (context, args) => {
  exactly(args, 1);
  context.printAll(profileLines(profileOf(context, args[0]!)));
};

const dumpMember: Command = (context, args) => {
  exactly(args, 2);
  const profile = profileOf(context, args[0]!);
  const handle = member(args[1]);
  context.print(...context.attempt('table', () => memberLines(profile, handle)));
};

const dumpGroup: Command = (context, args) => {
  exactly(args, 2);
  const profile = profileOf(context, args[0]!);
  const handle = group(args[1]);
  context.print(...context.attempt('table', () => groupLines(profile, handle)));
};

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
  return (context, args) => {
    atLeast(args, 1);
    const profile = checkIndirect(tableOf(context, args[0]!).runtime.profile, groups);
    if (!mayBeShared && context.control.usesOf(profile) > 1)
      fail('ERR_CONTROL_WRONG_KIND', 'Legacy command does not work with shared action profiles');
    command(context, [profile.declaration.name, ...args.slice(1)]);
  };
}

function addEntry(kind: ProfileTarget['kind']): Command {
  return (context, args) => {
    atLeast(args, 2);
    const { runtime, name } = tableOf(context, args[0]!);
    checkIndirect(runtime.profile, kind === 'group');
    const priority = takePriority(runtime, args);
    const arrow = args.indexOf('=>', 1);
    if (arrow < 0 || args.length !== arrow + 2)
      fail('ERR_CONTROL_BAD_SYNTAX', 'Invalid arguments, could not find handle');
    const to = decimal(args[arrow + 1], 'Bad format for handle');
    const texts = args.slice(1, arrow);
    if (texts.length !== runtime.shapes.length) {
      fail('ERR_CONTROL_WRONG_ARITY', `Table ${args[0]} needs ${runtime.shapes.length} key fields`);
    }
    const keys = texts.map((text, i) => parseCommandKey(runtime.shapes[i]!, text).match);
    context.print(`Adding entry to indirect match table ${name}`);
    const handle = context.attempt('table', () => runtime.addIndirect(keys, { kind, handle: to }, priority));
    context.print(`Entry has been added with handle ${handle}`);
    context.outcome = { handle };
  };
}

function setDefault(kind: ProfileTarget['kind']): Command {
  return (context, args) => {
    exactly(args, 2);
    const { runtime } = tableOf(context, args[0]!);
    checkIndirect(runtime.profile, kind === 'group');
    const handle = decimal(args[1], 'Bad format for handle');
    context.attempt('table', () => runtime.setDefaultIndirect({ kind, handle }));
  };
}

const deleteEntry: Command = (context, args) => {
  exactly(args, 2);
  const [tableName = '', handleText] = args;
  const { runtime } = tableOf(context, tableName);
  checkIndirect(runtime.profile, false);
  const handle = decimal(handleText, 'Bad format for entry handle');
  context.print(`Deleting entry ${handle} from ${tableName}`);
  context.attempt('table', () => runtime.delete(handle));
};

const resetDefault: Command = (context, args) => {
  exactly(args, 1);
  const table = tableOf(context, args[0]!);
  if (table.runtime.profile === undefined) {
    throw new CommandFailure('ERR_CONTROL_NOT_INDIRECT', 'Invalid table operation (WRONG_TABLE_TYPE)');
  }
  table.resetDefault();
};

export const PROFILE_COMMANDS: ReadonlyMap<string, Command> = /* @__PURE__ */ new Map([
  ['act_prof_create_member', createMember],
  ['act_prof_modify_member', modifyMember],
  ['act_prof_delete_member', deleteMember],
  ['act_prof_create_group', createGroup],
  ['act_prof_delete_group', deleteGroup],
  ['act_prof_add_member_to_group', addToGroup],
  ['act_prof_remove_member_from_group', removeFromGroup],
  ['act_prof_dump', dump],
  ['act_prof_dump_member', dumpMember],
  ['act_prof_dump_group', dumpGroup],
  ['table_indirect_create_member', ofTable(createMember, false)],
  ['table_indirect_modify_member', ofTable(modifyMember, false)],
  ['table_indirect_delete_member', ofTable(deleteMember, false)],
  ['table_indirect_create_group', ofTable(createGroup, true)],
  ['table_indirect_delete_group', ofTable(deleteGroup, true)],
  ['table_indirect_add_member_to_group', ofTable(addToGroup, true)],
  ['table_indirect_remove_member_from_group', ofTable(removeFromGroup, true)],
  ['table_dump_member', ofTable(dumpMember, false, true)],
  ['table_dump_group', ofTable(dumpGroup, false, true)],
  ['table_indirect_add', addEntry('member')],
  ['table_indirect_add_with_group', addEntry('group')],
  ['table_indirect_set_default', setDefault('member')],
  ['table_indirect_set_default_with_group', setDefault('group')],
  ['table_indirect_reset_default', resetDefault],
  ['table_indirect_delete', deleteEntry],
]);
