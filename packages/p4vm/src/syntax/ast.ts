import type { Span } from '../source/position.js';
import type { BinaryOperator } from './tokens.js';

export type { BinaryOperator };

interface Node<Kind extends string> {
  readonly kind: Kind;
  readonly span: Span;
}

/**
 * The syntax tree of a P4_16 program, as parsed: names are not resolved, types not checked. Every node has a `span`.
 * Nodes are compared by identity; later stages keep their results in maps from nodes. Source: P4_16 language
 * specification, version 1.2.5, appendix "P4 grammar".
 */
export interface Program extends Node<'program'> {
  readonly declarations: readonly Declaration[];
}

export interface Identifier {
  readonly text: string;
  readonly span: Span;
}

/** `@name("x")`, `@name[...]` or `@name`. */
export interface Annotation {
  readonly name: string;
  /** Expressions in parentheses, or of a structured list. Empty if none, or if they do not parse as expressions. */
  readonly values: readonly Expression[];
  /** `key = value` pairs of a structured annotation. */
  readonly pairs: ReadonlyMap<string, Expression>;
  /** The raw text between the brackets. */
  readonly text: string;
  /** True for `@name[...]`. */
  readonly isStructured: boolean;
  readonly span: Span;
}

// Declarations

export type Declaration =
  | ConstantDeclaration
  | ActionDeclaration
  | ParserDeclaration
  | ControlDeclaration
  | ObjectTypeDeclaration
  | ExternDeclaration
  | FunctionDeclaration
  | StructDeclaration
  | EnumDeclaration
  | TypedefDeclaration
  | ErrorDeclaration
  | InstanceDeclaration;

interface Declared<Kind extends string> extends Node<Kind> {
  readonly name: Identifier;
  readonly annotations: readonly Annotation[];
}

interface Parameterised<Kind extends string> extends Declared<Kind> {
  readonly typeParameters: readonly TypeParameter[];
  readonly parameters: readonly Parameter[];
}

export type Direction = 'none' | 'in' | 'out' | 'inout';

export interface Parameter extends Declared<'parameter'> {
  readonly direction: Direction;
  readonly type: TypeNode;
  readonly defaultValue: Expression | undefined;
}

/** `<T, U>` of a declaration. */
export interface TypeParameter extends Node<'type-parameter'> {
  readonly name: Identifier;
}

export interface ConstantDeclaration extends Declared<'constant'> {
  readonly type: TypeNode;
  readonly value: Expression;
}

export interface VariableDeclaration extends Declared<'variable'> {
  readonly type: TypeNode;
  readonly value: Expression | undefined;
}

export interface ActionDeclaration extends Declared<'action'> {
  readonly parameters: readonly Parameter[];
  readonly body: Block;
}

export interface FunctionDeclaration extends Parameterised<'function'> {
  readonly returnType: TypeNode;
  readonly body: Block;
}

/** A parser or control without a body, or a package. */
export type ObjectTypeDeclaration = Parameterised<'parser-type' | 'control-type' | 'package'>;

type LocalDeclaration = ConstantDeclaration | VariableDeclaration | InstanceDeclaration;

export interface ParserDeclaration extends Parameterised<'parser'> {
  readonly constructorParameters: readonly Parameter[];
  readonly locals: readonly (LocalDeclaration | ValueSetDeclaration)[];
  readonly states: readonly ParserState[];
}

export interface ControlDeclaration extends Parameterised<'control'> {
  readonly constructorParameters: readonly Parameter[];
  readonly locals: readonly (LocalDeclaration | ActionDeclaration | TableDeclaration)[];
  readonly apply: Block;
}

/** An extern object type (with `methods`) or a single extern function (then `isFunction`, and `methods` has that one). */
export interface ExternDeclaration extends Declared<'extern'> {
  readonly isFunction: boolean;
  readonly typeParameters: readonly TypeParameter[];
  readonly methods: readonly ExternMethod[];
}

/** A method, constructor (`isConstructor`, no return type) or extern function. */
export interface ExternMethod extends Parameterised<'method'> {
  readonly isConstructor: boolean;
  readonly isAbstract: boolean;
  readonly returnType: TypeNode | undefined;
}

export interface StructField extends Declared<'field'> {
  readonly type: TypeNode;
}

export interface StructDeclaration extends Declared<'struct' | 'header' | 'union'> {
  readonly typeParameters: readonly TypeParameter[];
  readonly fields: readonly StructField[];
}

export interface EnumMember extends Node<'enum-member'> {
  readonly name: Identifier;
  /** Of a serializable enum. */
  readonly value: Expression | undefined;
}

export interface EnumDeclaration extends Declared<'enum'> {
  /** Set for serializable enums: `enum bit<8> E { ... }`. */
  readonly underlying: TypeNode | undefined;
  readonly members: readonly EnumMember[];
}

