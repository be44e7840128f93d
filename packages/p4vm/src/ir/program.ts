import type { Span } from '../source/position.js';
import type { BinaryOperator, Direction } from '../syntax/ast.js';
import type { ControlSurface } from './control-surface.js';

/**
 * The specialised program, which the compiler translates to JavaScript. It holds each parser and control once per
 * instance, with the constructor's arguments inserted. It has no type parameters, no typedefs and no names to resolve;
 * conversions are explicit. Only nodes that declare something (variables, actions, tables, ...) may be shared by
 * reference.
 */
export interface IrProgram {
  /** All struct, header and union types in use. */
  readonly structs: readonly StructDataType[];
  readonly errors: readonly string[];
  /** Parts of `V1Switch`. */
  readonly parser: ParserInstance;
  readonly verifyChecksum: ControlInstance;
  readonly ingress: ControlInstance;
  readonly egress: ControlInstance;
  readonly computeChecksum: ControlInstance;
  readonly deparser: ControlInstance;
  readonly headers: StructDataType;
  readonly metadata: StructDataType;
  /** `standard_metadata_t` as declared by v1model.p4. */
  readonly standardMetadata: StructDataType;
  /** Extern objects, in order of `id` (0, 1, ...). */
  readonly externs: readonly ExternInstance[];
  /** All tables, in order of `id`. */
  readonly tables: readonly Table[];
  /** All actions, in order of `id`. */
  readonly actions: readonly Action[];
  readonly functions: readonly IrFunction[];
  readonly valueSets: readonly ValueSet[];
  /** `@field_list(n)` of the user metadata's fields, by n: paths such as `['a', 'b']`. */
  readonly fieldLists: ReadonlyMap<number, readonly (readonly string[])[]>;
  /** Names of enums in use, for introspection and logs. */
  readonly enums: readonly { readonly name: string; readonly members: readonly string[] }[];
  /** Annotations and types as written, for control planes. */
  readonly surface: ControlSurface;
}

// Types of values at run time

export type DataType =
  | { readonly kind: 'bits'; readonly width: number; readonly isSigned: boolean; readonly enumName?: string }
  | { readonly kind: 'bool' }
  /** A number: the position in `IrProgram.errors`. */
  | { readonly kind: 'error' }
  /** Enum without values: a number, the member's position. */
  | { readonly kind: 'enum'; readonly name: string; readonly members: readonly string[] }
  | { readonly kind: 'varbit'; readonly maxWidth: number }
  | { readonly kind: 'string' }
  | { readonly kind: 'void' }
  | StructDataType
  | { readonly kind: 'stack'; readonly element: StructDataType; readonly size: number };

/** A tuple is a struct with fields f0, f1, ... One object per type: compare by identity. */
export interface StructDataType {
  readonly kind: 'struct' | 'header' | 'union';
  readonly name: string;
  /** Unique in the program and a JavaScript identifier. */
  readonly id: string;
  readonly fields: readonly IrField[];
}

export interface IrField {
  readonly name: string;
  readonly type: DataType;
  readonly annotations: ReadonlyMap<string, string>;
}

// What is declared

/** A local variable or parameter. P4 has no recursion, so one place per declaration suffices. */
export interface Variable {
  readonly id: number;
  readonly name: string;
  readonly type: DataType;
}

/** A parameter. Direction `none` means action data from the control plane; elsewhere it passes values as `in` does. */
export interface IrParameter {
  readonly variable: Variable;
  readonly direction: Direction;
}

export interface IrFunction {
  readonly id: number;
  readonly name: string;
  readonly parameters: readonly IrParameter[];
  readonly returnType: DataType;
  readonly body: Block;
  readonly span: Span;
}

