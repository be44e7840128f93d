import { Budget, runStage } from '../budget/budget.js';
import type { ControlInstance, IrProgram, StructDataType, Variable } from '../ir/program.js';
import { declaredBytes, objectBytes } from '../ir/state-bytes.js';
import * as machine from '../machine/machine.js';
import type { Runtime } from '../machine/runtime.js';
import type { ReadPlace } from '../poison/poison.js';
import { PoisonedCode } from '../poison/poisoned-code.js';
import { Diagnostics, P4Error } from '../source/diagnostics.js';
import { Code } from './code.js';
import { steps } from './costs.js';
import type { PipelineCode } from './pipeline.js';
import { objectPlace, type Place, pathPlace } from './places.js';
import { instanceName } from './routines.js';
import { maskNames, writeLoadHeaders, writeSaveHeaders } from './saved-headers.js';
import { writeSnapshot } from './snapshot.js';
import { type CompileOptions, Unit } from './unit.js';

/** A program as JavaScript. */
export interface CompiledProgram {
  /** The body of a function with parameters `runtime` and `machine` that returns a `PipelineCode`. */
  readonly source: string;
  /** Bytes of the program's declarations and of the code's own objects, for one pipeline. */
  readonly stateBytes: number;
  /** Makes the pipeline for a runtime. May be called several times: each pipeline has its own headers and metadata. */
  bind(runtime: Runtime): PipelineCode;
}

type Factory = (runtime: Runtime, library: typeof machine) => PipelineCode;

/** The generated source, and the places where poison mode observes values. */
interface Written {
  readonly source: string;
  readonly places: readonly ReadPlace[];
}

/**
 * Compiles a program to JavaScript, so that nothing is interpreted per packet. Throws a P4Error if the program has a
 * construct that cannot run as the language demands, or if it exceeds a limit.
 */
export function compileProgram(program: IrProgram, options: CompileOptions = {}): CompiledProgram {
  const budget = new Budget(options.limits, options.onWork);
  const diagnostics = new Diagnostics();
  const { span } = program.ingress;
  const compiled = runStage(diagnostics, span, () => {
    budget.spend('stateBytes', declaredBytes(program), span);
    const { source, places } = sourceOf(program, options, budget);
    options.onWork?.();
    return { source, places, factory: new Function('runtime', 'machine', source) as Factory };
  });
  if (compiled === undefined) throw new P4Error(diagnostics.list);
  const { source, places, factory } = compiled;
  options.onWork?.();
  const make = (runtime: Runtime): PipelineCode => factory(runtime, machine);
  return {
    source,
    stateBytes: budget.spent('stateBytes'),
    bind: options.poison === true ? (runtime) => new PoisonedCode(program, places, runtime, make) : make,
  };
}

/** The objects that the parts of the pipeline share. */
interface Roots {
  readonly headers: string;
  readonly metadata: string;
  readonly standard: string;
}

function sourceOf(program: IrProgram, options: CompileOptions, budget: Budget): Written {
  const unit = new Unit(program, options, budget);
  const roots = makeRoots(unit);
  const methods = new Code(unit.meter);
  methods.open('return {');
  methods.line(`standardMetadata: ${roots.standard},`);
  writeCosts(unit, methods);
  writeReset(unit, roots, methods);
  writeParse(unit, roots, methods);
  const { verifyChecksum, ingress, egress, computeChecksum, deparser } = program;
  writeControl(unit, methods, 'verifyChecksum', 'verify', verifyChecksum);
  writeControl(unit, methods, 'ingress', 'ingress', ingress);
  writeControl(unit, methods, 'egress', 'egress', egress);
  writeControl(unit, methods, 'computeChecksum', 'compute', computeChecksum);
  writeControl(unit, methods, 'deparse', 'deparser', deparser, {
    before: ['position = output.bits >>> 3;'],
    after: ['output.bits = position * 8;'],
  });
  writeStates(unit, roots, methods);
  methods.open('headerBits() {');
  methods.line(`return ${unit.types.functionOf('bits', program.headers)}(${roots.headers});`);
  methods.close('},');
  writeSnapshot(unit, methods, [
    ['hdr', objectPlace(program.headers, roots.headers, false)],
    ['meta', objectPlace(program.metadata, roots.metadata, false)],
    ['standard_metadata', objectPlace(program.standardMetadata, roots.standard, false)],
  ]);
  methods.close('};');

  const code = new Code(unit.meter);
  code.line(`'use strict';`);
  code.line('const { input, output, requests, faults, work } = runtime;');
  if (options.poison === true) code.line('const { poison } = runtime;');
  for (const name of [...unit.helpers].sort()) code.line(`const m$${name} = machine.${name};`);
  code.line(
    '// The packet being parsed: its bytes, where the parser is, where the packet ends; and where the output is.',
  );
  code.line('let bytes = input.bytes, at = 0, end = 0, position = 0;');
  code.line('let exited = false;');
  code.append(unit.types.code);
  code.append(unit.state);
  code.append(unit.functions);
  code.append(methods);
  return { source: code.text(() => budget.work()), places: unit.readPlaces };
}

