import type {
  DataType,
  Expression,
  IrSelectCase,
  IrTransition,
  MatchKind,
  SelectLabel,
  State,
  Statement,
  StateTarget,
  ValueSet,
} from '../ir/program.js';
import type {
  Identifier,
  ParserDeclaration,
  ParserState,
  SelectCase,
  Expression as Syntax,
  Transition,
  ValueSetDeclaration,
} from '../syntax/ast.js';
import { isScalar, printType } from './data-types.js';
import { knownNumber, lowerExpression } from './expressions.js';
import type { Lowering } from './lowering.js';
import type { Scope } from './scope.js';
import { lowerStatements } from './statements.js';

const MATCH_KINDS: readonly MatchKind[] = ['exact', 'lpm', 'ternary', 'range', 'optional', 'selector'];

/** The match kind of a name; undefined for kinds that v1model.p4 does not have. */
export function matchKindOf(name: string): MatchKind | undefined {
  return MATCH_KINDS.find((each) => each === name);
}

/** The reachable states of a parser, `start` included. */
export function lowerStates(
  lowering: Lowering,
  scope: Scope,
  declaration: ParserDeclaration,
): { states: State[]; start: number } {
  const positions = new Map(declaration.states.map((state, index) => [state.name.text, index]));
  const states = declaration.states.map((state) => lowerState(lowering, scope, state, positions));
  return { states, start: positions.get('start') ?? lowering.missing(declaration.span, 'this parser has no start') };
}

function lowerState(
  lowering: Lowering,
  scope: Scope,
  state: ParserState,
  positions: ReadonlyMap<string, number>,
): State {
  lowering.spend(1, state.span);
  const body: Statement[] = lowerStatements(lowering, scope, state.body);
  const reject: IrTransition = { kind: 'goto', target: 'reject' };
  const { transition } = state;
  return {
    name: state.name.text,
    locals: body.flatMap((statement) => (statement.kind === 'declare' ? [statement.variable] : [])),
    body,
    transition:
      transition === undefined
        ? reject
        : lowering.attempt(() => lowerTransition(lowering, scope, transition, positions), reject),
    span: state.span,
  };
}

function target(lowering: Lowering, name: Identifier, positions: ReadonlyMap<string, number>): StateTarget {
  if (name.text === 'accept' || name.text === 'reject') return name.text;
  return positions.get(name.text) ?? lowering.missing(name.span, `${name.text} is not a state`);
}

function lowerTransition(
  lowering: Lowering,
  scope: Scope,
  transition: Transition,
  positions: ReadonlyMap<string, number>,
): IrTransition {
  if (transition.kind === 'goto') return { kind: 'goto', target: target(lowering, transition.state, positions) };
  const keys = transition.keys.flatMap((key) => spread(lowering, lowerExpression(lowering, scope, key)));
  const cases = transition.cases.map((each): IrSelectCase => {
    lowering.spend(1, each.span);
    const labels = lowerLabels(lowering, scope, each, keys);
    return { labels, target: target(lowering, each.state, positions) };
  });
  return { kind: 'select', keys, cases };
}

/** A key that is a tuple or struct stands for its members. */
function spread(lowering: Lowering, key: Expression): Expression[] {
  if (key.kind === 'aggregate') return key.elements.flatMap((each) => spread(lowering, each));
  if (isScalar(key.type)) return [key];
  return lowering.refuse(key.span, `a key of type ${printType(key.type)} cannot be matched`);
}

function lowerLabels(
  lowering: Lowering,
  scope: Scope,
  each: SelectCase,
  keys: readonly Expression[],
): readonly SelectLabel[] {
  const labels = each.keys.flatMap((key) => lowerLabel(lowering, scope, key));
  const [first] = labels;
  if (labels.length === 1 && first?.kind === 'any') return keys.map(() => first);
  if (labels.length === 1 && first?.kind === 'value-set') return labels;
  if (labels.some((label) => label.kind === 'value-set')) {
    lowering.refuse(each.span, 'a value set must stand for all keys of the select');
  }
  if (labels.length !== keys.length) {
    lowering.refuse(each.span, `${labels.length} labels stand for ${keys.length} keys`);
  }
  return labels;
}

function lowerLabel(lowering: Lowering, scope: Scope, label: Syntax): SelectLabel[] {
  switch (label.kind) {
    case 'default':
    case 'any':
    case 'dots':
      return [{ kind: 'any' }];
    case 'mask': {
      const value = lowerExpression(lowering, scope, label.value);
      return [{ kind: 'mask', value, mask: lowerExpression(lowering, scope, label.mask) }];
    }
    case 'range': {
      const low = lowerExpression(lowering, scope, label.low);
      return [{ kind: 'range', low, high: lowerExpression(lowering, scope, label.high) }];
    }
    case 'list':
      return label.elements.flatMap((each) => lowerLabel(lowering, scope, each));
    case 'path': {
      const symbol = lowering.checked.references.get(label);
      if (symbol?.kind === 'value-set') {
        return [{ kind: 'value-set', valueSet: valueSetFor(lowering, scope, symbol.declaration) }];
      }
    }
  }
  return spread(lowering, lowerExpression(lowering, scope, label)).map((value) => ({ kind: 'value', value }));
}

/** The value set of a declaration in a scope, made on first use. */
export function valueSetFor(lowering: Lowering, scope: Scope, declaration: ValueSetDeclaration): ValueSet {
  const known = scope.valueSets.get(declaration);
  if (known !== undefined) return known;
  const { name, span } = declaration;
  lowering.budget.spend('instances', 1, span);
  const type = lowering.dataTypeOfNode(declaration.type);
  const size = knownNumber(lowering, scope, declaration.size);
  if (size === undefined) lowering.refuse(declaration.size.span, 'the size of this value set is not known');
  const set: ValueSet = {
    id: lowering.valueSets.length,
    name: lowering.controlName(scope.prefix, declaration),
    type,
    keys: keysOf(lowering, type, type.kind === 'struct' ? '' : name.text, '', declaration),
    size: Number(size),
    span,
  };
  lowering.valueSets.push(set);
  lowering.notes.annotations.set(set, declaration.annotations);
  lowering.notes.types.set(set, lowering.typeOfNode(declaration.type));
  scope.valueSets.set(declaration, set);
  return set;
}

/** The keys of a type: one, or those of a struct's fields by their paths. `match`: the match kind, `exact` if empty. */
function keysOf(
  lowering: Lowering,
  type: DataType,
  path: string,
  match: string,
  declaration: ValueSetDeclaration,
): ValueSet['keys'] {
  if (type.kind === 'struct') {
    return type.fields.flatMap(({ name, type: fieldType, annotations }) => {
      const inner = path === '' ? name : `${path}.${name}`;
      return keysOf(lowering, fieldType, inner, annotations.get('match') ?? '', declaration);
    });
  }
  const { span } = declaration;
  if (!isScalar(type)) lowering.refuse(span, `a value set of ${printType(type)} cannot be matched`);
  const matchKind = matchKindOf(match.trim() || 'exact');
  if (matchKind === undefined) lowering.refuse(span, `the match kind ${match} is not supported`);
  return [{ name: path, type, matchKind }];
}
