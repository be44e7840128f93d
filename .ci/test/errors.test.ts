import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { publicPackages, repository } from '../scripts/workspaces.mjs';

/** Its code is that of a problem in the data, which columns and JSON have as well. */
const PROBLEMS = ['CodecError'];

/** What the sources of a package declare, by name. */
interface Declared {
  readonly classes: ReadonlyMap<string, ts.ClassDeclaration>;
  readonly types: ReadonlyMap<string, ts.TypeNode>;
  readonly constants: ReadonlyMap<string, ts.Expression>;
}

function declaredIn(folder: string): Declared {
  const [classes, types, constants] = [new Map(), new Map(), new Map()];
  const source = join(repository, folder, 'src');
  for (const file of readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  )) {
    const text = readFileSync(join(source, file), 'utf8');
    if (!/\bErr|\bERR|_CODES\b/.test(text)) continue;
    for (const statement of ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true).statements) {
      if (ts.isClassDeclaration(statement) && statement.name) classes.set(statement.name.text, statement);
      if (ts.isTypeAliasDeclaration(statement)) types.set(statement.name.text, statement.type);
      if (!ts.isVariableStatement(statement)) continue;
      for (const { name, initializer } of statement.declarationList.declarations) {
        if (ts.isIdentifier(name) && initializer) constants.set(name.text, initializer);
      }
    }
  }
  return { classes, types, constants };
}

/** All texts that a type or value may be: literals, those of the types that it names, and those of constants. */
function textsOf(node: ts.Node, declared: Declared): string[] {
  if (ts.isStringLiteral(node)) return [node.text];
  if (ts.isPropertyAssignment(node)) return textsOf(node.initializer, declared);
  if (ts.isTypeReferenceNode(node) && ts.isIdentifier(node.typeName)) {
    const type = declared.types.get(node.typeName.text);
    return type === undefined ? [] : textsOf(type, declared);
  }
  if (ts.isTypeQueryNode(node) && ts.isIdentifier(node.exprName)) {
    const constant = declared.constants.get(node.exprName.text);
    return constant === undefined ? [] : textsOf(constant, declared);
  }
  const texts: string[] = [];
  ts.forEachChild(node, (child) => void texts.push(...textsOf(child, declared)));
  return texts;
}

/** The type or value of `code`: of a field, or of a parameter that is one. */
function codeOf(declaration: ts.ClassDeclaration): ts.Node | undefined {
  const members: readonly ts.Node[] = declaration.members;
  const fields = members.flatMap((member) =>
    ts.isConstructorDeclaration(member) ? member.parameters.filter((each) => each.modifiers) : [member],
  );
  const field = fields
    .filter((each) => ts.isPropertyDeclaration(each) || ts.isParameter(each))
    .find((each) => each.name.getText() === 'code');
  if (field === undefined) return undefined;
  return field.initializer ?? field.type;
}

const found = publicPackages()
  .filter(({ begun }) => begun)
  .flatMap(({ folder, manifest }) => {
    const api = readFileSync(join(repository, '.ci/api', `${basename(manifest.name)}.txt`), 'utf8');
    const exported = new Set([...api.matchAll(/^ {2}class (\w+)$/gm)].map(([, name]) => name!));
    const declared = declaredIn(folder);
    return [...declared.classes.values()]
      .filter((each) => exported.has(each.name!.text))
      .filter((each) => each.heritageClauses?.some((clause) => /^extends \w*Error$/.test(clause.getText())))
      .map((each) => [each.name!.text, manifest.name, each, declared] as const);
  });

it('finds the classes of errors', () => {
  expect(found.length).toBeGreaterThan(20);
});

describe.each(found)('%s of %s', (name, _package, declaration, declared) => {
  it('has a static is(), because instanceof fails between two copies of a package', () => {
    const statics = declaration.members.filter(
      (member) =>
        ts.isMethodDeclaration(member) && member.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.StaticKeyword),
    );
    expect(statics.map((member) => member.name?.getText())).toContain('is');
  });

  it('has codes that begin with ERR_', () => {
    if (PROBLEMS.includes(name)) return;
    const code = codeOf(declaration);
    const codes = code === undefined ? [] : textsOf(code, declared);
    expect(codes).not.toEqual([]);
    expect(codes.filter((each) => !/^ERR_[A-Z][A-Z0-9_]*$/.test(each))).toEqual([]);
  });
});
