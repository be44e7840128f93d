import type { ActionCall, EntryAction, MatchInput, p4config, TableEntry } from '@int/p4runtime';
import { count, fail, whole } from './command-failure.js';
import { type ControlSession, keyOf } from './control-session.js';
import {
  actionText,
  entryActionText,
  entryLines,
  hasPriorities,
  kindOf,
  nameOf,
  tableText,
  turned,
} from './table-texts.js';

/** A command: the words behind its name. */
export type Command = (session: ControlSession, words: string[]) => Promise<void>;

const ANY = Number.POSITIVE_INFINITY;
const MOST_PRIORITY = 0xff_ffff;

/** An action of a table with the values of its parameters. */
export async function actionOf(
  session: ControlSession,
  ids: readonly number[] | undefined,
  name: string | undefined,
  values: readonly string[],
): Promise<ActionCall> {
  const index = await session.index();
  const action = index.named('action', name ?? fail('the name of an action is needed'));
  if (ids !== undefined && !ids.includes(action.preamble?.id ?? 0)) fail(`the table has no action ${name}`);
  if (values.length !== action.params.length) {
    fail(`the action ${name} has ${action.params.length} parameters, and ${values.length} values are given`);
  }
  const params = Object.fromEntries(action.params.map((param, at) => [param.name, values[at]!]));
  return { action: nameOf(action), params };
}

export const actionIds = (table: p4config.Table): number[] => table.actionRefs.map(({ id }) => id);

/** The matches of an entry from their words, in the order of the fields. */
function matchOf(table: p4config.Table, words: readonly string[]): Record<string, MatchInput> {
  if (words.length !== table.matchFields.length) {
    fail(`the table ${nameOf(table)} has ${table.matchFields.length} key fields, and ${words.length} are given`);
  }
  return Object.fromEntries(table.matchFields.map((field, at) => [field.name, fieldMatch(field, words[at]!)]));
}

function fieldMatch(field: p4config.MatchField, word: string): MatchInput {
  // Optional fields are ternary on the command line: a value under a mask of all bits or of none.
  const parts = /^(.*)&&&(.*)$/.exec(word);
  if (parts === null || field.match.value === undefined || kindOf(field) !== 'ternary') return word;
  const [, value = '', mask = ''] = parts;
  const isOptional = field.match.case === 'matchType' && field.match.value === 6;
  if (!isOptional) return { kind: 'ternary', value, mask };
  return /^(?:0|0x0+|0\.0\.0\.0)$/.test(mask) ? '_' : { kind: 'optional', value };
}

/** Takes the priority from the end of the words, if the table has priorities. */
function takePriority(table: p4config.Table, words: string[]): { readonly priority?: number } {
  if (!hasPriorities(table)) return {};
  const priority = whole(words.pop(), 'the priority at the end');
  if (priority > MOST_PRIORITY) fail(`the priority ${priority} is larger than ${MOST_PRIORITY}`);
  return { priority: turned(priority) };
}

/** An entry of a command `TABLE ... KEYS => ACTION`, from the words behind the table. */
export function entryOf(
  table: p4config.Table,
  words: string[],
  action: (words: readonly string[]) => EntryAction,
): TableEntry {
  const priority = takePriority(table, words);
  const arrow = words.indexOf('=>');
  const keys = arrow === -1 ? words : words.slice(0, arrow);
  const match = matchOf(table, keys);
  const data = arrow === -1 ? [] : words.slice(arrow + 1);
  return { kind: 'table-entry', table: nameOf(table), match, action: action(data), ...priority };
}

/** Inserts an entry, and tells its number. */
export async function insert(session: ControlSession, entry: TableEntry): Promise<void> {
  const codec = await session.client.codec();
  await session.client.insert(entry);
  // As the switch has it: the numbers of entries go by that.
  const read = codec.decodeEntry(codec.encodeEntry(entry));
  const handle = session.handles(entry.table).of(keyOf(read), read);
  await session.print(`Entry has been added with handle ${handle}`);
}

async function remove(
  session: ControlSession,
  name: string | undefined,
  handleText: string | undefined,
): Promise<void> {
  const table = nameOf(await session.table(name));
  const handle = whole(handleText, 'the handle');
  const entry = await session.entry(table, handle);
  await session.client.delete(entry);
  session.handles(table).delete(keyOf(entry));
  await session.print(`Deleting entry ${handle} from ${table}`);
}

const defaultEntry = (table: string, action?: EntryAction): TableEntry => ({
  kind: 'table-entry',
  table,
  match: {},
  isDefault: true,
  action,
});

async function resetDefault(session: ControlSession, [name]: readonly string[]): Promise<void> {
  await session.client.modify(defaultEntry(nameOf(await session.table(name))));
}