/** The most steps of one pass of a packet, with one turn of each loop, and the bytes of its saved state. */
function writeCosts({ program, costs, budget, options }: Unit, methods: Code): void {
  const { parser, verifyChecksum, ingress, egress, computeChecksum, deparser } = program;
  const both = [
    ['ingress', [parser, verifyChecksum, ingress]],
    ['egress', [egress, computeChecksum, deparser]],
  ] as const;
  for (const [name, parts] of both) {
    const cost = steps(parts.reduce((sum, each) => sum + costs.callable(each), 0));
    if (cost > budget.limits.steps) budget.exceeded('steps', parts.at(-1)?.span ?? ingress.span);
    methods.line(`${name}Steps: ${cost},`);
  }
  const kept = [program.headers, program.metadata, program.standardMetadata];
  const copies = options.poison === true ? 2 : 1;
  const stateBytes = copies * kept.reduce((sum, type) => sum + objectBytes(type), 0);
  // The switch keeps one empty state.
  budget.spend('stateBytes', stateBytes, ingress.span);
  methods.line(`stateBytes: ${stateBytes},`);
}

/** Makes the headers and the metadata, and gives them to the parameters of all parts. */
function makeRoots(unit: Unit): Roots {
  const { program } = unit;
  const headers = unit.temporaryObject(program.headers, 'hdr');
  const metadata = unit.temporaryObject(program.metadata, 'meta');
  // The name is reserved, because externs without a parameter for the standard metadata use it.
  unit.budget.spend('stateBytes', objectBytes(program.standardMetadata), program.ingress.span);
  unit.state.line(`const standard = ${unit.types.create(program.standardMetadata)};`);
  const standard = 'standard';
  const share = (variable: Variable | undefined, name: string): void => {
    if (variable !== undefined) unit.setHome(variable, { kind: 'aggregate', name, isFixed: true });
  };
  const { parser, verifyChecksum, ingress, egress, computeChecksum, deparser } = program;
  for (const part of [parser, ingress, egress, verifyChecksum, computeChecksum, deparser]) {
    share(part.parameters[0]?.variable, headers);
    share(part.parameters[1]?.variable, metadata);
    share(part.parameters[2]?.variable, standard);
  }
  return { headers, metadata, standard };
}

function writeReset(unit: Unit, roots: Roots, methods: Code): void {
  const { program, types } = unit;
  methods.open('reset() {');
  for (const [, type, root] of partsOfState(program, roots))
    methods.line(`${types.functionOf('zero', type)}(${root});`);
  methods.close('},');
}

/** Code that reports a stage, in code compiled for tracing. */
function stage(unit: Unit, methods: Code, name: string): void {
  if (unit.options.trace === true) {
    methods.line(`if (runtime.trace !== undefined) runtime.trace.event({ kind: 'stage', name: '${name}' });`);
  }
}

