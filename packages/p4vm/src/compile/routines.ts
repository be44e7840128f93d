import type { Action, ControlInstance, IrFunction, IrParameter, ParserInstance, Variable } from '../ir/program.js';
import { type Callable, isInstance } from './analysis.js';
import { writeStates } from './parsers.js';
import { Routine } from './routine.js';
import { writeStatement } from './statements.js';
import { isAggregate, scalarNames, zeroOf } from './storage.js';
import { traceEvent } from './trace.js';
import { type Home, shortName, type Unit } from './unit.js';

/** Whether a parameter is a JavaScript parameter: a scalar that goes in, of an action or function. */
function isDirect(callable: Callable, { direction, variable }: IrParameter): boolean {
  return !isInstance(callable) && (direction === 'in' || direction === 'none') && !isAggregate(variable.type);
}

/** JavaScript parameters for a parameter; none for those that have their place in the closure. */
export function parameterNames(unit: Unit, callable: Callable, parameter: IrParameter): readonly string[] {
  if (!isDirect(callable, parameter)) return [];
  const home = unit.homeOf(parameter.variable);
  return home.kind === 'scalar' ? home.names : [];
}

/** Gives the parameters of a callable their places. Those that have one already (of the pipeline's parts) keep it. */
function placeParameters(unit: Unit, callable: Callable, name: string, parameters: readonly IrParameter[]): void {
  for (const parameter of parameters) {
    const { variable } = parameter;
    if (unit.hasHome(variable)) continue;
    const wish = `${name}_${variable.name}`;
    if (isDirect(callable, parameter)) localHome(unit, variable, variable.name);
    else if (isAggregate(variable.type)) unit.referenceHome(variable, wish);
    else unit.closureHome(variable, wish);
  }
}

/** A place in the JavaScript function itself. The caller declares its names. */
function localHome(unit: Unit, variable: Variable, wish: string): Home {
  const names = scalarNames(unit.names.take(wish), variable.type);
  return unit.setHome(variable, { kind: 'scalar', names, isKeptSigned: false });
}

/** Places for variables that are declared in a callable, and code that sets them to zero when it begins. */
function placeLocals(routine: Routine, name: string, locals: Iterable<Variable>): void {
  const { unit, callable, code } = routine;
  for (const variable of locals) {
    if (unit.hasHome(variable)) continue;
    if (isAggregate(variable.type)) {
      const home = unit.closureHome(variable, `${name}_${variable.name}`);
      if (home.kind === 'aggregate') code.line(`${unit.types.functionOf('zero', variable.type)}(${home.name});`);
      continue;
    }
    const owners = unit.analysis.ownersOf(variable);
    const isOwn = owners.size === 0 || (owners.size === 1 && owners.has(callable));
    const home = isOwn
      ? localHome(unit, variable, variable.name)
      : unit.closureHome(variable, `${name}_${variable.name}`);
    if (home.kind === 'scalar') routine.initialise(home, variable.type, isOwn ? 'let ' : '');
  }
}

function heading(unit: Unit, callable: Callable, name: string, parameters: readonly IrParameter[]): string {
  return `function ${name}(${parameters.flatMap((each) => parameterNames(unit, callable, each)).join(', ')}) {`;
}

/** Name of an action's JavaScript function, which is written on first use. */
export function actionName(unit: Unit, action: Action): string {
  return unit.callable(action, shortName(action.name), (name) => {
    placeParameters(unit, action, name, action.parameters);
    const routine = new Routine(unit, action);
    routine.code.open(heading(unit, action, name, action.parameters));
    placeLocals(routine, name, unit.analysis.declaredIn(action));
    traceEvent(routine, `kind: 'action', action: ${JSON.stringify(action.name)}`);
    writeStatement(routine, action.body);
    routine.code.close();
    unit.functions.append(routine.code);
  });
}

export function functionName(unit: Unit, target: IrFunction): string {
  return unit.callable(target, target.name, (name) => {
    placeParameters(unit, target, name, target.parameters);
    const routine = new Routine(unit, target);
    routine.code.open(heading(unit, target, name, target.parameters));
    placeLocals(routine, name, unit.analysis.declaredIn(target));
    writeStatement(routine, target.body);
    // Not reached: a checked program returns a value on every path.
    if (target.returnType.kind !== 'void') {
      const { returnType } = target;
      routine.code.line(
        `return ${isAggregate(returnType) ? unit.temporaryObject(returnType, `${name}_zero`) : zeroOf(returnType)};`,
      );
    }
    routine.code.close();
    unit.functions.append(routine.code);
  });
}

/**
 * Name of the JavaScript function that applies a parser or control. A parser's function returns 0, an error's position,
 * or -1.
 */
export function instanceName(unit: Unit, instance: ControlInstance | ParserInstance): string {
  return unit.callable(instance, shortName(instance.name), (name) => {
    placeParameters(unit, instance, name, instance.parameters);
    const fail =
      instance.kind === 'parser' ? (error: number): string => `return ${error === 0 ? -1 : error};` : undefined;
    const routine = new Routine(unit, instance, fail);
    routine.code.open(`function ${name}() {`);
    placeLocals(routine, name, instance.locals);
    placeLocals(routine, name, unit.analysis.declaredIn(instance));
    for (const statement of instance.initial) writeStatement(routine, statement);
    if (instance.kind === 'parser') writeStates(routine, instance);
    else writeStatement(routine, instance.body);
    routine.code.close();
    unit.functions.append(routine.code);
  });
}
