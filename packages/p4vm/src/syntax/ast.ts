import type { Span } from '../source/position.js';

/**
 * The syntax tree of a P4_16 program, as parsed: names are not resolved, types not checked. Every node has a `span`.
 * Nodes are compared by identity; later stages keep their results in maps from nodes. Source: P4_16 language
 * specification, version 1.2.5, appendix "P4 grammar".
 */
export interface Program {
  readonly kind: 'program';
  readonly declarations: readonly Declaration[];
  readonly span: Span;
}

export interface Identifier {
  readonly text: string;
  readonly span: Span;
}

/** `@name("x")`, `@name[...]` or `@name`. `body` is set for the parenthesised form parsed as expressions, or `key = value`. */
export interface Annotation {
  readonly name: string;
  /** Expressions in parentheses, or of a structured list. Empty if none, or if they do not parse as expressions. */
  readonly values: readonly Expression[];
  /** `key = value` pairs of a structured annotation. */
  readonly pairs: ReadonlyMap<string, Expression>;
  /** The raw text between the brackets. */
  readonly text: string;
  readonly span: Span;
}

// Declarations

export type Declaration =
  | ConstantDeclaration
  | ActionDeclaration
  | ParserTypeDeclaration
  | ParserDeclaration
  | ControlTypeDeclaration
  | ControlDeclaration
  | PackageDeclaration
  | ExternDeclaration
  | FunctionDeclaration
  | StructDeclaration
  | EnumDeclaration
  | TypedefDeclaration
  | ErrorDeclaration
  | MatchKindDeclaration
  | InstanceDeclaration
  | VariableDeclaration
  | TableDeclaration
  | ValueSetDeclaration;

interface Declared {
  readonly name: Identifier;
  readonly annotations: readonly Annotation[];
  readonly span: Span;
}

export type Direction = 'none' | 'in' | 'out' | 'inout';

export interface Parameter extends Declared {
  readonly kind: 'parameter';
  readonly direction: Direction;
  readonly type: TypeNode;
  readonly defaultValue: Expression | undefined;
}

/** `<T, U>` of a declaration. */
export interface TypeParameter {
  readonly kind: 'type-parameter';
  readonly name: Identifier;
  readonly span: Span;
}

export interface ConstantDeclaration extends Declared {
  readonly kind: 'constant';
  readonly type: TypeNode;
  readonly value: Expression;
}

export interface VariableDeclaration extends Declared {
  readonly kind: 'variable';
  readonly type: TypeNode;
  readonly value: Expression | undefined;
}

export interface ActionDeclaration extends Declared {
  readonly kind: 'action';
  readonly parameters: readonly Parameter[];
  readonly body: Block;
}

export interface FunctionDeclaration extends Declared {
  readonly kind: 'function';
  readonly typeParameters: readonly TypeParameter[];
  readonly returnType: TypeNode;
  readonly parameters: readonly Parameter[];
  readonly body: Block;
}

export interface ParserTypeDeclaration extends Declared {
  readonly kind: 'parser-type';
  readonly typeParameters: readonly TypeParameter[];
  readonly parameters: readonly Parameter[];
}

export interface ControlTypeDeclaration extends Declared {
  readonly kind: 'control-type';
  readonly typeParameters: readonly TypeParameter[];
  readonly parameters: readonly Parameter[];
}

export interface PackageDeclaration extends Declared {
  readonly kind: 'package';
  readonly typeParameters: readonly TypeParameter[];
  readonly parameters: readonly Parameter[];
}

export interface ParserDeclaration extends Declared {
  readonly kind: 'parser';
  readonly typeParameters: readonly TypeParameter[];
  readonly parameters: readonly Parameter[];
  readonly constructorParameters: readonly Parameter[];
  readonly locals: readonly (ConstantDeclaration | VariableDeclaration | InstanceDeclaration | ValueSetDeclaration)[];
  readonly states: readonly ParserState[];
}

export interface ControlDeclaration extends Declared {
  readonly kind: 'control';
  readonly typeParameters: readonly TypeParameter[];
  readonly parameters: readonly Parameter[];
  readonly constructorParameters: readonly Parameter[];
  readonly locals: readonly (
    | ConstantDeclaration
    | VariableDeclaration
    | InstanceDeclaration
    | ActionDeclaration
    | TableDeclaration
  )[];
  readonly apply: Block;
}

/** An extern object type (with `methods`) or a single extern function (then `isFunction`, and `methods` has that one). */
export interface ExternDeclaration extends Declared {
  readonly kind: 'extern';
  readonly isFunction: boolean;
  readonly typeParameters: readonly TypeParameter[];
  readonly methods: readonly ExternMethod[];
}

