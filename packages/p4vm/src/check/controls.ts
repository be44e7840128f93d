import type { ControlDeclaration } from '../syntax/ast.js';
import type { Checker } from './checker.js';
import { declareInstance } from './constructors.js';
import { declareAction } from './functions.js';
import { checkStatements, declareConstant, declareVariable } from './statements.js';
import { declareTable } from './tables.js';

/** Locals and apply block of a control whose parameters are in scope. */
export function checkControlBody(c: Checker, declaration: ControlDeclaration): void {
  for (const local of declaration.locals) {
    switch (local.kind) {
      case 'constant':
        declareConstant(c, local);
        break;
      case 'variable':
        declareVariable(c, local);
        break;
      case 'instance':
        declareInstance(c, local);
        break;
      case 'action':
        declareAction(c, local);
        break;
      case 'table':
        declareTable(c, local);
        break;
    }
  }
  c.within(c.scope, { ...c.place, kind: 'apply' }, () => {
    c.inBlock(() => checkStatements(c, declaration.apply.statements));
  });
}
