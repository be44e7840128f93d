import type { Action, Block, ControlInstance, Expression, IrProgram, Statement } from '../ir/program.js';

/** A call of `hash`, `update_checksum` or `verify_checksum` (also `..._with_payload`) in a program. */
export interface NamedCalculation {
  /** `calc`, `calc_0`, `calc_1`, ... A call that the reference compiler copies has several names; this is the first. */
  readonly name: string;
  readonly aliases: readonly string[];
  /** Member of `HashAlgorithm`. */
  readonly algorithm: string;
  readonly call: Expression;
}

/** Position of the algorithm among the arguments. */
const CALCULATION_CALLS: ReadonlyMap<string, number> = /* @__PURE__ */ new Map([
  ['hash', 1],
  ['update_checksum', 3],
  ['update_checksum_with_payload', 3],
  ['verify_checksum', 3],
  ['verify_checksum_with_payload', 3],
]);

type CallExtern = Extract<Expression, { readonly kind: 'call-extern' }>;

interface Visitor {
  call(call: CallExtern): void;
  instance(instance: ControlInstance): void;
}

/** Members of nodes that lead to declarations, not into the expression or statement. */
const NOT_DESCENDED: ReadonlySet<string> = /* @__PURE__ */ new Set([
  'type',
  'span',
  'target',
  'table',
  'instance',
  'valueSet',
  'typeArguments',
]);

function isNode(value: unknown): value is { readonly kind?: unknown } {
  return typeof value === 'object' && value !== null;
}

function walk(node: unknown, visitor: Visitor): void {
  if (Array.isArray(node)) {
    for (const each of node) walk(each, visitor);
    return;
  }
  if (!isNode(node)) return;
  const expression = node as Statement | Expression;
  switch (expression.kind) {
    case 'call-extern':
      for (const argument of expression.arguments) walk(argument.value, visitor);
      visitor.call(expression);
      return;
    case 'variable':
      return;
    case 'call-function':
    case 'call-action':
      for (const argument of expression.arguments) walk(argument.value, visitor);
      walk(expression.target.body, visitor);
      return;
    case 'apply-instance':
      for (const argument of expression.arguments) walk(argument.value, visitor);
      if (expression.target.kind === 'control') visitor.instance(expression.target);
      return;
    case 'assign':
      walk(expression.target, visitor);
      walk(expression.value, visitor);
      return;
    default:
      for (const [key, value] of Object.entries(node)) if (!NOT_DESCENDED.has(key)) walk(value, visitor);
  }
}

function walkBlock(block: Block | readonly Statement[], visitor: Visitor): void {
  walk('kind' in block ? block.statements : block, visitor);
}

function algorithmOf(call: CallExtern): string | undefined {
  const position = CALCULATION_CALLS.get(call.name);
  const value = position === undefined ? undefined : call.arguments[position]?.value;
  return value?.kind === 'constant' && value.type.kind === 'enum' ? value.type.members[Number(value.value)] : undefined;
}

/**
 * Finds the calculations of a program and names them as the reference compiler does: `calc`, `calc_0`, `calc_1`, ... for
 * the controls in the order of their declaration (each: its actions, once per table that uses them, then its body), then
 * the calls that compute checksums, then those that verify them. Calls in sub-controls count where the sub-control is
 * applied.
 */
export function nameCalculations(program: IrProgram): readonly NamedCalculation[] {
  const found = new Map<Expression, { readonly algorithm: string; readonly names: string[] }>();
  let count = 0;
  const uses = new Map<Action, number>();
  for (const table of program.tables) {
    for (const { action } of table.actions) uses.set(action, (uses.get(action) ?? 0) + 1);
  }
  const seen = new Set<ControlInstance>();
  const visitActions = (control: ControlInstance): void => {
    if (seen.has(control)) return;
    seen.add(control);
    for (const action of control.actions) {
      // Not used by any table: its calls are counted where it is called.
      for (let copy = uses.get(action) ?? 0; copy > 0; copy--) walkBlock(action.body, bodies);
    }
    walkBlock(control.body, { call: () => undefined, instance: visitActions });
  };
  const bodies: Visitor = {
    call(call) {
      const algorithm = algorithmOf(call);
      if (algorithm === undefined) return;
      const name = count === 0 ? 'calc' : `calc_${count - 1}`;
      count++;
      const known = found.get(call);
      if (known === undefined) found.set(call, { algorithm, names: [name] });
      else known.names.push(name);
    },
    instance(instance) {
      walkBlock(instance.initial, bodies);
      walkBlock(instance.body, bodies);
    },
  };
  const pipelines = [program.ingress, program.egress, program.deparser].sort((left, right) =>
    left.span.file === right.span.file ? left.span.start - right.span.start : 0,
  );
  for (const control of pipelines) {
    visitActions(control);
    bodies.instance(control);
  }
  bodies.instance(program.computeChecksum);
  bodies.instance(program.verifyChecksum);
  return [...found].map(([call, { algorithm, names }]) => ({
    name: names[0]!,
    aliases: names.slice(1),
    algorithm,
    call,
  }));
}
