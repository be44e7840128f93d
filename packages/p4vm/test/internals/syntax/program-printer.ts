import type {
  Annotation,
  Argument,
  ControlDeclaration,
  Declaration,
  Expression,
  ExternMethod,
  Parameter,
  ParserDeclaration,
  ParserState,
  Program,
  Statement,
  StructDeclaration,
  TableEntry,
  TableProperty,
  TypeNode,
  TypeParameter,
} from '../../../src/syntax/ast.js';

const PRECEDENCE: Readonly<Record<string, number>> = {
  '||': 1,
  '&&': 2,
  '==': 3,
  '!=': 3,
  '<': 4,
  '>': 4,
  '<=': 4,
  '>=': 4,
  '|': 5,
  '^': 6,
  '&': 7,
  '<<': 8,
  '>>': 8,
  '++': 9,
  '+': 9,
  '-': 9,
  '|+|': 9,
  '|-|': 9,
  '*': 10,
  '/': 10,
  '%': 10,
};
const CONDITIONAL = 0;
const PREFIX = 11;
const POSTFIX = 12;

function precedenceOf(expression: Expression): number {
  switch (expression.kind) {
    case 'conditional':
      return CONDITIONAL;
    case 'binary':
      return PRECEDENCE[expression.operator] ?? 0;
    case 'unary':
    case 'cast':
      return PREFIX;
    default:
      return POSTFIX;
  }
}

/** An expression with as few parentheses as the grammar allows, where at least that precedence is wanted. */
export function printExpression(expression: Expression, least = 0): string {
  const text = expressionText(expression);
  return precedenceOf(expression) < least ? `(${text})` : text;
}

const list = (expressions: readonly Expression[]): string => expressions.map((e) => printExpression(e)).join(', ');

function expressionText(e: Expression): string {
  switch (e.kind) {
    case 'integer':
      return e.width === undefined ? String(e.value) : `${e.width}${e.isSigned ? 's' : 'w'}${e.value}`;
    case 'boolean':
      return String(e.value);
    case 'string':
      return `"${e.value}"`;
    case 'path':
      return `${e.isAbsolute ? '.' : ''}${e.name.text}`;
    case 'type-expression':
      return printType(e.type);
    case 'member':
      return `${printExpression(e.base, POSTFIX)}.${e.member.text}`;
    case 'index':
      return `${printExpression(e.base, POSTFIX)}[${printExpression(e.index)}]`;
    case 'slice': {
      const separator = e.isPlus ? ' +: ' : ' : ';
      return `${printExpression(e.base, POSTFIX)}[${printExpression(e.high)}${separator}${printExpression(e.low)}]`;
    }
    case 'call':
      return `${printExpression(e.callee, POSTFIX)}${typeArguments(e.typeArguments)}(${argumentList(e.arguments)})`;
    case 'unary':
      // A space, so that two signs do not make another operator.
      return `${e.operator} ${printExpression(e.operand, PREFIX)}`;
    case 'binary': {
      const own = PRECEDENCE[e.operator] ?? 0;
      // `a < b > (c)` would be a call.
      const left = printExpression(e.left, own === PRECEDENCE['<'] ? own + 1 : own);
      return `${left} ${e.operator} ${printExpression(e.right, own + 1)}`;
    }
    case 'conditional': {
      const [condition, whenFalse] = [printExpression(e.condition), printExpression(e.whenFalse, 1)];
      return `${condition} ? ${printExpression(e.whenTrue)} : ${whenFalse}`;
    }
    case 'cast':
      return `(${printType(e.type)}) ${printExpression(e.operand, PREFIX)}`;
    case 'list':
      return `{ ${[...e.elements.map((x) => printExpression(x)), ...(e.hasDots ? ['...'] : [])].join(', ')} }`;
    case 'struct-expression': {
      const fields = e.fields.map((field) => `${field.name.text} = ${printExpression(field.value)}`);
      return `{ ${[...fields, ...(e.hasDots ? ['...'] : [])].join(', ')} }`;
    }
    case 'invalid':
      return '{#}';
    case 'default':
      return 'default';
    case 'any':
      return '_';
    case 'dots':
      return '...';
    case 'this':
      return 'this';
    case 'mask':
      return `${printExpression(e.value)} &&& ${printExpression(e.mask)}`;
    case 'range':
      return `${printExpression(e.low)} .. ${printExpression(e.high)}`;
  }
}

function argumentList(found: readonly Argument[]): string {
  return found
    .map(
      (argument) =>
        `${argument.name === undefined ? '' : `${argument.name.text} = `}${printExpression(argument.value)}`,
    )
    .join(', ');
}

function typeArguments(types: readonly TypeNode[]): string {
  return types.length === 0 ? '' : `<${types.map(printType).join(', ')}>`;
}