/** A method, constructor (`isConstructor`, no return type) or extern function. */
export interface ExternMethod extends Declared {
  readonly kind: 'method';
  readonly isConstructor: boolean;
  readonly isAbstract: boolean;
  readonly typeParameters: readonly TypeParameter[];
  readonly returnType: TypeNode | undefined;
  readonly parameters: readonly Parameter[];
}

export interface StructField extends Declared {
  readonly kind: 'field';
  readonly type: TypeNode;
}

export interface StructDeclaration extends Declared {
  readonly kind: 'struct' | 'header' | 'union';
  readonly typeParameters: readonly TypeParameter[];
  readonly fields: readonly StructField[];
}

export interface EnumMember {
  readonly kind: 'enum-member';
  readonly name: Identifier;
  /** Of a serializable enum. */
  readonly value: Expression | undefined;
  readonly span: Span;
}

export interface EnumDeclaration extends Declared {
  readonly kind: 'enum';
  /** Set for serializable enums: `enum bit<8> E { ... }`. */
  readonly underlying: TypeNode | undefined;
  readonly members: readonly EnumMember[];
}

/** `typedef T name;`, or with `isNew` `type T name;`. `type` may declare a struct in place. */
export interface TypedefDeclaration extends Declared {
  readonly kind: 'typedef';
  readonly isNew: boolean;
  readonly type: TypeNode;
}

export interface ErrorDeclaration extends Declared {
  readonly kind: 'error';
  readonly members: readonly Identifier[];
}

export interface MatchKindDeclaration extends Declared {
  readonly kind: 'match-kind';
  readonly members: readonly Identifier[];
}

/** `Type(arguments) name;`, of an extern, control, parser or package. */
export interface InstanceDeclaration extends Declared {
  readonly kind: 'instance';
  readonly type: TypeNode;
  readonly arguments: readonly Argument[];
  /** `= { ... }`: implementations of abstract methods, and objects they use. */
  readonly initializer: readonly (FunctionDeclaration | InstanceDeclaration)[] | undefined;
}

export interface ValueSetDeclaration extends Declared {
  readonly kind: 'value-set';
  readonly type: TypeNode;
  readonly size: Expression;
}

// Tables

export interface TableDeclaration extends Declared {
  readonly kind: 'table';
  readonly key: readonly TableKey[] | undefined;
  readonly actions: readonly ActionReference[] | undefined;
  /** `default_action`, `size`, `implementation`, `counters`, `meters`, ... except key, actions and entries. */
  readonly properties: readonly TableProperty[];
  readonly entries: TableEntries | undefined;
}

export interface TableKey {
  readonly kind: 'table-key';
  readonly expression: Expression;
  readonly matchKind: Identifier;
  readonly annotations: readonly Annotation[];
  readonly span: Span;
}

export interface ActionReference {
  readonly kind: 'action-reference';
  /** A path, or a call of a path with the arguments given in the table. */
  readonly expression: PathExpression | CallExpression;
  readonly annotations: readonly Annotation[];
  readonly span: Span;
}

export interface TableProperty {
  readonly kind: 'table-property';
  readonly name: Identifier;
  readonly isConst: boolean;
  readonly value: Expression;
  readonly annotations: readonly Annotation[];
  readonly span: Span;
}

export interface TableEntries {
  readonly kind: 'table-entries';
  readonly isConst: boolean;
  readonly entries: readonly TableEntry[];
  readonly span: Span;
}

export interface TableEntry {
  readonly kind: 'table-entry';
  readonly isConst: boolean;
  /** `priority = N :` before the keys. */
  readonly priority: Expression | undefined;
  /** One per key. */
  readonly keys: readonly Expression[];
  readonly action: PathExpression | CallExpression;
  readonly annotations: readonly Annotation[];
  readonly span: Span;
}

// Parsers

export interface ParserState extends Declared {
  readonly kind: 'state';
  readonly body: readonly Statement[];
  /** No transition means `reject`. */
  readonly transition: Transition | undefined;
}

export type Transition =
  | { readonly kind: 'goto'; readonly state: Identifier; readonly span: Span }
  | {
      readonly kind: 'select';
      readonly keys: readonly Expression[];
      readonly cases: readonly SelectCase[];
      readonly span: Span;
    };

export interface SelectCase {
  readonly kind: 'select-case';
  /** One per key of the select, or a single `default`. */
  readonly keys: readonly Expression[];
  readonly state: Identifier;
  readonly span: Span;
}

// Statements

export type Statement =
  | Block
  | AssignmentStatement
  | CallStatement
  | IfStatement
  | ReturnStatement
  | ExitStatement
  | EmptyStatement
  | SwitchStatement
  | ForStatement
  | ForInStatement
  | BreakStatement
  | ContinueStatement
  | VariableDeclaration
  | ConstantDeclaration
  | InstanceDeclaration;