/** An action, once per instance of the control that declares it. */
export interface Action {
  readonly id: number;
  /** Fully qualified control-plane name, such as `MyIngress.forward`; `NoAction` for the global one. */
  readonly name: string;
  /** Directional parameters first (as P4 demands), then data. */
  readonly parameters: readonly IrParameter[];
  readonly body: Block;
  readonly annotations: ReadonlyMap<string, string>;
  readonly span: Span;
}

export type MatchKind = 'exact' | 'lpm' | 'ternary' | 'range' | 'optional' | 'selector';

export interface TableKey {
  /** Evaluated before lookup. Of kind bits, bool, error or enum; varbit is refused. */
  readonly expression: Expression;
  readonly type: DataType;
  readonly matchKind: MatchKind;
  /** Control-plane name, such as `hdr.ipv4.dstAddr`. */
  readonly name: string;
}

export interface TableAction {
  readonly action: Action;
  /** Arguments bound in the table, for the action's directional parameters, in their order. */
  readonly bound: readonly Expression[];
  readonly isTableOnly: boolean;
  readonly isDefaultOnly: boolean;
}

/** Data of an action call from a table: one bigint per data parameter, in order (bool 0/1, signed in two's complement). */
export interface ActionCall {
  /** Position in `Table.actions`. */
  readonly action: number;
  readonly data: readonly bigint[];
}

/** A match of an entry, one per key; unsigned bit patterns. */
export type KeyMatch =
  | { readonly kind: 'exact'; readonly value: bigint }
  | { readonly kind: 'mask'; readonly value: bigint; readonly mask: bigint }
  | { readonly kind: 'prefix'; readonly value: bigint; readonly length: number }
  | { readonly kind: 'range'; readonly low: bigint; readonly high: bigint }
  | { readonly kind: 'any' };

export interface ConstEntry {
  readonly keys: readonly KeyMatch[];
  readonly call: ActionCall;
  /**
   * The smallest priority wins. It is the order of the entries, or the program's priority, inverted for
   * largest_priority_wins.
   */
  readonly priority: number;
  readonly isConst: boolean;
  readonly span: Span;
}

export interface Table {
  readonly id: number;
  /** Fully qualified control-plane name. */
  readonly name: string;
  readonly keys: readonly TableKey[];
  readonly actions: readonly TableAction[];
  /** Undefined: a miss does nothing. */
  readonly defaultAction: ActionCall | undefined;
  readonly isDefaultConst: boolean;
  readonly entries: readonly ConstEntry[];
  readonly areEntriesConst: boolean;
  /**
   * What the priority of an entry in P4Runtime, where the largest wins, and its priority here sum up to, so that the
   * program's entries have the priorities that they were given, or N to 1 in order. Undefined without entries.
   */
  readonly prioritySum?: number | undefined;
  readonly size: number;
  /** An action_profile or action_selector. */
  readonly implementation: ExternInstance | undefined;
  readonly counter: ExternInstance | undefined;
  readonly meter: ExternInstance | undefined;
  readonly supportsTimeout: boolean;
  readonly annotations: ReadonlyMap<string, string>;
  readonly span: Span;
}

/** Argument of an extern's constructor. */
export type ExternArgument =
  | { readonly kind: 'integer'; readonly value: bigint }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'enum'; readonly name: string; readonly member: string };

export interface ExternInstance {
  readonly id: number;
  /** Such as `register`, `counter`, `direct_meter`, `action_profile`, `Checksum16`. */
  readonly type: string;
  readonly name: string;
  readonly typeArguments: readonly DataType[];
  readonly arguments: readonly ExternArgument[];
  readonly annotations: ReadonlyMap<string, string>;
  readonly span: Span;
}

export interface ValueSet {
  readonly id: number;
  readonly name: string;
  readonly type: DataType;
  /** One per key; a struct's fields give several, with `@match` kinds. */
  readonly keys: readonly { readonly name: string; readonly type: DataType; readonly matchKind: MatchKind }[];
  readonly size: number;
  readonly span: Span;
}