export function printType(type: TypeNode): string {
  switch (type.kind) {
    case 'bool-type':
      return 'bool';
    case 'error-type':
      return 'error';
    case 'match-kind-type':
      return 'match_kind';
    case 'string-type':
      return 'string';
    case 'void-type':
      return 'void';
    case 'any-type':
      return '_';
    case 'integer-type':
      return 'int';
    case 'bits-type':
      return type.width === undefined ? type.base : `${type.base}<${printExpression(type.width, POSTFIX)}>`;
    case 'tuple-type':
      return `tuple<${type.elements.map(printType).join(', ')}>`;
    case 'list-type':
      return `list<${printType(type.element)}>`;
    case 'stack-type':
      return `${printType(type.element)}[${printExpression(type.size)}]`;
    case 'named-type':
      return `${type.isAbsolute ? '.' : ''}${type.name.text}${typeArguments(type.arguments)}`;
    case 'declared-type':
      return printDeclaration(type.declaration);
  }
}

function annotations(found: readonly Annotation[]): string {
  return found.map((a) => `@${a.name}${a.isStructured ? `[${a.text}]` : a.text === '' ? '' : `(${a.text})`} `).join('');
}

function typeParameters(parameters: readonly TypeParameter[]): string {
  return parameters.length === 0 ? '' : `<${parameters.map((parameter) => parameter.name.text).join(', ')}>`;
}

function parameters(found: readonly Parameter[]): string {
  const texts = found.map((p) => {
    const direction = p.direction === 'none' ? '' : `${p.direction} `;
    const value = p.defaultValue === undefined ? '' : ` = ${printExpression(p.defaultValue)}`;
    return `${annotations(p.annotations)}${direction}${printType(p.type)} ${p.name.text}${value}`;
  });
  return `(${texts.join(', ')})`;
}

function lines(texts: readonly string[]): string {
  return texts.length === 0 ? '{ }' : `{\n${texts.join('\n')}\n}`;
}

type Local = (ControlDeclaration | ParserDeclaration)['locals'][number];

function fields(declaration: StructDeclaration): string {
  return lines(declaration.fields.map((f) => `${annotations(f.annotations)}${printType(f.type)} ${f.name.text};`));
}

function method(m: ExternMethod): string {
  const head = m.returnType === undefined ? '' : `${m.isAbstract ? 'abstract ' : ''}${printType(m.returnType)} `;
  return `${annotations(m.annotations)}${head}${m.name.text}${typeParameters(m.typeParameters)}${parameters(m.parameters)};`;
}

function property(p: TableProperty): string {
  return `${annotations(p.annotations)}${p.isConst ? 'const ' : ''}${p.name.text} = ${printExpression(p.value)};`;
}

function keyset(keys: readonly Expression[]): string {
  return keys.length === 1 ? list(keys) : `(${list(keys)})`;
}

function entry(e: TableEntry): string {
  const priority = e.priority === undefined ? '' : `priority = ${printPriority(e.priority)}: `;
  const head = `${e.isConst ? 'const ' : ''}${priority}${keyset(e.keys)}`;
  return `${head} : ${printExpression(e.action)} ${annotations(e.annotations)};`;
}

function printPriority(priority: Expression): string {
  return priority.kind === 'integer' ? printExpression(priority) : `(${printExpression(priority)})`;
}

function state(s: ParserState): string {
  const body = s.body.map((statement) => printStatement(statement));
  if (s.transition?.kind === 'goto') body.push(`transition ${s.transition.state.text};`);
  if (s.transition?.kind === 'select') {
    const cases = s.transition.cases.map((c) => `${keyset(c.keys)} : ${c.state.text};`);
    body.push(`transition select(${list(s.transition.keys)}) ${lines(cases)}`);
  }
  return `${annotations(s.annotations)}state ${s.name.text} ${lines(body)}`;
}