/** `typedef T name;`, or with `isNew` `type T name;`. `type` may declare a struct in place. */
export interface TypedefDeclaration extends Declared<'typedef'> {
  readonly isNew: boolean;
  readonly type: TypeNode;
}

/** `error {...}` or `match_kind {...}`. */
export interface ErrorDeclaration extends Declared<'error' | 'match-kind'> {
  readonly members: readonly Identifier[];
}

/** `Type(arguments) name;`, of an extern, control, parser or package. */
export interface InstanceDeclaration extends Declared<'instance'> {
  readonly type: TypeNode;
  readonly arguments: readonly Argument[];
  /** `= { ... }`: implementations of abstract methods, and objects they use. */
  readonly initializer: readonly (FunctionDeclaration | InstanceDeclaration)[] | undefined;
}

export interface ValueSetDeclaration extends Declared<'value-set'> {
  readonly type: TypeNode;
  readonly size: Expression;
}

// Tables

export interface TableDeclaration extends Declared<'table'> {
  readonly key: readonly TableKey[] | undefined;
  readonly actions: readonly ActionReference[] | undefined;
  /** `default_action`, `size`, `implementation`, `counters`, `meters`, ... except key, actions and entries. */
  readonly properties: readonly TableProperty[];
  readonly entries: TableEntries | undefined;
}

export interface TableKey extends Node<'table-key'> {
  readonly expression: Expression;
  readonly matchKind: Identifier;
  readonly annotations: readonly Annotation[];
}

export interface ActionReference extends Node<'action-reference'> {
  /** A path, or a call of a path with the arguments given in the table. */
  readonly expression: PathExpression | CallExpression;
  readonly annotations: readonly Annotation[];
}

export interface TableProperty extends Declared<'table-property'> {
  readonly isConst: boolean;
  readonly value: Expression;
}

export interface TableEntries extends Node<'table-entries'> {
  readonly isConst: boolean;
  readonly entries: readonly TableEntry[];
}

export interface TableEntry extends Node<'table-entry'> {
  readonly isConst: boolean;
  /** `priority = N :` before the keys. */
  readonly priority: Expression | undefined;
  /** One per key. */
  readonly keys: readonly Expression[];
  readonly action: PathExpression | CallExpression;
  readonly annotations: readonly Annotation[];
}

// Parsers

export interface ParserState extends Declared<'state'> {
  readonly body: readonly Statement[];
  /** No transition means `reject`. */
  readonly transition: Transition | undefined;
}

export type Transition =
  | (Node<'goto'> & { readonly state: Identifier })
  | (Node<'select'> & { readonly keys: readonly Expression[]; readonly cases: readonly SelectCase[] });

export interface SelectCase extends Node<'select-case'> {
  /** One per key of the select, or a single `default`. */
  readonly keys: readonly Expression[];
  readonly state: Identifier;
}

// Statements

export type Statement =
  | Block
  | AssignmentStatement
  | CallStatement
  | IfStatement
  | ReturnStatement
  | SwitchStatement
  | ForStatement
  | ForInStatement
  | Node<'empty' | 'exit' | 'break' | 'continue'>
  | LocalDeclaration;

export interface Block extends Node<'block'> {
  readonly statements: readonly Statement[];
  readonly annotations: readonly Annotation[];
}

/** `target = value`, or with `operator` `target op= value`. */
export interface AssignmentStatement extends Node<'assign'> {
  readonly operator: BinaryOperator | undefined;
  readonly target: Expression;
  readonly value: Expression;
}

/** A call as a statement; also `Type.apply(...)` of a control or parser without an instance (then the callee's base is a type name). */
export interface CallStatement extends Node<'call-statement'> {
  readonly call: CallExpression;
}

export interface IfStatement extends Node<'if'> {
  readonly condition: Expression;
  readonly whenTrue: Statement;
  readonly whenFalse: Statement | undefined;
}

interface ReturnStatement extends Node<'return'> {
  readonly value: Expression | undefined;
}

export interface SwitchStatement extends Node<'switch'> {
  readonly subject: Expression;
  readonly cases: readonly SwitchCase[];
}

export interface SwitchCase extends Node<'switch-case'> {
  /** An expression (an action's name, or a value), or `default`. */
  readonly label: Expression;
  /** Undefined: falls through to the next case with a body. */
  readonly body: Block | undefined;
}

export interface ForStatement extends Node<'for'> {
  readonly initial: readonly Statement[];
  readonly condition: Expression;
  readonly update: readonly Statement[];
  readonly body: Statement;
  readonly annotations: readonly Annotation[];
}

/** `for (type name in collection) body`; without a type, `variable` is an l-value that exists. */
export interface ForInStatement extends Node<'for-in'> {
  readonly variable: VariableDeclaration | Expression;
  /** A stack, or a `range` expression. */
  readonly collection: Expression;
  readonly body: Statement;
  readonly annotations: readonly Annotation[];
}

// Expressions

