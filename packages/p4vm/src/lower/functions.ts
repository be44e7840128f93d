import type { IrFunction, IrParameter } from '../ir/program.js';
import type { FunctionDeclaration, Parameter } from '../syntax/ast.js';
import { isObjectType } from './calls.js';
import type { Lowering } from './lowering.js';
import { Scope, type StaticValue } from './scope.js';
import { lowerBlock } from './statements.js';

/** True if two lists of objects are the same ones. */
export function sameObjects(left: readonly StaticValue[], right: readonly StaticValue[]): boolean {
  return left.every((each, index) => {
    const other = right[index];
    if (each.kind === 'extern') return other?.kind === 'extern' && other.instance === each.instance;
    if (each.kind === 'instance') return other?.kind === 'instance' && other.handle === each.handle;
    return each.kind === 'packet' && other?.kind === 'packet';
  });
}

/** Binds parameters to variables, and object parameters to `objects` in order. Returns the variables' parameters. */
export function bindParameters(
  lowering: Lowering,
  scope: Scope,
  parameters: readonly Parameter[],
  objects: readonly StaticValue[],
): IrParameter[] {
  const bound: IrParameter[] = [];
  let next = 0;
  for (const parameter of parameters) {
    if (isObjectType(lowering.typeOfNode(parameter.type))) {
      const object = objects[next++];
      if (object === undefined) lowering.refuse(parameter.span, `no object is given for ${parameter.name.text}`);
      scope.setStatic(parameter, object);
      continue;
    }
    const variable = lowering.variable(parameter.name.text, lowering.dataTypeOfNode(parameter.type));
    scope.variables.set(parameter, variable);
    bound.push({ variable, direction: parameter.direction });
  }
  return bound;
}

/** The function specialised for these objects. */
export function functionFor(
  lowering: Lowering,
  declaration: FunctionDeclaration,
  objects: readonly StaticValue[],
): IrFunction {
  let known = lowering.specialised.get(declaration);
  if (known === undefined) {
    known = [];
    lowering.specialised.set(declaration, known);
  }
  lowering.spend((known.length * objects.length) >> 4, declaration.span);
  const same = known.find((each) => sameObjects(each.objects, objects));
  if (same !== undefined) return same.made;
  const made = lowering.callable(declaration.span, (): IrFunction => {
    const scope = new Scope(lowering.global, '');
    const parameters = bindParameters(lowering, scope, declaration.parameters, objects);
    const returnType = lowering.dataTypeOfNode(declaration.returnType);
    const body = lowerBlock(lowering, scope, declaration.body);
    // Take the id now, because the callees precede it.
    const id = lowering.functions.length;
    return { id, name: declaration.name.text, parameters, returnType, body, span: declaration.span };
  });
  lowering.functions.push(made);
  known.push({ objects, made });
  return made;
}