/** A declaration in the language. */
export function printDeclaration(d: Declaration | Local): string {
  const head = annotations(d.annotations);
  const { text } = d.name;
  switch (d.kind) {
    case 'constant':
      return `${head}const ${printType(d.type)} ${text} = ${printExpression(d.value)};`;
    case 'variable':
      return `${head}${printType(d.type)} ${text}${d.value === undefined ? '' : ` = ${printExpression(d.value)}`};`;
    case 'action':
      return `${head}action ${text}${parameters(d.parameters)} ${printStatement(d.body)}`;
    case 'function':
      return `${head}${printType(d.returnType)} ${text}${typeParameters(d.typeParameters)}${parameters(d.parameters)} ${printStatement(d.body)}`;
    case 'parser-type':
    case 'control-type':
    case 'package': {
      const keyword = d.kind === 'parser-type' ? 'parser' : d.kind === 'control-type' ? 'control' : 'package';
      return `${head}${keyword} ${text}${typeParameters(d.typeParameters)}${parameters(d.parameters)};`;
    }
    case 'parser':
    case 'control': {
      const built = d.constructorParameters.length === 0 ? '' : parameters(d.constructorParameters);
      const body: string[] = d.locals.map((local) => printDeclaration(local));
      if (d.kind === 'parser') body.push(...d.states.map(state));
      else body.push(`apply ${printStatement(d.apply)}`);
      return `${head}${d.kind} ${text}${typeParameters(d.typeParameters)}${parameters(d.parameters)}${built} ${lines(body)}`;
    }
    case 'extern':
      if (d.isFunction) return `${head}extern ${d.methods.map(method).join('')}`;
      return `${head}extern ${text}${typeParameters(d.typeParameters)} ${lines(d.methods.map(method))}`;
    case 'struct':
    case 'header':
    case 'union':
      return `${head}${d.kind === 'union' ? 'header_union' : d.kind} ${text}${typeParameters(d.typeParameters)} ${fields(d)}`;
    case 'enum': {
      const members = d.members.map((m) =>
        m.value === undefined ? m.name.text : `${m.name.text} = ${printExpression(m.value)}`,
      );
      return `${head}enum ${d.underlying === undefined ? '' : `${printType(d.underlying)} `}${text} { ${members.join(', ')} }`;
    }
    case 'typedef':
      return `${head}${d.isNew ? 'type' : 'typedef'} ${printType(d.type)} ${text};`;
    case 'error':
    case 'match-kind':
      return `${head}${text} { ${d.members.map((member) => member.text).join(', ')} }`;
    case 'instance': {
      const body = d.initializer === undefined ? '' : ` = ${lines(d.initializer.map(printDeclaration))}`;
      return `${head}${printType(d.type)}(${argumentList(d.arguments)}) ${text}${body};`;
    }
    case 'value-set':
      return `${head}value_set<${printType(d.type)}>(${printExpression(d.size)}) ${text};`;
    case 'table': {
      const body: string[] = [];
      if (d.key !== undefined) {
        const keys = d.key.map(
          (k) => `${printExpression(k.expression)} : ${k.matchKind.text} ${annotations(k.annotations)};`,
        );
        body.push(`key = ${lines(keys)}`);
      }
      if (d.actions !== undefined) {
        const actions = d.actions.map((a) => `${annotations(a.annotations)}${printExpression(a.expression)};`);
        body.push(`actions = ${lines(actions)}`);
      }
      body.push(...d.properties.map(property));
      if (d.entries !== undefined) {
        body.push(`${d.entries.isConst ? 'const ' : ''}entries = ${lines(d.entries.entries.map(entry))}`);
      }
      return `${head}table ${text} ${lines(body)}`;
    }
  }
}

function printStatement(s: Statement): string {
  switch (s.kind) {
    case 'block':
      return `${annotations(s.annotations)}${lines(s.statements.map(printStatement))}`;
    case 'assign':
      return `${printExpression(s.target)} ${s.operator ?? ''}= ${printExpression(s.value)};`;
    case 'call-statement':
      return `${printExpression(s.call)};`;
    case 'if': {
      const otherwise = s.whenFalse === undefined ? '' : ` else ${printStatement(s.whenFalse)}`;
      return `if (${printExpression(s.condition)}) ${printStatement(s.whenTrue)}${otherwise}`;
    }
    case 'return':
      return s.value === undefined ? 'return;' : `return ${printExpression(s.value)};`;
    case 'exit':
    case 'break':
    case 'continue':
      return `${s.kind};`;
    case 'empty':
      return ';';
    case 'switch': {
      const cases = s.cases.map(
        (c) => `${printExpression(c.label)} : ${c.body === undefined ? '' : printStatement(c.body)}`,
      );
      return `switch (${printExpression(s.subject)}) ${lines(cases)}`;
    }
    case 'for': {
      const initial = s.initial.map((x) => printStatement(x).slice(0, -1)).join(', ');
      const update = s.update.map((x) => printStatement(x).slice(0, -1)).join(', ');
      return `${annotations(s.annotations)}for (${initial}; ${printExpression(s.condition)}; ${update}) ${printStatement(s.body)}`;
    }
    case 'for-in': {
      const variable =
        s.variable.kind === 'variable' ? printDeclaration(s.variable).slice(0, -1) : printExpression(s.variable);
      return `${annotations(s.annotations)}for (${variable} in ${printExpression(s.collection)}) ${printStatement(s.body)}`;
    }
    default:
      return printDeclaration(s);
  }
}

/** A program in the language, without what its annotations' layout was. */
export function printProgram(program: Program): string {
  return program.declarations.map((declaration) => `${printDeclaration(declaration)}\n`).join('');
}

/** What a tree holds but for positions: for comparing. */
export function withoutSpans(value: unknown): unknown {
  if (value instanceof Map) return [...value].map(withoutSpans);
  if (Array.isArray(value)) return value.map(withoutSpans);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== 'span')
      .map(([key, child]) => [key, withoutSpans(child)]),
  );
}
