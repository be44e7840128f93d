import { type EntryAction, type Match, p4config, type ReadTableEntry } from '@int/p4runtime';
import type { P4InfoIndex } from '@int/p4runtime/internals';

const KINDS: Readonly<Record<number, string>> = {
  [p4config.MatchField_MatchType.EXACT]: 'exact',
  [p4config.MatchField_MatchType.LPM]: 'lpm',
  [p4config.MatchField_MatchType.TERNARY]: 'ternary',
  [p4config.MatchField_MatchType.RANGE]: 'range',
  // As on the command line of the switch.
  [p4config.MatchField_MatchType.OPTIONAL]: 'ternary',
};

export function kindOf({ match }: p4config.MatchField): string {
  return match.case === 'matchType' ? (KINDS[match.value] ?? 'unknown') : 'other';
}

/** Whether entries of a table have priorities. */
export function hasPriorities({ matchFields }: p4config.Table): boolean {
  return matchFields.some((field) => ['ternary', 'range'].includes(kindOf(field)));
}

export const nameOf = (object: { readonly preamble?: p4config.Preamble | undefined }): string =>
  object.preamble?.name ?? '';

/** A line of `show_tables`. */
export function tableText(table: p4config.Table, index: P4InfoIndex): string {
  const keys = table.matchFields.map((field) => `${field.name}(${kindOf(field)}, ${field.bitwidth})`);
  const implementation = table.implementationId === 0 ? 'None' : index.nameOf('actionProfile', table.implementationId);
  return `${nameOf(table).padEnd(30)} [implementation=${implementation}, mk=${keys.join(',\t')}]`;
}

/** A line of `show_actions`. */
export function actionText(action: p4config.Action): string {
  const parameters = action.params.map(({ name, bitwidth }) => `${name}(${bitwidth})`);
  return `${nameOf(action).padEnd(30)} [${parameters.join(',\t')}]`;
}

const hex = (value: unknown, bits: number): string =>
  typeof value === 'bigint' ? value.toString(16).padStart(2 * Math.ceil(bits / 8), '0') : String(value);

function matchText(match: Match | undefined, bits: number): string {
  if (match === undefined) return '*';
  switch (match.kind) {
    case 'lpm':
      return `${hex(match.value, bits)}/${match.length}`;
    case 'ternary':
      return `${hex(match.value, bits)} &&& ${hex(match.mask, bits)}`;
    case 'range':
      return `${hex(match.low, bits)} -> ${hex(match.high, bits)}`;
    default:
      return hex(match.value, bits);
  }
}

export function entryActionText(action: EntryAction | undefined): string {
  if (action === undefined) return 'EMPTY';
  if ('member' in action) return `Index: member(${action.member})`;
  if ('group' in action) return `Index: group(${action.group})`;
  if ('oneShot' in action) {
    const shares = action.oneShot.map((each) => `${callText(each.action, each.params)} * ${each.weight}`);
    return `Action set: ${shares.join('; ')}`;
  }
  return `Action entry: ${callText(action.action, action.params)}`;
}

export function callText(name: string, params: Readonly<Record<string, unknown>>): string {
  const values = Object.values(params).map((value) => {
    const digits = typeof value === 'bigint' ? value.toString(16) : String(value);
    return typeof value === 'bigint' && digits.length % 2 === 1 ? `0${digits}` : digits;
  });
  return `${name} - ${values.join(', ')}`;
}

/** The largest number that a priority of the command line may be; there the smallest wins, in P4Runtime the largest. */
const MOST_PRIORITY = 0xff_ffff;

/** The priority of a command as P4Runtime has it, and back. */
export const turned = (priority: number): number => MOST_PRIORITY + 1 - priority;

/** An entry as `table_dump` shows it. */
export function entryLines(table: p4config.Table, handle: number, entry: ReadTableEntry): string[] {
  const width = Math.max(20, ...table.matchFields.map(({ name }) => name.length));
  const lines = [`Dumping entry 0x${handle.toString(16)}`, 'Match key:'];
  for (const field of table.matchFields) {
    const text = matchText(entry.match[field.name], field.bitwidth);
    lines.push(`* ${field.name.padEnd(width)}: ${kindOf(field).toUpperCase().padEnd(10)}${text}`);
  }
  if (hasPriorities(table)) lines.push(`Priority: ${turned(entry.priority ?? 0)}`);
  lines.push(entryActionText(entry.action));
  if (entry.idleTimeoutNs !== undefined) {
    const since = entry.timeSinceLastHitNs ?? 0n;
    lines.push(`Life: ${since / 1_000_000n}ms since hit, timeout is ${entry.idleTimeoutNs / 1_000_000n}ms`);
  }
  return lines;
}
