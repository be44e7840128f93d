import type { Action, ControlInstance, Expression, IrProgram, Statement } from '../ir/program.js';
import { operandsOf, partsOf } from '../ir/walk.js';

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

/** Most names per program. Further calculations have the names of their algorithms, and cannot be configured. */
const MAX_NAMES = 4096;

/** An item of a body that matters for calculations. */
type Item =
  | { readonly kind: 'call'; readonly call: Expression<'call-extern'>; readonly algorithm: string }
  | { readonly kind: 'body'; readonly body: Body }
  | { readonly kind: 'instance'; readonly instance: ControlInstance };

type Body = readonly Statement[];

/** The items of a node, those of its parts first. */
function itemsIn(node: Statement | Expression): readonly Item[] {
  const items = ('type' in node ? operandsOf(node) : partsOf(node)).flatMap(itemsIn);
  switch (node.kind) {
    case 'call-extern': {
      const algorithm = algorithmOf(node);
      return algorithm === undefined ? items : [...items, { kind: 'call', call: node, algorithm }];
    }
    case 'call-function':
    case 'call-action':
      return [...items, { kind: 'body', body: node.target.body.statements }];
    case 'apply-instance':
      return node.target.kind === 'control' ? [...items, { kind: 'instance', instance: node.target }] : items;
    default:
      return items;
  }
}

/** Bodies as lists of items. Each body is analysed once, however often it is called. */
class Bodies {
  readonly #items = new Map<Body, readonly Item[]>();
  readonly #hasCalls = new Map<Body, boolean>();

  itemsOf(body: Body): readonly Item[] {
    const items = this.#items.get(body) ?? body.flatMap(itemsIn);
    this.#items.set(body, items);
    return items;
  }

  /** Whether a body or one of its callees makes a calculation. */
  hasCalls(body: Body): boolean {
    const known = this.#hasCalls.get(body);
    if (known !== undefined) return known;
    const hasCalls = this.itemsOf(body).some((item) => {
      if (item.kind === 'call') return true;
      if (item.kind === 'body') return this.hasCalls(item.body);
      return this.hasCalls(item.instance.initial) || this.hasCalls(item.instance.body.statements);
    });
    this.#hasCalls.set(body, hasCalls);
    return hasCalls;
  }
}

function algorithmOf(call: Expression<'call-extern'>): string | undefined {
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
  let names = namesOf.get(program);
  if (names === undefined) {
    names = findCalculations(program);
    namesOf.set(program, names);
  }
  return names;
}

/** Finding them takes longer than all else of a further switch with the program. */
const namesOf = /* @__PURE__ */ new WeakMap<IrProgram, readonly NamedCalculation[]>();

function findCalculations(program: IrProgram): readonly NamedCalculation[] {
  const found = new Map<Expression, { readonly algorithm: string; readonly names: string[] }>();
  const bodies = new Bodies();
  let count = 0;
  const uses = new Map<Action, number>();
  for (const table of program.tables) {
    for (const { action } of table.actions) uses.set(action, (uses.get(action) ?? 0) + 1);
  }
  const name = (call: Expression<'call-extern'>, algorithm: string): void => {
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
        visit(item.instance.body.statements);
      }
    }
  };
  const seen = new Set<ControlInstance>();
  const visitActions = (control: ControlInstance): void => {
    if (seen.has(control)) return;
    seen.add(control);
    for (const action of control.actions) {
      // An action without tables: its calculations count at each call.
      for (let copy = uses.get(action) ?? 0; copy > 0 && count < MAX_NAMES; copy--) visit(action.body.statements);
    }
    for (const item of bodies.itemsOf(control.body.statements))
      if (item.kind === 'instance') visitActions(item.instance);
  };
  const pipelines = [program.ingress, program.egress, program.deparser].sort((left, right) =>
    left.span.file === right.span.file ? left.span.start - right.span.start : 0,
  );
  for (const control of pipelines) {
    visitActions(control);
    visit(control.initial);
    visit(control.body.statements);
  }
  for (const control of [program.computeChecksum, program.verifyChecksum]) {
    visit(control.initial);
    visit(control.body.statements);
  }
  return [...found].map(([call, { algorithm, names }]) => ({
    name: names[0]!,
    aliases: names.slice(1),
    algorithm,
    call,
  }));
}
