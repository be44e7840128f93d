import type { ProfileGroup, ProfileMember, p4config } from '@int/p4runtime';
import { count, fail, whole } from './command-failure.js';
import type { ControlSession } from './control-session.js';
import { actionIds, actionOf, type Command, entryOf, insert, remove, resetDefault } from './table-commands.js';
import { callText, nameOf } from './table-texts.js';

const ANY = Number.POSITIVE_INFINITY;

/** Ids of P4Runtime begin at 1, handles of the command line at 0. */
const idOf = (handle: number): number => handle + 1;
const handleOf = (id: number): number => id - 1;

async function profileOf(session: ControlSession, name: string | undefined): Promise<p4config.ActionProfile> {
  return (await session.index()).named('actionProfile', name ?? fail('the name of an action profile is needed'));
}

async function members(session: ControlSession, profile: string): Promise<ProfileMember[]> {
  const found: ProfileMember[] = [];
  for await (const each of session.client.read({ kind: 'member', profile, id: 0 }))
    if (each.kind === 'member') found.push(each);
  return found.sort((left, right) => left.id - right.id);
}

async function groups(session: ControlSession, profile: string): Promise<ProfileGroup[]> {
  const found: ProfileGroup[] = [];
  for await (const each of session.client.read({ kind: 'group', profile, id: 0, members: [] })) {
    if (each.kind === 'group') found.push(each);
  }
  return found.sort((left, right) => left.id - right.id);
}

/** The smallest id that nothing has. */
function freeId(taken: readonly { readonly id: number }[]): number {
  let id = 1;
  for (const each of taken) if (each.id === id) id++;
  return id;
}

async function actionsOf(session: ControlSession, profile: p4config.ActionProfile): Promise<number[]> {
  const index = await session.index();
  return profile.tableIds.flatMap((id) => actionIds(index.find('table', id)!));
}

async function groupOf(session: ControlSession, profile: string, handle: number): Promise<ProfileGroup> {
  const found = (await groups(session, profile)).find(({ id }) => id === idOf(handle));
  return found ?? fail(`${profile} has no group ${handle}`);
}

const member = (text: string | undefined): number => whole(text, 'the handle of the member');
const group = (text: string | undefined): number => whole(text, 'the handle of the group');

function changeGroup(change: (members: ProfileGroup['members'], id: number) => ProfileGroup['members']): Command {
  return async (session, words) => {
    count(words, 3);
    const profile = nameOf(await profileOf(session, words[0]));
    const before = await groupOf(session, profile, group(words[2]));
    await session.client.modify({ ...before, members: change(before.members, idOf(member(words[1]))) });
  };
}

function memberLines({ id, action }: ProfileMember): string[] {
  const text = action === undefined ? 'EMPTY' : `Action entry: ${callText(action.action, action.params)}`;
  return [`Dumping member ${handleOf(id)}`, text];
}

function groupLines({ id, members: all }: ProfileGroup): string[] {
  const shares = all.map(({ id: each, weight }) =>
    weight === 1 ? `${handleOf(each)}` : `${handleOf(each)} * ${weight}`,
  );
  return [`Dumping group ${handleOf(id)}`, `Members: [${shares.join(', ')}]`];
}

