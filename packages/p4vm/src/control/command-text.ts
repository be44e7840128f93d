import type { ActionProfile } from '../externs/action-profile.js';
import type { Action } from '../ir/program.js';
import { dataParameters, widthOf } from '../tables/data-width.js';
import type { KeyShape } from '../tables/key-match.js';
import type { MatchTable } from '../tables/match-table.js';
import type { EntryTarget, TableEntry } from '../tables/table-entry.js';
import { hexBytes } from './command-values.js';

/** `optional` keys are ternary ones on the command line. */
function kindName(shape: KeyShape): string {
  return shape.kind === 'optional' ? 'ternary' : shape.kind;
}

/** How a table matches as a whole. */
export function tableKind(table: MatchTable): 'exact' | 'lpm' | 'ternary' | 'range' {
  const kinds = table.shapes.map(kindName);
  if (kinds.includes('range')) return 'range';
  if (kinds.includes('ternary')) return 'ternary';
  return kinds.includes('lpm') ? 'lpm' : 'exact';
}

/** A line of `show_tables`. */
export function tableText(table: MatchTable): string {
  const keys = table.shapes.map((shape) => `${shape.name}(${kindName(shape)}, ${shape.width})`);
  const implementation = table.profile?.declaration.name ?? 'None';
  return `${table.declaration.name.padEnd(30)} [implementation=${implementation}, mk=${keys.join(',\t')}]`;
}

/** A line of `show_actions`. */
export function actionText(action: Action): string {
  const parameters = dataParameters(action.parameters).map(
    ({ variable }) => `${variable.name}(${widthOf(variable.type)})`,
  );
  return `${action.name.padEnd(30)} [${parameters.join(',\t')}]`;
}

/** `name:` in 20 columns, then the value. */
export function labelled(label: string, value: string): string {
  return `${label.padEnd(20)} ${value}`;
}

/** The whole bytes that a number needs, in hexadecimal. */
function shortest(value: bigint): string {
  const digits = value.toString(16);
  return digits.length % 2 === 0 ? digits : `0${digits}`;
}

/** An action with its data, as a dump shows it. */
function actionEntryText(action: string, values: readonly bigint[]): string {
  return `Action entry: ${action} - ${values.map(shortest).join(', ')}`;
}

/** The target of an entry or of a table's default, as a dump shows it. */
export function targetText(table: MatchTable, target: EntryTarget | undefined): string {
  if (target === undefined) return 'EMPTY';
  if (target.kind !== 'action') return `Index: ${target.kind}(${target.handle})`;
  const action = table.declaration.actions[target.call.action]?.action.name ?? '';
  return actionEntryText(action, target.call.data);
}

/** An entry as `table_dump` shows it, in lines. */
export function entryLines(table: MatchTable, entry: TableEntry): string[] {
  const width = Math.max(20, ...table.shapes.map((shape) => shape.name.length));
  const lines = [`Dumping entry 0x${entry.handle.toString(16)}`, 'Match key:'];
  table.shapes.forEach((shape, i) => {
    const bytes = Math.ceil(shape.width / 8);
    const hex = (value: bigint): string => hexBytes(value, bytes, '');
    const match = entry.keys[i]!;
    let text = '';
    if (match.kind === 'exact') text = hex(match.value);
    else if (match.kind === 'prefix') text = `${hex(match.value)}/${match.length}`;
    else if (match.kind === 'mask') text = `${hex(match.value)} &&& ${hex(match.mask)}`;
    else if (match.kind === 'range') text = `${hex(match.low)} -> ${hex(match.high)}`;
    lines.push(`* ${shape.name.padEnd(width)}: ${kindName(shape).toUpperCase().padEnd(10)}${text}`);
  });
  if (table.hasPriorities) lines.push(`Priority: ${entry.priority}`);
  lines.push(targetText(table, entry.target));
  if (entry.timeoutUs > 0) {
    const idle = Math.floor(table.idleUs(entry.handle) / 1000);
    lines.push(`Life: ${idle}ms since hit, timeout is ${Math.floor(entry.timeoutUs / 1000)}ms`);
  }
  return lines;
}

/** Members and groups as a dump shows them. */
export function profileLines(profile: ActionProfile): string[] {
  const lines = ['==========', 'MEMBERS'];
  for (const { handle } of profile.members()) lines.push('**********', ...memberLines(profile, handle));
  if (profile.isSelector) {
    lines.push('==========', 'GROUPS');
    for (const { handle } of profile.groups()) lines.push('**********', ...groupLines(profile, handle));
  }
  return lines;
}

/** A member as a dump shows it. */
export function memberLines(profile: ActionProfile, handle: number): string[] {
  const { action, values } = profile.member(handle);
  return [`Dumping member ${handle}`, actionEntryText(action.name, values)];
}

/** A group as a dump shows it. */
export function groupLines(profile: ActionProfile, handle: number): string[] {
  return [`Dumping group ${handle}`, `Members: [${profile.group(handle).members.join(', ')}]`];
}

/** A floating-point number as Python prints it. */
export function pythonFloat(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e16)) {
    return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
  }
  return Number.isInteger(value) ? `${value}.0` : `${value}`;
}

/** A sorted copy. */
export function byName<T>(items: readonly T[], nameOf: (item: T) => string): T[] {
  return [...items].sort((left, right) => (nameOf(left) < nameOf(right) ? -1 : 1));
}
