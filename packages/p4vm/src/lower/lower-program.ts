import { Budget, runStage } from '../budget/budget.js';
import type { BoundArgument, CheckedProgram } from '../check/checked-program.js';
import type { ControlInstance, DataType, IrProgram, ParserInstance, StructDataType } from '../ir/program.js';
import type { Diagnostics } from '../source/diagnostics.js';
import type { CallExpression } from '../syntax/ast.js';
import { isObjectType } from './calls.js';
import { checkControlNames } from './control-names.js';
import { controlSurface } from './control-surface.js';
import { fieldLists } from './field-lists.js';
import { codeOf } from './instances.js';
import { Lowering } from './lowering.js';
import type { InstanceHandle, StaticValue } from './scope.js';
import { constructorName, instanceFor, makeInline, staticValue } from './statics.js';

/** The parts of V1Switch, by the position of their parameters. */
const PARTS = ['parser', 'verifyChecksum', 'ingress', 'egress', 'computeChecksum', 'deparser'] as const;

/**
 * Specialises a checked program for V1Switch: expands instances and gives them control-plane names, inserts values of
 * constructor parameters, and turns types into types of values. A construct that cannot run as the language demands
 * gives an error of layer `target`, and the result is undefined.
 */
export function lowerProgram(
  checked: CheckedProgram,
  diagnostics: Diagnostics,
  budget: Budget = new Budget(),
): IrProgram | undefined {
  const lowering = new Lowering(checked, diagnostics, budget);
  const program = runStage(diagnostics, checked.program.span, () =>
    lowering.attempt(() => makeSwitch(lowering), undefined),
  );
  return diagnostics.hasErrors ? undefined : program;
}

function makeSwitch(lowering: Lowering): IrProgram {
  const { checked } = lowering;
  const { main } = checked;
  const construction = checked.instances.get(main) ?? lowering.missing(main.span, 'main is not resolved');
  if (construction.kind !== 'package' || construction.name !== 'V1Switch') {
    lowering.refuse(
      main.type.span,
      `${constructorName(construction)} is not V1Switch: only programs for v1model.p4 can be run`,
      'unsupported-architecture',
    );
  }
  if (construction.arguments.length !== PARTS.length) {
    lowering.refuse(main.type.span, 'this V1Switch is not that of v1model.p4', 'unsupported-architecture');
  }
  makeTopLevelObjects(lowering);
  const handles = construction.arguments.map((each) => partHandle(lowering, each));
  checkApart(lowering, handles);
  const parts = handles.map((handle) =>
    lowering.attempt(() => codeOf(lowering, handle, packets(lowering, handle)), undefined),
  );
  checkMeters(lowering);
  checkControlNames(lowering);
  const part = (name: (typeof PARTS)[number]): ControlInstance | ParserInstance =>
    parts[PARTS.indexOf(name)] ?? lowering.missing(main.span, `there is no ${name}`);
  const control = (name: (typeof PARTS)[number]): ControlInstance => {
    const made = part(name);
    return made.kind === 'control' ? made : lowering.missing(main.span, `the ${name} is not a control`);
  };
  const parser = part('parser');
  if (parser.kind !== 'parser') return lowering.missing(main.span, 'the parser is not a parser');
  const ingress = control('ingress');
  const [headers, metadata, standardMetadata] = ingress.parameters.map(({ variable }) =>
    structOf(lowering, variable.type),
  );
  if (headers === undefined || metadata === undefined || standardMetadata === undefined) {
    return lowering.missing(main.span, 'the ingress control has too few parameters');
  }
  return {
    structs: lowering.types.structs,
    errors: checked.errors,
    parser,
    verifyChecksum: control('verifyChecksum'),
    ingress,
    egress: control('egress'),
    computeChecksum: control('computeChecksum'),
    deparser: control('deparser'),
    headers,
    metadata,
    standardMetadata,
    externs: lowering.externs,
    tables: lowering.tables,
    actions: lowering.actions,
    functions: lowering.functions,
    valueSets: lowering.valueSets,
    fieldLists: lowering.attempt(() => fieldLists(lowering, metadata), new Map()),
    enums: lowering.types.enums,
    surface: controlSurface(lowering),
  };
}

/** Extern objects at top level come first, used or not. */
function makeTopLevelObjects(lowering: Lowering): void {
  for (const each of lowering.checked.program.declarations) {
    if (each.kind !== 'instance' || lowering.checked.instances.get(each)?.kind !== 'extern') continue;
    lowering.attempt(() => instanceFor(lowering, lowering.global, each), undefined);
  }
}

/** A direct meter that is read must belong to a table. */
function checkMeters({ owners, meterReads, diagnostics }: Lowering): void {
  for (const [meter, span] of meterReads) {
    if (owners.has(meter)) continue;
    const message = `${meter.name} is read, but no table has it as its meter`;
    diagnostics.error('target', 'unsupported-construct', span, message);
  }
}

/** A part has the name of its type, followed by a number if it has constructor or type arguments: `Ingress_0`. */
function partHandle(lowering: Lowering, bound: BoundArgument): InstanceHandle {
  const value = bound.argument?.value;
  if (value === undefined)
    return lowering.refuse(lowering.checked.main.span, `no ${bound.parameter.name.text} is given`);
  const resolved = value.kind === 'call' ? lowering.checked.calls.get(value) : undefined;
  let part: StaticValue;
  if (value.kind === 'call' && resolved?.kind === 'constructor') {
    const type = constructorName(resolved.constructor);
    // Compilers make a separate type of each specialisation, whose name the control plane uses.
    const isSpecialised = value.arguments.length > 0 || hasTypeArguments(value);
    const name = isSpecialised ? lowering.numberedName(type) : type;
    part = makeInline(lowering, lowering.global, value, resolved.constructor, name);
  } else {
    part = staticValue(lowering, lowering.global, value);
  }
  return part.kind === 'instance' ? part.handle : lowering.missing(value.span, 'this is no parser or control');
}

function checkApart(lowering: Lowering, handles: readonly InstanceHandle[]): void {
  const seen = new Set<InstanceHandle>();
  for (const handle of handles) {
    if (seen.has(handle)) lowering.refuse(handle.span, `${handle.name} is used for two parts of the switch`);
    seen.add(handle);
  }
}

function structOf(lowering: Lowering, type: DataType): StructDataType {
  return type.kind === 'struct'
    ? type
    : lowering.refuse(lowering.checked.main.span, 'headers and metadata must be structs', 'not-a-struct');
}

/** True for `T<A>(...)`, which is parsed as a call of a type. */
function hasTypeArguments({ callee, typeArguments }: CallExpression): boolean {
  if (typeArguments.length > 0) return true;
  return callee.kind === 'type-expression' && callee.type.kind === 'named-type' && callee.type.arguments.length > 0;
}

/** The packet, for each object parameter of a part. */
function packets(lowering: Lowering, { declaration }: InstanceHandle): StaticValue[] {
  return declaration.parameters
    .filter((each) => isObjectType(lowering.typeOfNode(each.type)))
    .map(() => ({ kind: 'packet' }));
}
