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

type CallExtern = Expression<'call-extern'>;

/** Most names per program. Further calculations have the names of their algorithms, and cannot be configured. */
const MAX_NAMES = 4096;

/** An item of a body that matters for calculations. */
type Item =
  | { readonly kind: 'call'; readonly call: CallExtern; readonly algorithm: string }
  | { readonly kind: 'body'; readonly body: Body }
  | { readonly kind: 'instance'; readonly instance: ControlInstance };

type Body = Block | readonly Statement[];

/** Members of nodes that refer to declarations and are not part of the expression or statement. */
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

function collect(node: unknown, items: Item[]): void {
  if (Array.isArray(node)) {
    for (const each of node) collect(each, items);
    return;
  }
  if (!isNode(node)) return;
  const expression = node as Statement | Expression;
  switch (expression.kind) {
    case 'call-extern': {
      for (const argument of expression.arguments) collect(argument.value, items);
      const algorithm = algorithmOf(expression);
      if (algorithm !== undefined) items.push({ kind: 'call', call: expression, algorithm });
      return;
    }
    case 'variable':
      return;
    case 'call-function':
    case 'call-action':
      for (const argument of expression.arguments) collect(argument.value, items);
      items.push({ kind: 'body', body: expression.target.body });
      return;
    case 'apply-instance':
      for (const argument of expression.arguments) collect(argument.value, items);
      if (expression.target.kind === 'control') items.push({ kind: 'instance', instance: expression.target });
      return;
    case 'assign':
      collect(expression.target, items);
      collect(expression.value, items);
      return;
    default:
      for (const [key, value] of Object.entries(node)) if (!NOT_DESCENDED.has(key)) collect(value, items);
  }
}

/** Bodies as lists of items. Each body is analysed once, however often it is called. */
class Bodies {
  readonly #items = new Map<Body, readonly Item[]>();
  readonly #hasCalls = new Map<Body, boolean>();

  itemsOf(body: Body): readonly Item[] {
    let items = this.#items.get(body);
    if (items === undefined) {
      const all: Item[] = [];
      collect('kind' in body ? body.statements : body, all);
      items = all;
      this.#items.set(body, items);
    }
    return items;
  }

  /** Whether a body or one of its callees makes a calculation. */
  hasCalls(body: Body): boolean {
    let hasCalls = this.#hasCalls.get(body);
    if (hasCalls === undefined) {
      hasCalls = this.itemsOf(body).some((item) => {
        if (item.kind === 'call') return true;
        if (item.kind === 'body') return this.hasCalls(item.body);
        return this.hasCalls(item.instance.initial) || this.hasCalls(item.instance.body);
      });
      this.#hasCalls.set(body, hasCalls);
    }
    return hasCalls;
  }
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
  const bodies = new Bodies();
  let count = 0;
  const uses = new Map<Action, number>();
  for (const table of program.tables) {
    for (const { action } of table.actions) uses.set(action, (uses.get(action) ?? 0) + 1);
  }
  const name = (call: CallExtern, algorithm: string): void => {
    const given = count === 0 ? 'calc' : `calc_${count - 1}`;
    count++;
    const known = found.get(call);
    if (known === undefined) found.set(call, { algorithm, names: [given] });
    else known.names.push(given);
  };
  const visit = (body: Body): void => {
    if (!bodies.hasCalls(body)) return;
    for (const item of bodies.itemsOf(body)) {
      if (count >= MAX_NAMES) return;
      if (item.kind === 'call') name(item.call, item.algorithm);
      else if (item.kind === 'body') visit(item.body);
      else {
        visit(item.instance.initial);
        visit(item.instance.body);
      }
    }
  };
  const seen = new Set<ControlInstance>();
  const visitActions = (control: ControlInstance): void => {
    if (seen.has(control)) return;
    seen.add(control);
    for (const action of control.actions) {
      // An action without tables: its calculations count at each call.
      for (let copy = uses.get(action) ?? 0; copy > 0 && count < MAX_NAMES; copy--) visit(action.body);
    }
    for (const item of bodies.itemsOf(control.body)) if (item.kind === 'instance') visitActions(item.instance);
  };
  const pipelines = [program.ingress, program.egress, program.deparser].sort((left, right) =>
    left.span.file === right.span.file ? left.span.start - right.span.start : 0,
  );
  for (const control of pipelines) {
    visitActions(control);
    visit(control.initial);
    visit(control.body);
  }
  for (const control of [program.computeChecksum, program.verifyChecksum]) {
    visit(control.initial);
    visit(control.body);
  }
  return [...found].map(([call, { algorithm, names }]) => ({
    name: names[0]!,
    aliases: names.slice(1),
    algorithm,
    call,
  }));
}
