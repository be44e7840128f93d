import ts from 'typescript';

/** Globals that the compiler's own words use. */
const GLOBALS: ReadonlySet<string> = new Set([
  'Array',
  'BigInt',
  'Map',
  'Math',
  'Number',
  'Uint8Array',
  'machine',
  'runtime',
  'undefined',
]);
/** Names that lead from any object to code or to the prototypes of all objects. */
const DOORS: ReadonlySet<string> = new Set([
  'constructor',
  '__proto__',
  'prototype',
  'apply',
  'call',
  'bind',
  'callee',
]);
/** Kinds of nodes that run or load code, or escape strict mode. */
const FORBIDDEN: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.ImportKeyword,
  ts.SyntaxKind.ImportDeclaration,
  ts.SyntaxKind.ExportDeclaration,
  ts.SyntaxKind.WithStatement,
  ts.SyntaxKind.TaggedTemplateExpression,
  ts.SyntaxKind.AwaitExpression,
  ts.SyntaxKind.YieldExpression,
  ts.SyntaxKind.ThrowStatement,
  ts.SyntaxKind.DebuggerStatement,
  ts.SyntaxKind.SuperKeyword,
  ts.SyntaxKind.RegularExpressionLiteral,
]);

const MOST_STATEMENTS_OF_COMMENTS = /^\/\/ [\w $,.:;'()|-]*$/;

/**
 * What in a generated source could be code of the program's author: read by another parser, that of TypeScript. Every name
 * that the source uses must be declared in it or be one of a few globals; nothing is looked up by text.
 */
export function strangersIn(source: string): string[] {
  const file = ts.createSourceFile('generated.ts', source, ts.ScriptTarget.ES2022, true, ts.ScriptKind.JS);
  const found: string[] = [];
  const { parseDiagnostics } = file as unknown as { readonly parseDiagnostics: readonly ts.Diagnostic[] };
  for (const { messageText } of parseDiagnostics) {
    const text = ts.flattenDiagnosticMessageText(messageText, ' ');
    // The source is the body of a function.
    if (!/'return' statement/.test(text)) found.push(`syntax: ${text}`);
  }
  const declared = new Set<string>(GLOBALS);
  const used: ts.Identifier[] = [];
  const visit = (node: ts.Node): void => {
    if (FORBIDDEN.has(node.kind)) found.push(`${ts.SyntaxKind[node.kind]}: ${node.getText().slice(0, 80)}`);
    if (ts.isIdentifier(node)) {
      if (!/^[\w$]+$/.test(node.text)) found.push(`name: ${JSON.stringify(node.text)}`);
      const { parent } = node;
      if (isDeclarationName(node)) declared.add(node.text);
      else if (ts.isPropertyAccessExpression(parent) && parent.name === node) {
        if (DOORS.has(node.text)) found.push(`property: ${parent.getText().slice(0, 80)}`);
      } else if (!isMemberName(node)) used.push(node);
    }
    if (ts.isElementAccessExpression(node) && ts.isStringLiteralLike(node.argumentExpression)) {
      found.push(`property by text: ${node.getText().slice(0, 80)}`);
    }
    if (ts.isTemplateSpan(node) && !ts.isIdentifier(node.expression)) {
      found.push(`template: ${node.getText().slice(0, 80)}`);
    }
    if (ts.isPropertyAssignment(node) && !ts.isIdentifier(node.name)) found.push(`key: ${node.getText().slice(0, 80)}`);
    ts.forEachChild(node, visit);
  };
  visit(file);
  for (const { text } of used) if (!declared.has(text)) found.push(`global: ${text}`);
  for (const line of commentsOf(source)) {
    if (!MOST_STATEMENTS_OF_COMMENTS.test(line)) found.push(`comment: ${line.slice(0, 80)}`);
  }
  return [...new Set(found)];
}

function isDeclarationName(node: ts.Identifier): boolean {
  const { parent } = node;
  return (
    ((ts.isVariableDeclaration(parent) ||
      ts.isFunctionDeclaration(parent) ||
      ts.isClassDeclaration(parent) ||
      ts.isParameter(parent) ||
      ts.isBindingElement(parent)) &&
      parent.name === node) ||
    (ts.isLabeledStatement(parent) && parent.label === node)
  );
}

/** Names of methods, accessors and properties of object literals, and labels: nothing is looked up by them. */
function isMemberName(node: ts.Identifier): boolean {
  const { parent } = node;
  return (
    (ts.isMethodDeclaration(parent) && parent.name === node) ||
    (ts.isAccessor(parent) && parent.name === node) ||
    (ts.isPropertyAssignment(parent) && parent.name === node) ||
    ts.isBreakOrContinueStatement(parent) ||
    (ts.isBindingElement(parent) && parent.propertyName === node)
  );
}

function commentsOf(source: string): string[] {
  const scanner = ts.createScanner(ts.ScriptTarget.ES2022, false, ts.LanguageVariant.Standard, source);
  const comments: string[] = [];
  for (let kind = scanner.scan(); kind !== ts.SyntaxKind.EndOfFileToken; kind = scanner.scan()) {
    if (kind === ts.SyntaxKind.SingleLineCommentTrivia) comments.push(scanner.getTokenText());
    if (kind === ts.SyntaxKind.MultiLineCommentTrivia) comments.push(`/* ${scanner.getTokenText()}`);
    // A template's parts beyond the first would need the parser's help: what is between them is an expression.
    if (kind === ts.SyntaxKind.CloseBraceToken) continue;
  }
  return comments;
}
