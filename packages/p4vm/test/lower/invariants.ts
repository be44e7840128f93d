import type { IrProgram, StructDataType } from '@int/p4vm';

/** Kinds of nodes that may stand in one place of a program only. */
const NODES: ReadonlySet<string> = new Set([
  'constant',
  'string',
  'variable',
  'member',
  'element',
  'stack-next',
  'stack-last',
  'stack-last-index',
  'slice',
  'dynamic-slice',
  'unary',
  'binary',
  'conditional',
  'cast',
  'aggregate',
  'default',
  'is-valid',
  'set-validity',
  'push-pop',
  'call-function',
  'call-action',
  'apply-instance',
  'apply-table',
  'call-extern',
  'call-packet',
  'call-method',
  'declare',
  'assign',
  'evaluate',
  'if',
  'return',
  'exit',
  'switch-action',
  'switch-value',
  'for',
  'for-range',
  'for-elements',
  'break',
  'continue',
  'block',
]);

/** Under these names nodes refer to what is declared elsewhere, or to no code at all. */
const REFERENCES: ReadonlySet<string> = new Set([
  'target',
  'table',
  'instance',
  'valueSet',
  'span',
  'implementation',
  'counter',
  'meter',
]);

/**
 * What is wrong with the form of a program: nodes that stand in two places, numbers that are not positions, structs and
 * objects that are not listed, variables that nothing declares. Empty for a program as it should be.
 */
export function brokenRules(program: IrProgram): string[] {
  const wrong: string[] = [];
  for (const list of ['externs', 'tables', 'actions', 'functions', 'valueSets'] as const) {
    program[list].forEach(({ id, name }, index) => {
      if (id !== index) wrong.push(`${list}: ${name} has the number ${id} at position ${index}`);
    });
  }
  const seen = new Set<object>();
  const declared = new Set<object>();
  const used = new Map<object, string>();
  const visit = (node: unknown, key: string): void => {
    if (typeof node !== 'object' || node === null) return;
    const { kind } = node as { readonly kind?: unknown };
    const isNode = typeof kind === 'string' && NODES.has(kind) && key !== 'type';
    if (seen.has(node)) {
      if (isNode) wrong.push(`a node of kind ${kind} is in two places`);
      return;
    }
    seen.add(node);
    if (node instanceof Map) return;
    if (kind === 'struct' || kind === 'header' || kind === 'union') {
      const struct = node as StructDataType;
      if (!program.structs.includes(struct)) wrong.push(`the type ${struct.name} is not listed`);
    }
    for (const [name, value] of Object.entries(node)) {
      if (name === 'target' && (kind === 'assign' || kind === 'goto')) visit(value, name);
      else if (name === 'target' || REFERENCES.has(name)) reference(name, value);
      else if (name === 'variable' && kind === 'variable') used.set(value, (value as { name: string }).name);
      else if (name === 'variable' && typeof value === 'object' && value !== null && 'id' in value) declared.add(value);
      else if (name === 'locals') for (const each of value as object[]) declared.add(each);
      else visit(value, name);
    }
  };
  const lists: Readonly<Record<string, readonly unknown[]>> = {
    table: program.tables,
    instance: program.externs,
    valueSet: program.valueSets,
    implementation: program.externs,
    counter: program.externs,
    meter: program.externs,
  };
  const reference = (name: string, value: unknown): void => {
    const list = lists[name];
    if (list !== undefined && value !== undefined && !list.includes(value)) wrong.push(`a ${name} is not listed`);
    if (name === 'target') visit(value, name);
  };
  // The surface holds types of the checker.
  visit({ ...program, surface: undefined }, '');
  for (const [variable, name] of used) if (!declared.has(variable)) wrong.push(`nothing declares the variable ${name}`);
  return wrong;
}