function writeParse(unit: Unit, roots: Roots, methods: Code): void {
  const { program } = unit;
  const name = instanceName(unit, program.parser);
  methods.open('parse() {');
  stage(unit, methods, 'parser');
  methods.line('bytes = input.bytes;');
  methods.line('at = input.start + (input.cursor >>> 3);');
  methods.line('end = input.start + input.length;');
  methods.line(`const result = ${name}();`);
  methods.line('input.cursor = (at - input.start) * 8;');
  methods.line('const error = result < 0 ? 0 : result;');
  if (unit.options.trace === true) {
    const errors = unit.constant('errors', 'errors', JSON.stringify(program.errors));
    methods.line(
      `if (result !== 0 && runtime.trace !== undefined) runtime.trace.event({ kind: 'parser-error', error: ${errors}[error] });`,
    );
  }
  methods.line(`${roots.standard}.parser_error = error;`);
  methods.line('return error;');
  methods.close('},');
}

/** `before` and `after`: statements around the call of the control's function. */
function writeControl(
  unit: Unit,
  methods: Code,
  method: string,
  stageName: string,
  control: ControlInstance,
  { before = [], after = [] }: { readonly before?: readonly string[]; readonly after?: readonly string[] } = {},
): void {
  const name = instanceName(unit, control);
  methods.open(`${method}() {`);
  stage(unit, methods, stageName);
  if (unit.analysis.mayExit(control)) methods.line('exited = false;');
  methods.lines(...before, `${name}();`, ...after);
  methods.close('},');
}

/** The parts of a saved state: their names, types and live objects. */
function partsOfState(program: IrProgram, roots: Roots): readonly (readonly [keyof Roots, StructDataType, string])[] {
  return [
    ['headers', program.headers, roots.headers],
    ['metadata', program.metadata, roots.metadata],
    ['standard', program.standardMetadata, roots.standard],
  ];
}

function writeStates(unit: Unit, roots: Roots, methods: Code): void {
  const { program, types } = unit;
  const parts = partsOfState(program, roots);
  const created = parts.map(([name, type]) => `${name}: ${types.create(type)}`);
  const masks = maskNames(program.headers).map((name) => `${name}: 0`);
  methods.open('createState() {');
  methods.line(`return { ${[...created, ...masks].join(', ')} };`);
  methods.close('},');
  for (const [suffix, moved] of [
    ['', parts],
    ['Metadata', parts.slice(1)],
  ] as const) {
    methods.open(`save${suffix}(into) {`);
    for (const [name, type, root] of moved) {
      if (name === 'headers') writeSaveHeaders(unit, type, root, methods);
      else methods.line(`${types.functionOf('move', type)}(into.${name}, ${root});`);
    }
    methods.close('},');
    methods.open(`load${suffix}(from) {`);
    for (const [name, type, root] of moved) {
      if (name === 'headers') writeLoadHeaders(unit, type, root, methods);
      else methods.line(`${types.functionOf('move', type)}(${root}, from.${name});`);
    }
    methods.close('},');
  }
  methods.open('loadFieldList(list, from) {');
  methods.open('switch (list) {');
  for (const [list, paths] of program.fieldLists) {
    methods.open(`case ${list}:`);
    for (const path of paths) writeFieldCopy(unit, roots, methods, path);
    methods.line('break;');
    methods.close('');
  }
  methods.close();
  methods.close('},');
}

/** Copies a field of the metadata from a saved state. A path may begin with the name of a part. */
function writeFieldCopy(unit: Unit, roots: Roots, methods: Code, path: readonly string[]): void {
  const { program, types } = unit;
  const isStandard = path[0] === 'standard_metadata';
  const inner = isStandard ? path.slice(1) : path;
  const type = isStandard ? program.standardMetadata : program.metadata;
  const pathIn = (object: string): Place | undefined => pathPlace(unit, objectPlace(type, object, false), inner);
  const into = pathIn(isStandard ? roots.standard : roots.metadata);
  const from = pathIn(isStandard ? 'from.standard' : 'from.metadata');
  if (into === undefined || from === undefined) return;
  if (into.kind === 'aggregate' && from.kind === 'aggregate') {
    methods.line(`${types.functionOf('move', into.type)}(${into.code}, ${from.code});`);
  } else if (into.kind === 'scalar' && from.kind === 'scalar') {
    for (const [index, target] of into.targets.entries()) methods.line(`${target} = ${from.targets[index] ?? '0'};`);
  }
  for (const each of into.kind === 'slice' ? [] : into.marks) methods.line(each);
}