export const TABLE_COMMANDS: Readonly<Record<string, Command>> = {
  table_add: async (session, words) => {
    count(words, 2, ANY);
    const [name, actionName, ...rest] = words;
    const table = await session.table(name);
    const action = await session.index().then((index) => index.named('action', actionName!));
    // Keys and data are separated by an arrow, which may be left out where there are no data.
    const given = entryOf(table, rest, (data) => ({
      action: nameOf(action),
      params: Object.fromEntries(data.map((text, at) => [`${at}`, text])),
    }));
    const data =
      given.action !== undefined && 'params' in given.action ? Object.values(given.action.params).map(String) : [];
    await insert(session, { ...given, action: await actionOf(session, actionIds(table), actionName, data) });
  },
  table_set_default: async (session, words) => {
    count(words, 2, ANY);
    const [name, actionName, ...values] = words;
    const table = await session.table(name);
    const data = values[0] === '=>' ? values.slice(1) : values;
    await session.client.modify(
      defaultEntry(nameOf(table), await actionOf(session, actionIds(table), actionName, data)),
    );
  },
  table_reset_default: async (session, words) => {
    count(words, 1);
    await resetDefault(session, words);
  },
  table_modify: async (session, words) => {
    count(words, 3, ANY);
    const [name, actionName, handleText, ...values] = words;
    const table = await session.table(name);
    const entry = await session.entry(nameOf(table), whole(handleText, 'the handle'));
    const data = values[0] === '=>' ? values.slice(1) : values;
    const action = await actionOf(session, actionIds(table), actionName, data);
    const { counter: _, meter: __, timeSinceLastHitNs: ___, ...kept } = entry;
    await session.client.modify({ ...kept, action });
  },
  table_delete: async (session, words) => {
    count(words, 2);
    await remove(session, words[0], words[1]);
  },
  table_clear: async (session, words) => {
    count(words, 1);
    const table = nameOf(await session.table(words[0]));
    const entries = await session.entries(table);
    await session.client.delete(...entries.map(({ entry }) => entry).filter(({ isConst }) => isConst !== true));
    session.handles(table).clear();
  },
  table_num_entries: async (session, words) => {
    count(words, 1);
    await session.print(`${(await session.entries(nameOf(await session.table(words[0])))).length}`);
  },
  table_set_timeout: async (session, words) => {
    count(words, 3);
    const table = nameOf(await session.table(words[0]));
    const {
      counter: _,
      meter: __,
      timeSinceLastHitNs: ___,
      ...kept
    } = await session.entry(table, whole(words[1], 'the handle'));
    await session.client.modify({ ...kept, idleTimeoutNs: BigInt(whole(words[2], 'the time')) * 1_000_000n });
  },
  table_info: async (session, words) => {
    count(words, 1);
    const index = await session.index();
    const table = await session.table(words[0]);
    await session.lines(tableText(table, index), '*'.repeat(80));
    for (const id of actionIds(table)) await session.print(actionText(index.find('action', id)!));
  },
  table_show_actions: async (session, words) => {
    count(words, 1);
    const index = await session.index();
    for (const id of actionIds(await session.table(words[0])))
      await session.print(actionText(index.find('action', id)!));
  },
  show_tables: async (session, words) => {
    count(words, 0);
    const index = await session.index();
    const names = index.all('table').map((table) => tableText(table, index));
    await session.lines(...names.sort());
  },
  show_actions: async (session, words) => {
    count(words, 0);
    await session.lines(...(await session.index()).all('action').map(actionText).sort());
  },
  table_dump: async (session, words) => {
    count(words, 1);
    const table = await session.table(words[0]);
    await session.lines('==========', 'TABLE ENTRIES');
    for (const { handle, entry } of await session.entries(nameOf(table))) {
      await session.lines('**********', ...entryLines(table, handle, entry));
    }
    await session.lines('==========', 'Dumping default entry');
    for await (const found of session.client.read(defaultEntry(nameOf(table)))) {
      if (found.kind === 'table-entry') await session.print(entryActionText(found.action));
    }
    await session.print('==========');
  },
  table_dump_entry: async (session, words) => {
    count(words, 2);
    const table = await session.table(words[0]);
    const handle = whole(words[1], 'the handle');
    await session.lines(...entryLines(table, handle, await session.entry(nameOf(table), handle)));
  },
  table_dump_entry_from_key: async (session, words) => {
    count(words, 1, ANY);
    const [name, ...rest] = words;
    const table = await session.table(name);
    const codec = await session.client.codec();
    const wanted = codec.decodeEntry(
      codec.encodeEntry({ ...entryOf(table, rest, () => ({ member: 0 })), action: undefined }),
    );
    const key = keyOf(wanted);
    const found = (await session.entries(nameOf(table))).find(({ entry }) => keyOf(entry) === key);
    if (found === undefined) fail(`the table ${name} has no entry with this key`);
    await session.lines(...entryLines(table, found.handle, found.entry));
  },
};

export { remove, resetDefault };