export interface Block {
  readonly kind: 'block';
  readonly statements: readonly Statement[];
  readonly annotations: readonly Annotation[];
  readonly span: Span;
}

/** `target = value`, or with `operator` `target op= value`. */
export interface AssignmentStatement {
  readonly kind: 'assign';
  readonly operator: BinaryOperator | undefined;
  readonly target: Expression;
  readonly value: Expression;
  readonly span: Span;
}

/** A call as a statement; also `Type.apply(...)` of a control or parser without an instance (then the callee's base is a type name). */
export interface CallStatement {
  readonly kind: 'call-statement';
  readonly call: CallExpression;
  readonly span: Span;
}

export interface IfStatement {
  readonly kind: 'if';
  readonly condition: Expression;
  readonly whenTrue: Statement;
  readonly whenFalse: Statement | undefined;
  readonly span: Span;
}

export interface ReturnStatement {
  readonly kind: 'return';
  readonly value: Expression | undefined;
  readonly span: Span;
}

export interface ExitStatement {
  readonly kind: 'exit';
  readonly span: Span;
}

export interface EmptyStatement {
  readonly kind: 'empty';
  readonly span: Span;
}

export interface BreakStatement {
  readonly kind: 'break';
  readonly span: Span;
}

export interface ContinueStatement {
  readonly kind: 'continue';
  readonly span: Span;
}

export interface SwitchStatement {
  readonly kind: 'switch';
  readonly subject: Expression;
  readonly cases: readonly SwitchCase[];
  readonly span: Span;
}

export interface SwitchCase {
  readonly kind: 'switch-case';
  /** An expression (an action's name, or a value), or `default`. */
  readonly label: Expression;
  /** Undefined: falls through to the next case with a body. */
  readonly body: Block | undefined;
  readonly span: Span;
}

export interface ForStatement {
  readonly kind: 'for';
  readonly initial: readonly Statement[];
  readonly condition: Expression;
  readonly update: readonly Statement[];
  readonly body: Statement;
  readonly annotations: readonly Annotation[];
  readonly span: Span;
}

/** `for (type name in collection) body`; without a type, `variable` is an l-value that exists. */
export interface ForInStatement {
  readonly kind: 'for-in';
  readonly variable: VariableDeclaration | Expression;
  /** A stack, or a `range` expression. */
  readonly collection: Expression;
  readonly body: Statement;
  readonly annotations: readonly Annotation[];
  readonly span: Span;
}

// Expressions

export type Expression =
  | IntegerLiteral
  | BooleanLiteral
  | StringLiteral
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
  | InvalidExpression
  | DefaultExpression
  | AnyExpression
  | DotsExpression
  | ThisExpression
  | MaskExpression
  | RangeExpression;

/** `10`, `8w10`, `4s0xF`. Without `width` the type is `int`. */
export interface IntegerLiteral {
  readonly kind: 'integer';
  readonly value: bigint;
  readonly width: number | undefined;
  readonly isSigned: boolean;
  readonly span: Span;
}

export interface BooleanLiteral {
  readonly kind: 'boolean';
  readonly value: boolean;
  readonly span: Span;
}

export interface StringLiteral {
  readonly kind: 'string';
  readonly value: string;
  readonly span: Span;
}

/** A name, or with `isAbsolute` `.name`. The checker decides whether it names a type or a value. */
export interface PathExpression {
  readonly kind: 'path';
  readonly name: Identifier;
  readonly isAbsolute: boolean;
  readonly span: Span;
}

/**
 * A type in the place of an expression, if the syntax alone shows it: `error.X`, `bit<8>.minSizeInBits()`,
 * `S<bit<8>>(..)`.
 */
export interface TypeExpression {
  readonly kind: 'type-expression';
  readonly type: TypeNode;
  readonly span: Span;
}

export interface MemberExpression {
  readonly kind: 'member';
  readonly base: Expression;
  readonly member: Identifier;
  readonly span: Span;
}

export interface IndexExpression {
  readonly kind: 'index';
  readonly base: Expression;
  readonly index: Expression;
  readonly span: Span;
}

/** `base[high:low]`, or with `isPlus` `base[high +: low]`, where `high` is the lowest bit and `low` the width. */
export interface SliceExpression {
  readonly kind: 'slice';
  readonly base: Expression;
  readonly high: Expression;
  readonly low: Expression;
  readonly isPlus: boolean;
  readonly span: Span;
}

export interface Argument {
  readonly kind: 'argument';
  /** `name = value`. */
  readonly name: Identifier | undefined;
  /** `AnyExpression` for `_`. */
  readonly value: Expression;
  readonly span: Span;
}

