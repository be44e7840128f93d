import type { TableDeclaration, TableProperty } from '../syntax/ast.js';
import { describeType } from '../types/describe.js';
import { BOOL } from '../types/primitives.js';
import type { CheckedActionCall, CheckedActionReference } from './checked-program.js';
import type { Checker } from './checker.js';
import { isKnownOrReport } from './constants.js';
import { check, enumToNumber } from './convert.js';
import { infer } from './expressions.js';
import { checkActionCall } from './tables.js';

/** The properties of a table. */
export interface CheckedProperties {
  readonly defaultAction: CheckedActionCall | undefined;
  readonly isDefaultConst: boolean;
  readonly largestWins: boolean;
  readonly priorityDelta: bigint;
}

function checkObject(c: Checker, property: TableProperty, types: readonly string[]): void {
  const type = infer(c, property.value);
  if (type.kind === 'unknown') return;
  if (type.kind === 'extern' && types.includes(type.name)) return;
  const message = `"${property.name.text}" must be an instance of ${types.join(' or ')}, not ${describeType(type)}`;
  c.report('target', 'property-type', property.value.span, message);
}

function checkNumber(c: Checker, property: TableProperty, least: bigint): bigint | undefined {
  const { name, value } = property;
  const type = infer(c, value);
  if (type.kind === 'unknown') return undefined;
  if (enumToNumber(c, value).kind !== 'bits' && type.kind !== 'integer') {
    return c.error('property-type', value.span, `"${name.text}" must be a number, not ${describeType(type)}`);
  }
  if (!isKnownOrReport(c, value, `"${name.text}"`)) return undefined;
  const number = c.found.constants.get(value);
  if (number?.kind !== 'integer') return undefined;
  if (number.value >= least) return number.value;
  return c.error('property-value', value.span, `"${name.text}" must be at least ${least}, not ${number.value}`);
}

function checkFlag(c: Checker, property: TableProperty): boolean | undefined {
  if (!check(c, property.value, BOOL)) return undefined;
  isKnownOrReport(c, property.value, `"${property.name.text}"`);
  const value = c.found.constants.get(property.value);
  return value?.kind === 'boolean' ? value.value : undefined;
}

function checkDefault(
  c: Checker,
  property: TableProperty,
  actions: readonly CheckedActionReference[],
  table: string,
): CheckedActionCall | undefined {
  const { value } = property;
  if (value.kind !== 'path' && value.kind !== 'call') {
    infer(c, value);
    return c.error('not-an-action', value.span, 'the default action must be an action, with its data in parentheses');
  }
  const checked = checkActionCall(c, value, actions, table);
  if (checked?.reference.isTableOnly) {
    const message = `action "${checked.call.action.name.text}" is @tableonly: it cannot be the default`;
    c.error('table-only', value.span, message);
  }
  return checked?.call;
}

/** Checks the properties of a table except key, actions and entries. Warns of unknown ones. */
export function checkProperties(
  c: Checker,
  declaration: TableDeclaration,
  actions: readonly CheckedActionReference[],
): CheckedProperties {
  let defaultAction: CheckedActionCall | undefined;
  let isDefaultConst = false;
  let largestWins = true;
  let priorityDelta = 1n;
  for (const property of declaration.properties) {
    const { name, value } = property;
    switch (name.text) {
      case 'default_action':
        defaultAction = checkDefault(c, property, actions, declaration.name.text);
        isDefaultConst = property.isConst;
        break;
      case 'implementation':
        checkObject(c, property, ['action_profile', 'action_selector']);
        break;
      case 'counters':
        checkObject(c, property, ['direct_counter']);
        break;
      case 'meters':
        checkObject(c, property, ['direct_meter']);
        break;
      case 'size':
        checkNumber(c, property, 0n);
        break;
      case 'support_timeout':
        checkFlag(c, property);
        break;
      case 'largest_priority_wins':
        largestWins = checkFlag(c, property) ?? true;
        break;
      case 'priority_delta':
        priorityDelta = checkNumber(c, property, 1n) ?? 1n;
        break;
      default:
        c.warn('unknown-property', name.span, `property "${name.text}" of a table is not known, and ignored`);
        if (value.kind !== 'path' && value.kind !== 'call') infer(c, value);
    }
  }
  return { defaultAction, isDefaultConst, largestWins, priorityDelta };
}
