import type { Action, ActionCall } from '../ir/program.js';
import { ControlError } from '../tables/control-error.js';
import { dataParameters, widthOf } from '../tables/data-width.js';
import type { MatchTable } from '../tables/match-table.js';
import {
  atLeast,
  type Command,
  type CommandContext,
  decimal,
  exactly,
  fail,
  resource,
  tooManyToShow,
} from './command-context.js';
import { CommandFailure } from './command-errors.js';
import { actionText, entryLines, labelled, profileLines, tableKind, tableText, targetText } from './command-text.js';
import { type CommandKey, type CommandValue, hexBytes, parseCommandKey, parseRuntimeData } from './command-values.js';
import type { TableControl } from './table-control.js';

export function tableOf(context: CommandContext, name: string): TableControl {
  return resource(context.control.tables, 'table', name);
}

/** Reads the parameters of an action. */
export function dataOf(action: Action, texts: readonly string[], shown = action.name): CommandValue[] {
  const parameters = dataParameters(action.parameters);
  if (texts.length !== parameters.length) {
    fail('ERR_CONTROL_WRONG_ARITY', `Action ${shown} needs ${parameters.length} parameters`);
  }
  return parseRuntimeData(
    texts,
    parameters.map(({ variable }) => widthOf(variable.type)),
  );
}

function actionOf(table: TableControl, tableName: string, name: string): { position: number; action: Action } {
  try {
    return table.action(name);
  } catch {
    return fail('ERR_CONTROL_UNKNOWN_ACTION', `Table ${tableName} has no action ${name}`);
  }
}

function callOf(position: number, data: readonly CommandValue[]): ActionCall {
  return { action: position, data: data.map(({ value }) => value) };
}

function dataText(data: readonly CommandValue[]): string {
  return data.map(({ value, bytes }) => hexBytes(value, bytes, ':')).join('\t');
}

/** Takes the priority from the end of the arguments, if the table has priorities. */
export function takePriority(table: MatchTable, args: string[]): number {
  const kind = tableKind(table);
  if (kind !== 'ternary' && kind !== 'range') return 0;
  return decimal(args.pop(), 'Table is ternary, but could not extract a valid priority from args');
}

function keysOf(table: MatchTable, shown: string, texts: readonly string[]): CommandKey[] {
  if (texts.length !== table.shapes.length) {
    fail('ERR_CONTROL_WRONG_ARITY', `Table ${shown} needs ${table.shapes.length} key fields`);
  }
  return texts.map((text, i) => parseCommandKey(table.shapes[i]!, text));
}

const add: Command = (context, args) => {
  atLeast(args, 3);
  const [tableName = '', actionName = ''] = args;
  const table = tableOf(context, tableName);
  const { position, action } = actionOf(table, tableName, actionName);
  const priority = takePriority(table.runtime, args);
  const arrow = args.indexOf('=>', 2);
  const end = arrow < 0 ? args.length - 1 : arrow;
  const keyTexts = args.slice(2, Math.max(2, end));
  if (keyTexts.length !== table.runtime.shapes.length) keysOf(table.runtime, tableName, keyTexts);
  const data = dataOf(action, args.slice(end + 1));
  const keys = keysOf(table.runtime, tableName, keyTexts);
  context.print(
    `Adding entry to ${tableKind(table.runtime)} match table ${tableName}`,
    labelled('match key:', keys.map(({ text }) => text).join('\t')),
    labelled('action:', actionName),
    labelled('runtime data:', dataText(data)),
  );
  const handle = context.attempt('table', () =>
    table.runtime.add({ keys: keys.map(({ match }) => match), call: callOf(position, data), priority }),
  );
  context.print(`Entry has been added with handle ${handle}`);
  context.outcome = { handle };
};

const setDefault: Command = (context, args) => {
  atLeast(args, 2);
  const [tableName = '', actionName = '', ...texts] = args;
  const table = tableOf(context, tableName);
  const { position, action } = actionOf(table, tableName, actionName);
  const data = dataOf(action, texts, actionName);
  context.print(
    `Setting default action of ${tableName}`,
    labelled('action:', actionName),
    labelled('runtime data:', dataText(data)),
  );
  context.attempt('table', () => table.runtime.setDefault(callOf(position, data)));
};

const resetDefault: Command = (context, args) => {
  exactly(args, 1);
  const table = tableOf(context, args[0]!);
  context.attempt('table', () => {
    needDirect(table);
    table.resetDefault();
  });
};

/** Refuses tables with an action profile: other commands serve them. */
function needDirect(table: TableControl): void {
  if (table.runtime.profile !== undefined)
    throw new ControlError('ERR_CONTROL_INDIRECT', `${table.name} has an action profile`);
}

const modify: Command = (context, args) => {
  atLeast(args, 3);
  const [tableName = '', actionName = '', handleText = '', ...rest] = args;
  const table = tableOf(context, tableName);
  const { position, action } = actionOf(table, tableName, actionName);
  const handle = decimal(handleText, 'Bad format for entry handle');
  const data = dataOf(action, rest[0] === '=>' ? rest.slice(1) : rest);
  context.print(`Modifying entry ${handle} for ${tableKind(table.runtime)} match table ${tableName}`);
  context.attempt('table', () => table.runtime.modify(handle, callOf(position, data)));
};