export type Expression =
  | IntegerLiteral
  | (Node<'boolean'> & { readonly value: boolean })
  | (Node<'string'> & { readonly value: string })
  | PathExpression
  | TypeExpression
  | MemberExpression
  | IndexExpression
  | SliceExpression
  | CallExpression
  | UnaryExpression
  | BinaryExpression
  | ConditionalExpression
  | CastExpression
  | ListExpression
  | StructExpression
  /** `value &&& mask`. */
  | (Node<'mask'> & { readonly value: Expression; readonly mask: Expression })
  /** `low .. high`. */
  | (Node<'range'> & { readonly low: Expression; readonly high: Expression })
  /** `{#}`; `default` as a label of a select or switch; `_`; `...` as a value; `this`. */
  | Node<'invalid' | 'default' | 'any' | 'dots' | 'this'>;

/** `10`, `8w10`, `4s0xF`. Without `width` the type is `int`. */
export interface IntegerLiteral extends Node<'integer'> {
  readonly value: bigint;
  readonly width: number | undefined;
  readonly isSigned: boolean;
}

/** A name, or with `isAbsolute` `.name`. The checker decides whether it names a type or a value. */
export interface PathExpression extends Node<'path'> {
  readonly name: Identifier;
  readonly isAbsolute: boolean;
}

/**
 * A type in the place of an expression, if the syntax alone shows it: `error.X`, `bit<8>.minSizeInBits()`,
 * `S<bit<8>>(..)`.
 */
interface TypeExpression extends Node<'type-expression'> {
  readonly type: TypeNode;
}

export interface MemberExpression extends Node<'member'> {
  readonly base: Expression;
  readonly member: Identifier;
}

export interface IndexExpression extends Node<'index'> {
  readonly base: Expression;
  readonly index: Expression;
}

/** `base[high:low]`, or with `isPlus` `base[high +: low]`, where `high` is the lowest bit and `low` the width. */
export interface SliceExpression extends Node<'slice'> {
  readonly base: Expression;
  readonly high: Expression;
  readonly low: Expression;
  readonly isPlus: boolean;
}

export interface Argument extends Node<'argument'> {
  /** `name = value`. */
  readonly name: Identifier | undefined;
  /** Of kind `any` for `_`. */
  readonly value: Expression;
}

/** A call of a function, method or action, or a constructor call (`callee` names a type). */
export interface CallExpression extends Node<'call'> {
  readonly callee: Expression;
  readonly typeArguments: readonly TypeNode[];
  readonly arguments: readonly Argument[];
}

export type UnaryOperator = '-' | '+' | '~' | '!';

export interface UnaryExpression extends Node<'unary'> {
  readonly operator: UnaryOperator;
  readonly operand: Expression;
}

export interface BinaryExpression extends Node<'binary'> {
  readonly operator: BinaryOperator;
  readonly left: Expression;
  readonly right: Expression;
}

export interface ConditionalExpression extends Node<'conditional'> {
  readonly condition: Expression;
  readonly whenTrue: Expression;
  readonly whenFalse: Expression;
}

export interface CastExpression extends Node<'cast'> {
  readonly type: TypeNode;
  readonly operand: Expression;
}

/** `{ a, b }`, also `{ a, b, ... }`, and a tuple of keys `(a, b)` in a select or an entry. */
export interface ListExpression extends Node<'list'> {
  readonly elements: readonly Expression[];
  /** Ends with `...`: the rest takes default values. */
  readonly hasDots: boolean;
}

/** `{ a = 1, b = 2 }`, also with `...` at the end, or `(T){ a = 1 }` (then inside a cast). */
export interface StructExpression extends Node<'struct-expression'> {
  readonly fields: readonly { readonly name: Identifier; readonly value: Expression; readonly span: Span }[];
  readonly hasDots: boolean;
}

// Types as written

export type TypeNode =
  /** `any-type`: `_` as a type argument; `integer-type`: `int` of any width. */
  | Node<`${'bool' | 'error' | 'match-kind' | 'string' | 'void' | 'any' | 'integer'}-type`>
  | BitsTypeNode
  | (Node<'tuple-type'> & { readonly elements: readonly TypeNode[] })
  | (Node<'list-type'> & { readonly element: TypeNode })
  | StackTypeNode
  | NamedTypeNode
  /** A struct, header, union or enum declared within a typedef. */
  | (Node<'declared-type'> & { readonly declaration: StructDeclaration | EnumDeclaration });

/** `bit<W>`, `int<W>`, `varbit<W>`; `bit` alone is `bit<1>`, its width undefined. */
export interface BitsTypeNode extends Node<'bits-type'> {
  readonly base: 'bit' | 'int' | 'varbit';
  readonly width: Expression | undefined;
}

/** `element[size]`. */
export interface StackTypeNode extends Node<'stack-type'> {
  readonly element: TypeNode;
  readonly size: Expression;
}

export interface NamedTypeNode extends Node<'named-type'> {
  readonly name: Identifier;
  readonly isAbsolute: boolean;
  readonly arguments: readonly TypeNode[];
}