interface InstanceBase {
  /** Fully qualified name of the instance (without the package's): `MyIngress`, `MyIngress.sub`. */
  readonly name: string;
  /** Name of the declaration. */
  readonly typeName: string;
  /** Parameters of `apply`; packet_in and packet_out parameters are left out. */
  readonly parameters: readonly IrParameter[];
  /** Locals without an initial value are 0 / invalid in every packet; initial values are in `initial`. */
  readonly locals: readonly Variable[];
  readonly initial: readonly Statement[];
  readonly span: Span;
}

export interface ControlInstance extends InstanceBase {
  readonly kind: 'control';
  readonly actions: readonly Action[];
  readonly tables: readonly Table[];
  readonly body: Block;
}

export interface ParserInstance extends InstanceBase {
  readonly kind: 'parser';
  readonly states: readonly State[];
  /** Position of `start`. */
  readonly start: number;
}

export interface State {
  readonly name: string;
  readonly locals: readonly Variable[];
  readonly body: readonly Statement[];
  readonly transition: IrTransition;
  readonly span: Span;
}

/** Target of a transition: a position in `states`. */
export type StateTarget = number | 'accept' | 'reject';

export type IrTransition =
  | { readonly kind: 'goto'; readonly target: StateTarget }
  | { readonly kind: 'select'; readonly keys: readonly Expression[]; readonly cases: readonly IrSelectCase[] };

export interface IrSelectCase {
  /** One per key; `default` is a list of `any`. */
  readonly labels: readonly SelectLabel[];
  readonly target: StateTarget;
}

export type SelectLabel =
  | { readonly kind: 'any' }
  | { readonly kind: 'value'; readonly value: Expression }
  | { readonly kind: 'mask'; readonly value: Expression; readonly mask: Expression }
  | { readonly kind: 'range'; readonly low: Expression; readonly high: Expression }
  /** Matches all keys at once. It is then the only element of `labels`. */
  | { readonly kind: 'value-set'; readonly valueSet: ValueSet };

// Statements

/** What statements of each kind hold beside `kind` and `span`. */
interface StatementParts {
  block: { statements: readonly Statement[] };
  /** Declares a local. Without a value it stays unchanged (see `InstanceBase.locals`), and its headers become invalid. */
  declare: { variable: Variable; value: Expression | undefined };
  /** The target's indices are evaluated before the value. A value is copied, not shared. */
  assign: { target: LValue; value: Expression };
  /** A call whose value is not used. */
  evaluate: { expression: Expression };
  if: { condition: Expression; whenTrue: Statement; whenFalse: Statement | undefined };
  /** Ends the action, function, control or (in a parser: not allowed). */
  return: { value: Expression | undefined };
  exit: object;
  /**
   * Applies the table, then runs the block for the action that ran. Fall-through is resolved: each case has its block.
   * `action` is a position in `Table.actions`.
   */
  'switch-action': {
    table: Table;
    cases: readonly { readonly action: number; readonly body: Block }[];
    otherwise: Block | undefined;
  };
  /** Several labels share a body. */
  'switch-value': {
    subject: Expression;
    cases: readonly { readonly values: readonly Expression[]; readonly body: Block }[];
    otherwise: Block | undefined;
  };
  for: { initial: readonly Statement[]; condition: Expression; update: readonly Statement[]; body: Statement };
  /** Loops over low..high, both included, in the variable's type. */
  'for-range': { variable: LValue; low: Expression; high: Expression; body: Statement };
  /** Loops over the elements of a stack. */
  'for-elements': { variable: LValue; collection: Expression; body: Statement };
  break: object;
  continue: object;
}

/** A statement, of any kind or of the given kinds. */
export type Statement<Kind extends keyof StatementParts = keyof StatementParts> = {
  [Each in Kind]: Readonly<StatementParts[Each]> & { readonly kind: Each; readonly span: Span };
}[Kind];

export type Block = Statement<'block'>;

// Expressions. Operands are evaluated from left to right.