const remove: Command = (context, args) => {
  exactly(args, 2);
  const [tableName = '', handleText = ''] = args;
  const table = tableOf(context, tableName);
  const handle = decimal(handleText, 'Bad format for entry handle');
  context.print(`Deleting entry ${handle} from ${tableName}`);
  context.attempt('table', () => {
    needDirect(table);
    table.delete(handle);
  });
};

const clear: Command = (context, args) => {
  exactly(args, 1);
  const table = tableOf(context, args[0]!);
  context.attempt('table', () => table.clear());
};

const countEntries: Command = (context, args) => {
  exactly(args, 1);
  const { count } = tableOf(context, args[0]!);
  context.print(`${count}`);
  context.outcome = { values: [BigInt(count)] };
};

const setTimeout: Command = (context, args) => {
  exactly(args, 3);
  const [tableName = '', handleText, timeText] = args;
  const table = tableOf(context, tableName);
  if (!table.runtime.declaration.supportsTimeout) {
    fail('ERR_CONTROL_NO_TIMEOUT', `Table ${tableName} does not support entry timeouts`);
  }
  const handle = decimal(handleText, 'Bad format for entry handle');
  const milliseconds = decimal(timeText, 'Bad format for timeout');
  context.print(`Setting a ${milliseconds} ms timeout for entry ${handle}`);
  context.attempt('table', () => table.setTimeout(handle, milliseconds));
};

const info: Command = (context, args) => {
  exactly(args, 1);
  const { runtime } = tableOf(context, args[0]!);
  context.print(tableText(runtime), '*'.repeat(80));
  context.printAll(actionLines(runtime.declaration.actions.map(({ action }) => action)));
};

const showTableActions: Command = (context, args) => {
  exactly(args, 1);
  const { runtime } = tableOf(context, args[0]!);
  context.printAll(actionLines(runtime.declaration.actions.map(({ action }) => action)));
};

function byName<T>(items: readonly T[], nameOf: (item: T) => string): T[] {
  return [...items].sort((left, right) => (nameOf(left) < nameOf(right) ? -1 : 1));
}

function actionLines(actions: readonly Action[]): string[] {
  return byName(actions, (action) => action.name).map(actionText);
}

const showTables: Command = (context, args) => {
  exactly(args, 0);
  context.printAll(
    byName(context.control.tables.values(), ({ name }) => name).map(({ runtime }) => tableText(runtime)),
  );
};

const showActions: Command = (context, args) => {
  exactly(args, 0);
  context.printAll(actionLines(context.control.actions.values()));
};

const dump: Command = (context, args) => {
  exactly(args, 1);
  const table = tableOf(context, args[0]!);
  const { runtime } = table;
  tooManyToShow(runtime.count, 'entries');
  context.print('==========', 'TABLE ENTRIES');
  for (const entry of runtime.entries()) context.print('**********', ...entryLines(runtime, entry));
  if (runtime.profile !== undefined) context.printAll(profileLines(runtime.profile));
  const target =
    runtime.profile !== undefined && runtime.defaultTarget?.kind === 'action' ? undefined : runtime.defaultTarget;
  context.print('==========', 'Dumping default entry', targetText(runtime, target), '==========');
  context.outcome = { entries: table.entries() };
};

const dumpEntry: Command = (context, args) => {
  exactly(args, 2);
  const table = tableOf(context, args[0]!);
  const handle = decimal(args[1], 'Bad format for entry handle');
  const entry = context.attempt('table', () => table.runtime.entry(handle));
  context.print(...entryLines(table.runtime, entry));
  context.outcome = { entries: [table.entry(handle)] };
};

const dumpEntryFromKey: Command = (context, args) => {
  atLeast(args, 1);
  const tableName = args[0]!;
  const table = tableOf(context, tableName);
  const priority = takePriority(table.runtime, args);
  const keys = keysOf(table.runtime, tableName, args.slice(1));
  const handle = context.attempt('table', () =>
    table.runtime.find(
      keys.map(({ match }) => match),
      priority,
    ),
  );
  if (handle === undefined)
    throw new CommandFailure('ERR_CONTROL_BAD_HANDLE', 'Invalid table operation (BAD_MATCH_KEY)');
  context.print(...entryLines(table.runtime, table.runtime.entry(handle)));
  context.outcome = { entries: [table.entry(handle)] };
};

export const TABLE_COMMANDS: ReadonlyMap<string, Command> = /* @__PURE__ */ new Map([
  ['table_add', add],
  ['table_set_default', setDefault],
  ['table_reset_default', resetDefault],
  ['table_modify', modify],
  ['table_delete', remove],
  ['table_clear', clear],
  ['table_num_entries', countEntries],
  ['table_set_timeout', setTimeout],
  ['table_info', info],
  ['table_show_actions', showTableActions],
  ['show_tables', showTables],
  ['show_actions', showActions],
  ['table_dump', dump],
  ['table_dump_entry', dumpEntry],
  ['table_dump_entry_from_key', dumpEntryFromKey],
]);