/** A call of a function, method or action, or a constructor call (`callee` names a type). */
export interface CallExpression {
  readonly kind: 'call';
  readonly callee: Expression;
  readonly typeArguments: readonly TypeNode[];
  readonly arguments: readonly Argument[];
  readonly span: Span;
}

export type UnaryOperator = '-' | '+' | '~' | '!';

export interface UnaryExpression {
  readonly kind: 'unary';
  readonly operator: UnaryOperator;
  readonly operand: Expression;
  readonly span: Span;
}

export type BinaryOperator =
  | '*'
  | '/'
  | '%'
  | '+'
  | '-'
  | '|+|'
  | '|-|'
  | '<<'
  | '>>'
  | '<='
  | '>='
  | '<'
  | '>'
  | '=='
  | '!='
  | '&'
  | '^'
  | '|'
  | '++'
  | '&&'
  | '||';

export interface BinaryExpression {
  readonly kind: 'binary';
  readonly operator: BinaryOperator;
  readonly left: Expression;
  readonly right: Expression;
  readonly span: Span;
}

export interface ConditionalExpression {
  readonly kind: 'conditional';
  readonly condition: Expression;
  readonly whenTrue: Expression;
  readonly whenFalse: Expression;
  readonly span: Span;
}

export interface CastExpression {
  readonly kind: 'cast';
  readonly type: TypeNode;
  readonly operand: Expression;
  readonly span: Span;
}

/** `{ a, b }`, also `{ a, b, ... }`, and a tuple of keys `(a, b)` in a select or an entry. */
export interface ListExpression {
  readonly kind: 'list';
  readonly elements: readonly Expression[];
  /** Ends with `...`: the rest takes default values. */
  readonly hasDots: boolean;
  readonly span: Span;
}

/** `{ a = 1, b = 2 }`, also with `...` at the end, or `(T){ a = 1 }` (then inside a cast). */
export interface StructExpression {
  readonly kind: 'struct-expression';
  readonly fields: readonly { readonly name: Identifier; readonly value: Expression; readonly span: Span }[];
  readonly hasDots: boolean;
  readonly span: Span;
}

/** `{#}`. */
export interface InvalidExpression {
  readonly kind: 'invalid';
  readonly span: Span;
}

/** `default` as a select or switch label. */
export interface DefaultExpression {
  readonly kind: 'default';
  readonly span: Span;
}

/** `_`. */
export interface AnyExpression {
  readonly kind: 'any';
  readonly span: Span;
}

/** `...` as a value. */
export interface DotsExpression {
  readonly kind: 'dots';
  readonly span: Span;
}

export interface ThisExpression {
  readonly kind: 'this';
  readonly span: Span;
}

/** `value &&& mask`. */
export interface MaskExpression {
  readonly kind: 'mask';
  readonly value: Expression;
  readonly mask: Expression;
  readonly span: Span;
}

/** `low .. high`. */
export interface RangeExpression {
  readonly kind: 'range';
  readonly low: Expression;
  readonly high: Expression;
  readonly span: Span;
}

// Types as written

export type TypeNode =
  | { readonly kind: 'bool-type'; readonly span: Span }
  | { readonly kind: 'error-type'; readonly span: Span }
  | { readonly kind: 'match-kind-type'; readonly span: Span }
  | { readonly kind: 'string-type'; readonly span: Span }
  | { readonly kind: 'void-type'; readonly span: Span }
  /** `_` as a type argument. */
  | { readonly kind: 'any-type'; readonly span: Span }
  /** `int` of any width. */
  | { readonly kind: 'integer-type'; readonly span: Span }
  /** `bit<W>`, `int<W>`, `varbit<W>`; `bit` alone is `bit<1>`, its width undefined. */
  | {
      readonly kind: 'bits-type';
      readonly base: 'bit' | 'int' | 'varbit';
      readonly width: Expression | undefined;
      readonly span: Span;
    }
  | { readonly kind: 'tuple-type'; readonly elements: readonly TypeNode[]; readonly span: Span }
  | { readonly kind: 'list-type'; readonly element: TypeNode; readonly span: Span }
  /** `element[size]`. */
  | { readonly kind: 'stack-type'; readonly element: TypeNode; readonly size: Expression; readonly span: Span }
  | {
      readonly kind: 'named-type';
      readonly name: Identifier;
      readonly isAbsolute: boolean;
      readonly arguments: readonly TypeNode[];
      readonly span: Span;
    }
  /** A struct, header, union or enum declared within a typedef. */
  | {
      readonly kind: 'declared-type';
      readonly declaration: StructDeclaration | EnumDeclaration;
      readonly span: Span;
    };