const OF_PROFILE: Readonly<Record<string, Command>> = {
  act_prof_create_member: async (session, words) => {
    count(words, 2, ANY);
    const [name, actionName, ...values] = words;
    const profile = await profileOf(session, name);
    const action = await actionOf(session, await actionsOf(session, profile), actionName, values);
    const id = freeId(await members(session, nameOf(profile)));
    await session.client.insert({ kind: 'member', profile: nameOf(profile), id, action });
    await session.print(`Member has been created with handle ${handleOf(id)}`);
  },
  act_prof_modify_member: async (session, words) => {
    count(words, 3, ANY);
    const [name, actionName, handle, ...rest] = words;
    const profile = await profileOf(session, name);
    const values = rest[0] === '=>' ? rest.slice(1) : rest;
    const action = await actionOf(session, await actionsOf(session, profile), actionName, values);
    await session.client.modify({ kind: 'member', profile: nameOf(profile), id: idOf(member(handle)), action });
  },
  act_prof_delete_member: async (session, words) => {
    count(words, 2);
    const profile = nameOf(await profileOf(session, words[0]));
    await session.client.delete({ kind: 'member', profile, id: idOf(member(words[1])) });
  },
  act_prof_create_group: async (session, words) => {
    count(words, 1);
    const profile = await profileOf(session, words[0]);
    if (!profile.withSelector) fail(`${nameOf(profile)} has no selector, and no groups`);
    const id = freeId(await groups(session, nameOf(profile)));
    const maxSize = profile.maxGroupSize === 0 ? Number(profile.size) : profile.maxGroupSize;
    await session.client.insert({ kind: 'group', profile: nameOf(profile), id, members: [], maxSize });
    await session.print(`Group has been created with handle ${handleOf(id)}`);
  },
  act_prof_delete_group: async (session, words) => {
    count(words, 2);
    const profile = nameOf(await profileOf(session, words[0]));
    await session.client.delete({ kind: 'group', profile, id: idOf(group(words[1])), members: [] });
  },
  act_prof_add_member_to_group: changeGroup((all, id) =>
    all.some((each) => each.id === id) ? fail('the member is in the group already') : [...all, { id, weight: 1 }],
  ),
  act_prof_remove_member_from_group: changeGroup((all, id) =>
    all.some((each) => each.id === id) ? all.filter((each) => each.id !== id) : fail('the member is not in the group'),
  ),
  act_prof_dump: async (session, words) => {
    count(words, 1);
    const profile = await profileOf(session, words[0]);
    await session.lines('==========', 'MEMBERS');
    for (const each of await members(session, nameOf(profile))) await session.lines('**********', ...memberLines(each));
    if (!profile.withSelector) return;
    await session.lines('==========', 'GROUPS');
    for (const each of await groups(session, nameOf(profile))) await session.lines('**********', ...groupLines(each));
  },
  act_prof_dump_member: async (session, words) => {
    count(words, 2);
    const profile = nameOf(await profileOf(session, words[0]));
    const handle = member(words[1]);
    const found = (await members(session, profile)).find(({ id }) => id === idOf(handle));
    await session.lines(...memberLines(found ?? fail(`${profile} has no member ${handle}`)));
  },
  act_prof_dump_group: async (session, words) => {
    count(words, 2);
    const profile = nameOf(await profileOf(session, words[0]));
    await session.lines(...groupLines(await groupOf(session, profile, group(words[1]))));
  },
};

/** The older commands name a table instead of its action profile. */
function ofTable(name: string): Command {
  return async (session, [tableName, ...rest]) => {
    const table = await session.table(tableName);
    if (table.implementationId === 0) fail(`the table ${tableName} has no action profile`);
    const profile = (await session.index()).nameOf('actionProfile', table.implementationId);
    await OF_PROFILE[name]!(session, [profile, ...rest]);
  };
}

function addEntry(kind: 'member' | 'group'): Command {
  return async (session, words) => {
    count(words, 2, ANY);
    const [name, ...rest] = words;
    const table = await session.table(name);
    const entry = entryOf(table, rest, (data) => {
      if (data.length !== 1) fail(`"=> HANDLE" is needed at the end`);
      const id = idOf(whole(data[0], 'the handle'));
      return kind === 'member' ? { member: id } : { group: id };
    });
    await insert(session, entry);
  };
}

export const PROFILE_COMMANDS: Readonly<Record<string, Command>> = {
  ...OF_PROFILE,
  table_indirect_create_member: ofTable('act_prof_create_member'),
  table_indirect_modify_member: ofTable('act_prof_modify_member'),
  table_indirect_delete_member: ofTable('act_prof_delete_member'),
  table_indirect_create_group: ofTable('act_prof_create_group'),
  table_indirect_delete_group: ofTable('act_prof_delete_group'),
  table_indirect_add_member_to_group: ofTable('act_prof_add_member_to_group'),
  table_indirect_remove_member_from_group: ofTable('act_prof_remove_member_from_group'),
  table_dump_member: ofTable('act_prof_dump_member'),
  table_dump_group: ofTable('act_prof_dump_group'),
  table_indirect_add: addEntry('member'),
  table_indirect_add_with_group: addEntry('group'),
  table_indirect_delete: async (session, words) => {
    count(words, 2);
    await remove(session, words[0], words[1]);
  },
  table_indirect_reset_default: async (session, words) => {
    count(words, 1);
    await resetDefault(session, words);
  },
};