/** An assignable expression: a variable, field, element, `next`/`last` of a stack, or a slice of one. */
export type LValue = Expression<'variable' | 'member' | 'element' | 'stack-next' | 'stack-last' | 'slice'>;

/** A call. All but `set-validity`, `push-pop` and `apply-table` have arguments. */
export type Call = Expression<
  | 'set-validity'
  | 'push-pop'
  | 'call-function'
  | 'call-action'
  | 'apply-instance'
  | 'apply-table'
  | 'call-extern'
  | 'call-packet'
  | 'call-method'
>;

/** What expressions of each kind hold beside `kind`, `type` and `span`. */
interface ExpressionParts {
  /** bits: as signed or unsigned value; enum, error: position; bool: 0n or 1n. */
  constant: { value: bigint };
  string: { value: string };
  variable: { variable: Variable };
  member: { base: Expression; field: string };
  element: { base: Expression; index: Expression };
  'stack-next': { base: Expression };
  'stack-last': { base: Expression };
  /** bit<32>. */
  'stack-last-index': { base: Expression };
  slice: { base: Expression; high: number; low: number };
  /** `base[low +: width]` with a low bit known only at run time; reads beyond the value give zeros. */
  'dynamic-slice': { base: Expression; low: Expression };
  unary: { operator: '-' | '~' | '!'; operand: Expression };
  /**
   * Both operands have one type, except for shifts and `++`. Comparison of structs, headers, unions, stacks, varbits
   * too.
   */
  binary: { operator: BinaryOperator; left: Expression; right: Expression };
  conditional: { condition: Expression; whenTrue: Expression; whenFalse: Expression };
  /** bits to bits (extended by the source's signedness, or cut, then read in the target's), bool and bit<1> either way. */
  cast: { operand: Expression };
  /** A struct, tuple, header (valid) or stack, fields in order. */
  aggregate: { elements: readonly Expression[] };
  /** `{#}`: an invalid header or union; also zero values of other types (a default `...`). */
  default: object;
  'is-valid': { header: Expression };
  /** Statement-like: type void. */
  'set-validity': { header: LValue; valid: boolean };
  'push-pop': { stack: LValue; method: 'push_front' | 'pop_front'; count: number };
  'call-function': { target: IrFunction; arguments: readonly IrArgument[] };
  /** A direct call of an action (not through a table). */
  'call-action': { target: Action; arguments: readonly IrArgument[] };
  /** `apply` of a sub-control or sub-parser. */
  'apply-instance': { target: ControlInstance | ParserInstance; arguments: readonly IrArgument[] };
  /** `t.apply()` (void), `t.apply().hit` or `.miss` (bool). */
  'apply-table': { table: Table; result: 'none' | 'hit' | 'miss' };
  /** Functions of core.p4 and v1model.p4 that are not methods; `typeArguments` as inferred. */
  'call-extern': { name: string; typeArguments: readonly DataType[]; arguments: readonly IrArgument[] };
  /** packet_in and packet_out: extract (1 or 2 arguments), lookahead, advance, length, emit. */
  'call-packet': {
    method: 'extract' | 'lookahead' | 'advance' | 'length' | 'emit';
    arguments: readonly IrArgument[];
  };
  'call-method': {
    instance: ExternInstance;
    method: string;
    typeArguments: readonly DataType[];
    arguments: readonly IrArgument[];
  };
}

/** An expression, of any kind or of the given kinds. */
export type Expression<Kind extends keyof ExpressionParts = keyof ExpressionParts> = {
  [Each in Kind]: Readonly<ExpressionParts[Each]> & {
    readonly kind: Each;
    readonly type: DataType;
    readonly span: Span;
  };
}[Kind];

/** An argument. `value` is an l-value for out and inout; undefined if left out (`@optional`), or `_` for an out parameter. */
export interface IrArgument {
  readonly direction: Direction;
  readonly value: Expression | undefined;
}
