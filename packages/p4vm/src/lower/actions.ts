import type { Action } from '../ir/program.js';
import type { ActionDeclaration } from '../syntax/ast.js';
import { bindParameters } from './functions.js';
import { annotationTexts, type Lowering } from './lowering.js';
import type { Scope } from './scope.js';
import { lowerBlock } from './statements.js';

/** The action of a declaration in a scope, made on first use. A global action is made once. */
export function actionFor(lowering: Lowering, scope: Scope, declaration: ActionDeclaration): Action {
  const known = scope.action(declaration);
  if (known !== undefined) return known;
  const home = lowering.home(declaration, scope);
  const action = lowering.callable(declaration.span, (): Action => {
    const parameters = bindParameters(lowering, home, declaration.parameters, []);
    const body = lowerBlock(lowering, home, declaration.body);
    return {
      id: lowering.actions.length,
      name: lowering.controlName(home.prefix, declaration),
      parameters,
      body,
      annotations: annotationTexts(declaration.annotations),
      span: declaration.span,
    };
  });
  lowering.actions.push(action);
  home.actions.set(declaration, action);
  return action;
}
