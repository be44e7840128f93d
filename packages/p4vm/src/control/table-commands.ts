import type { Action } from '../ir/program.js';
import { refuse } from '../tables/control-error.js';
import { dataParameters, widthOf } from '../tables/data-width.js';
import type { EntryTarget, MatchTable } from '../tables/match-table.js';
import {
  atLeast,
  type CommandContext,
  type Commands,
  decimal,
  entryHandle,
  exactly,
  fail,
  resource,
  tooManyToShow,
} from './command-context.js';
import { CommandFailure } from './command-errors.js';
import {
  actionText,
  byName,
  entryLines,
  labelled,
  profileLines,
  tableKind,
  tableText,
  targetText,
} from './command-text.js';
import { type CommandKey, type CommandValue, hexBytes, parseCommandKey, parseRuntimeData } from './command-values.js';
import type { TableControl } from './table-control.js';

export function tableOf(context: CommandContext, name: string | undefined): TableControl {
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

/** Leaves out the arrow that may stand before an action's parameters. */
export function withoutArrow(texts: readonly string[]): readonly string[] {
  return texts[0] === '=>' ? texts.slice(1) : texts;
}

function actionOf(table: TableControl, tableName: string, name: string): { position: number; action: Action } {
  try {
    return table.action(name);
  } catch {
    return fail('ERR_CONTROL_UNKNOWN_ACTION', `Table ${tableName} has no action ${name}`);
  }
}

function targetOf(position: number, data: readonly CommandValue[]): EntryTarget {
  return { kind: 'action', call: { action: position, data: data.map(({ value }) => value) } };
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

export function keysOf(table: MatchTable, shown: string, texts: readonly string[]): CommandKey[] {
  if (texts.length !== table.shapes.length) {
    fail('ERR_CONTROL_WRONG_ARITY', `Table ${shown} needs ${table.shapes.length} key fields`);
  }
  return texts.map((text, i) => parseCommandKey(table.shapes[i]!, text));
}

/** Refuses tables with an action profile: other commands serve them. */
function needDirect(table: TableControl): void {
  if (table.runtime.profile !== undefined) refuse('ERR_CONTROL_INDIRECT', `${table.name} has an action profile`);
}

function actionLines(actions: readonly Action[]): string[] {
  return byName(actions, (action) => action.name).map(actionText);
}

function actionsOf({ runtime }: TableControl): Action[] {
  return runtime.declaration.actions.map(({ action }) => action);
}

export const TABLE_COMMANDS: Commands = {
  table_add: atLeast(3, (context, args) => {
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
      table.runtime.add(
        keys.map(({ match }) => match),
        targetOf(position, data),
        priority,
      ),
    );
    context.print(`Entry has been added with handle ${handle}`);
    context.outcome = { handle };
  }),
  table_set_default: atLeast(2, (context, [tableName = '', actionName = '', ...texts]) => {
    const table = tableOf(context, tableName);
    const { position, action } = actionOf(table, tableName, actionName);
    const data = dataOf(action, texts, actionName);
    context.print(
      `Setting default action of ${tableName}`,
      labelled('action:', actionName),
      labelled('runtime data:', dataText(data)),
    );
    context.attempt('table', () => table.runtime.setDefault(targetOf(position, data)));
  }),
  table_reset_default: exactly(1, (context, [name]) => {
    const table = tableOf(context, name);
    context.attempt('table', () => {
      needDirect(table);
      table.resetDefault();
    });
  }),
  table_modify: atLeast(3, (context, [tableName = '', actionName = '', handleText, ...rest]) => {
    const table = tableOf(context, tableName);
    const { position, action } = actionOf(table, tableName, actionName);
    const handle = entryHandle(handleText);
    const data = dataOf(action, withoutArrow(rest));
    context.print(`Modifying entry ${handle} for ${tableKind(table.runtime)} match table ${tableName}`);
    context.attempt('table', () => table.runtime.modify(handle, targetOf(position, data)));
  }),
  table_delete: exactly(2, (context, [name, handleText]) => {
    const table = tableOf(context, name);
    const handle = entryHandle(handleText);
    context.print(`Deleting entry ${handle} from ${name}`);
    context.attempt('table', () => {
      needDirect(table);
      table.delete(handle);
    });
  }),
  table_clear: exactly(1, (context, [name]) => {
    const table = tableOf(context, name);
    context.attempt('table', () => table.clear());
  }),
  table_num_entries: exactly(1, (context, [name]) => {
    const { count } = tableOf(context, name);
    context.print(`${count}`);
    context.outcome = { values: [BigInt(count)] };
  }),
  table_set_timeout: exactly(3, (context, [name, handleText, timeText]) => {
    const table = tableOf(context, name);
    if (!table.runtime.declaration.supportsTimeout) {
      fail('ERR_CONTROL_NO_TIMEOUT', `Table ${name} does not support entry timeouts`);
    }
    const handle = entryHandle(handleText);
    const milliseconds = decimal(timeText, 'Bad format for timeout');
    context.print(`Setting a ${milliseconds} ms timeout for entry ${handle}`);
    context.attempt('table', () => table.setTimeout(handle, milliseconds));
  }),
  table_info: exactly(1, (context, [name]) => {
    const table = tableOf(context, name);
    context.print(tableText(table.runtime), '*'.repeat(80));
    context.printAll(actionLines(actionsOf(table)));
  }),
  table_show_actions: exactly(1, (context, [name]) => context.printAll(actionLines(actionsOf(tableOf(context, name))))),
  show_tables: exactly(0, (context) =>
    context.printAll(
      byName(context.control.tables.values(), ({ name }) => name).map(({ runtime }) => tableText(runtime)),
    ),
  ),
  show_actions: exactly(0, (context) => context.printAll(actionLines(context.control.actions.values()))),
  table_dump: exactly(1, (context, [name]) => {
    const table = tableOf(context, name);
    const { runtime } = table;
    tooManyToShow(runtime.count, 'entries');
    context.print('==========', 'TABLE ENTRIES');
    for (const entry of runtime.entries()) context.print('**********', ...entryLines(runtime, entry));
    if (runtime.profile !== undefined) context.printAll(profileLines(runtime.profile));
    const target =
      runtime.profile !== undefined && runtime.defaultTarget?.kind === 'action' ? undefined : runtime.defaultTarget;
    context.print('==========', 'Dumping default entry', targetText(runtime, target), '==========');
    context.outcome = { entries: table.entries() };
  }),
  table_dump_entry: exactly(2, (context, [name, handleText]) => {
    const table = tableOf(context, name);
    const handle = entryHandle(handleText);
    const entry = context.attempt('table', () => table.runtime.entry(handle));
    context.print(...entryLines(table.runtime, entry));
    context.outcome = { entries: [table.entry(handle)] };
  }),
  table_dump_entry_from_key: atLeast(1, (context, args) => {
    const tableName = args[0]!;
    const table = tableOf(context, tableName);
    const priority = takePriority(table.runtime, args);
    const keys = keysOf(table.runtime, tableName, args.slice(1)).map(({ match }) => match);
    const handle = context.attempt('table', () => table.runtime.find(keys, priority));
    if (handle === undefined)
      throw new CommandFailure('ERR_CONTROL_BAD_HANDLE', 'Invalid table operation (BAD_MATCH_KEY)');
    context.print(...entryLines(table.runtime, table.runtime.entry(handle)));
    context.outcome = { entries: [table.entry(handle)] };
  }),
};
