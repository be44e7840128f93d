import type { Action } from '../ir/program.js';
import type { ActionDeclaration, Parameter } from '../syntax/ast.js';
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
    noteParameters(lowering, home, declaration.parameters);
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
  lowering.notes.annotations.set(action, declaration.annotations);
  lowering.actions.push(action);
  home.actions.set(declaration, action);
  return action;
}

function noteParameters({ notes, checked }: Lowering, { variables }: Scope, parameters: readonly Parameter[]): void {
  for (const parameter of parameters) {
    const variable = variables.get(parameter);
    if (variable === undefined) continue;
    notes.annotations.set(variable, parameter.annotations);
    const type = checked.typeNodes.get(parameter.type);
    if (type !== undefined) notes.types.set(variable, type);
  }
}
