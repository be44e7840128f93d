import type { ControlDeclaration, Declaration, ExternDeclaration, ParserDeclaration } from '../syntax/ast.js';
import type { Checker } from './checker.js';
import { declareInstance } from './constructors.js';
import {
  declareEnum,
  declareErrors,
  declareExtern,
  declareObjectType,
  declareStruct,
  declareTypedef,
  methodType,
} from './declare-types.js';
import { declareAction, declareFunction, declareOverload } from './functions.js';
import { declareObject, declareValueSet } from './parsers.js';
import { declareConstant, declareVariable } from './statements.js';
import { declareTable } from './tables.js';

function declareExternFunction(c: Checker, declaration: ExternDeclaration): void {
  const [method] = declaration.methods;
  if (method === undefined) return;
  const type = methodType(c, method);
  declareOverload(c, { kind: 'extern-function', declaration, method, type }, method.name);
}

type Local = (ControlDeclaration | ParserDeclaration)['locals'][number];

/** Checks a declaration and adds its name to the scope. */
export function checkDeclaration(c: Checker, declaration: Declaration | Local): void {
  switch (declaration.kind) {
    case 'constant':
      declareConstant(c, declaration);
      break;
    case 'action':
      declareAction(c, declaration);
      break;
    case 'function':
      declareFunction(c, declaration);
      break;
    case 'parser-type':
    case 'control-type':
    case 'package':
      declareObjectType(c, declaration);
      break;
    case 'parser':
    case 'control':
      declareObject(c, declaration);
      break;
    case 'extern':
      if (declaration.isFunction) declareExternFunction(c, declaration);
      else declareExtern(c, declaration);
      break;
    case 'struct':
    case 'header':
    case 'union':
      declareStruct(c, declaration);
      break;
    case 'enum':
      declareEnum(c, declaration);
      break;
    case 'typedef':
      declareTypedef(c, declaration);
      break;
    case 'error':
    case 'match-kind':
      declareErrors(c, declaration);
      break;
    case 'instance':
      declareInstance(c, declaration);
      break;
    case 'variable':
      declareVariable(c, declaration);
      break;
    case 'table':
      declareTable(c, declaration);
      break;
    case 'value-set':
      declareValueSet(c, declaration);
      break;
  }
}
