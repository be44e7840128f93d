import type {
  ActionDeclaration,
  ActionReference,
  Argument,
  CallExpression,
  ConstantDeclaration,
  ControlDeclaration,
  Declaration,
  Expression,
  ExternDeclaration,
  ExternMethod,
  ForInStatement,
  FunctionDeclaration,
  InstanceDeclaration,
  ObjectTypeDeclaration,
  Parameter,
  ParserDeclaration,
  ParserState,
  PathExpression,
  Program,
  StructExpression,
  TableDeclaration,
  TableEntry,
  TypeNode,
  ValueSetDeclaration,
  VariableDeclaration,
} from '../syntax/ast.js';
import type { Field, Type } from '../types/type.js';

/**
 * What the checker finds out about the nodes of a syntax tree. A generic function, parser or control of the user is
 * checked once per list of type arguments, on a copy of its declaration. Calls refer to the copy, so no type in these
 * maps has a variable in it.
 */
export class Found {
  /**
   * The type of every expression, after implicit conversions: the operand of `x + 1` with x of bit<8> has type bit<8>
   * on both sides; a list that is assigned to a struct has the struct's type; a value of a serializable enum that stands
   * where its underlying type is needed has that type (and an entry in `implicitCasts`). Absent: expressions that name
   * types, actions (in tables) and methods.
   */
  readonly types = new Map<Expression, Type>();

  /** Type of an expression before an implicit conversion that needs work at run time. */
  readonly implicitCasts = new Map<Expression, Type>();

  /**
   * Values of expressions that are known at compile time, in the type of `types`. Expressions that depend on a
   * constructor parameter of the control or parser around them are absent.
   */
  readonly constants = new Map<Expression, ConstantValue>();

  /** The declaration that a name in an expression refers to. */
  readonly references = new Map<PathExpression, ValueSymbol>();

  /** The callee of each call. */
  readonly calls = new Map<CallExpression, ResolvedCall>();

  /** The meaning of each member access. */
  readonly members = new Map<Expression, ResolvedMember>();

  /** Types as written: of variables, parameters, fields, type arguments. Typedefs are resolved, type variables replaced. */
  readonly typeNodes = new Map<TypeNode, Type>();

  /** The type and the arguments of each instance declaration, in the order of the constructor's parameters. */
  readonly instances = new Map<InstanceDeclaration, ResolvedConstructor>();

  /** Actions, entries and default action of each table. */
  readonly tables = new Map<TableDeclaration, CheckedTable>();

  /** Type of a for-in loop's elements. */
  readonly loops = new Map<ForInStatement, Type>();
}

/** The result of the checker for a program without errors. */
export interface CheckedProgram extends Found {
  readonly program: Program;

  /** Errors in order of declaration, those of core.p4 first: the value of `error.X` is its position. */
  readonly errors: readonly string[];

  /** The instance named `main`. */
  readonly main: InstanceDeclaration;
}

/** A value known at compile time. Integers, bit strings (unsigned), signed ones, enum members (position), errors: bigint. */
export type ConstantValue =
  | { readonly kind: 'integer'; readonly value: bigint }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'string'; readonly value: string }
  /** Member of an enum without values; those of a serializable enum are integers. */
  | { readonly kind: 'enum'; readonly member: string; readonly position: number }
  | { readonly kind: 'error'; readonly name: string; readonly position: number }
  /** Struct, header, tuple or list value; elements in order of the fields. */
  | { readonly kind: 'aggregate'; readonly elements: readonly ConstantValue[] }
  | { readonly kind: 'invalid-header' };

/** The meaning of a name in an expression. */
export type ValueSymbol =
  | { readonly kind: 'variable'; readonly declaration: VariableDeclaration }
  | { readonly kind: 'constant'; readonly declaration: ConstantDeclaration }
  /** Of an action, function, parser, control or method. */
  | { readonly kind: 'parameter'; readonly declaration: Parameter }
  /** Of a constructor: known when the instance is made. */
  | { readonly kind: 'constructor-parameter'; readonly declaration: Parameter }
  | { readonly kind: 'instance'; readonly declaration: InstanceDeclaration }
  | { readonly kind: 'table'; readonly declaration: TableDeclaration }
  | { readonly kind: 'value-set'; readonly declaration: ValueSetDeclaration }
  | { readonly kind: 'action'; readonly declaration: ActionDeclaration }
  | { readonly kind: 'function'; readonly declaration: FunctionDeclaration }
  | { readonly kind: 'extern-function'; readonly declaration: ExternDeclaration }
  | { readonly kind: 'state'; readonly declaration: ParserState }
  | { readonly kind: 'type'; readonly declaration: Declaration };

/** The meaning of `base.member`, unless it is a method that is called. */
export type ResolvedMember =
  | { readonly kind: 'field'; readonly field: Field }
  /** `next`, `last`, `lastIndex`, `size` of a stack. */
  | { readonly kind: 'stack'; readonly property: 'next' | 'last' | 'lastIndex' | 'size' }
  /** A member of an enum or of error: in `constants`. */
  | { readonly kind: 'constant' }
  /** `hit`, `miss`, `action_run` of a table's application. */
  | { readonly kind: 'table-result'; readonly property: 'hit' | 'miss' | 'action_run' };

/**
 * An argument bound to its parameter. Lists are in the order of the parameters; arguments are evaluated in the order of
 * the call. `argument` is undefined for one that is left out (default value or `@optional`).
 */
export interface BoundArgument {
  readonly parameter: Parameter;
  readonly type: Type;
  readonly argument: Argument | undefined;
}

interface Bound {
  readonly arguments: readonly BoundArgument[];
}

interface BoundGeneric extends Bound {
  readonly typeArguments: readonly Type[];
}

interface Returning {
  readonly returnType: Type;
}

export type ResolvedCall =
  /** `declaration`: a copy per list of type arguments, if the function is generic. */
  | ({ readonly kind: 'function'; readonly declaration: FunctionDeclaration } & Bound & Returning)
  | ({ readonly kind: 'action'; readonly declaration: ActionDeclaration } & Bound)
  | ({ readonly kind: 'extern-function'; readonly name: string } & BoundGeneric & Returning)
  /** A method of an extern object: `object` is the expression before the dot (a path to an instance or parameter). */
  | ({
      readonly kind: 'extern-method';
      readonly object: Expression;
      readonly method: ExternMethod;
    } & BoundGeneric &
      Returning)
  /** `apply` of a parser or control: of an instance, or of a type (which makes an instance of its own on the spot). */
  | ({
      readonly kind: 'apply';
      readonly object: Expression;
      /**
       * A type declaration if `object` is a constructor parameter, which may be another instance in each
       * specialisation.
       */
      readonly target: ParserDeclaration | ControlDeclaration | ObjectTypeDeclaration;
      readonly isDirect: boolean;
    } & Bound)
  | { readonly kind: 'apply-table'; readonly table: TableDeclaration }
  /** isValid, setValid, setInvalid of headers and unions; push_front, pop_front of stacks; minSizeInBits, ... (constants). */
  | {
      readonly kind: 'builtin';
      readonly object: Expression;
      readonly method: BuiltinName;
      /** Count of push_front and pop_front. */
      readonly count: number | undefined;
    }
  /** A constructor call as an expression, such as the arguments of the package. */
  | { readonly kind: 'constructor'; readonly constructor: ResolvedConstructor };

export type BuiltinName =
  | 'isValid'
  | 'setValid'
  | 'setInvalid'
  | 'push_front'
  | 'pop_front'
  | `${'min' | 'max'}SizeIn${'Bits' | 'Bytes'}`;

export type ResolvedConstructor =
  | ({ readonly kind: 'extern'; readonly declaration: ExternDeclaration } & BoundGeneric)
  | ({ readonly kind: 'parser' | 'control'; readonly declaration: ParserDeclaration | ControlDeclaration } & Bound)
  | ({ readonly kind: 'package'; readonly name: string } & BoundGeneric);

export interface CheckedTable {
  readonly keys: readonly { readonly type: Type; readonly matchKind: string; readonly name: string }[];
  readonly actions: readonly CheckedActionReference[];
  /** Undefined: NoAction, unless the table has no such action (then nothing happens on a miss). */
  readonly defaultAction: CheckedActionCall | undefined;
  readonly isDefaultConst: boolean;
  readonly entries: readonly CheckedEntry[];
  readonly areEntriesConst: boolean;
}

export interface CheckedActionReference {
  readonly reference: ActionReference;
  readonly action: ActionDeclaration;
  /** Arguments given in the list, for the action's directional parameters. */
  readonly bound: readonly BoundArgument[];
  readonly isTableOnly: boolean;
  readonly isDefaultOnly: boolean;
}

/**
 * An action with values for its data (directionless) parameters, in their order. Values for the others are those of the
 * table's list (`CheckedActionReference.bound`).
 */
export interface CheckedActionCall {
  readonly action: ActionDeclaration;
  readonly data: readonly BoundArgument[];
}

export interface CheckedEntry {
  readonly entry: TableEntry;
  readonly call: CheckedActionCall;
  readonly priority: number | undefined;
}

/** The name a struct expression gives to each field, in order of the type. Kept here so that both stages agree on it. */
export function orderedValues(expression: StructExpression, fields: readonly Field[]): (Expression | undefined)[] {
  const values = new Map(expression.fields.map((each) => [each.name.text, each.value]));
  return fields.map((field) => values.get(field.name));
}
