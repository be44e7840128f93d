import { type CompiledProgram, compileProgram } from '../compile/compile-program.js';
import type { IrProgram } from '../ir/program.js';
import { type BuildOptions, buildProgram } from '../lower/front-end.js';
import { P4Error } from '../source/diagnostics.js';
import type { SourceFile } from '../source/position.js';
import type { SwitchEnvironment } from './environment.js';
import { type CodeMaker, V1Switch } from './v1-switch.js';

/** The environment of the switch, and options for reading its program. */
export type CreateSwitchOptions = SwitchEnvironment & Omit<BuildOptions, 'diagnostics' | 'limits'>;

/**
 * Makes a switch that runs a program.
 *
 * @param source the program's text, a file, or the result of `buildProgram` or `loadProgram`
 * @throws P4Error if the program has errors or exceeds a limit; its `diagnostics` tell where
 * @throws RangeError for a limit that is not a whole number from 1
 */
export function createSwitch(source: string | SourceFile | IrProgram, options: CreateSwitchOptions = {}): V1Switch {
  const program = programOf(source, options);
  const { limits, onWork } = options;
  const poison = options.undefined === 'poison';
  const compile = (trace: boolean, bytes: number): CompiledProgram =>
    compileProgram(program, { trace, poison, onWork, limits: { ...limits, stateBytes: bytes } });
  const isShared = limits === undefined && !poison;
  const codeFor: typeof compile = (trace, bytes) =>
    isShared ? sharedCode(program, trace, bytes, compile) : compile(trace, bytes);
  return new V1Switch(program, (trace, bytes) => withWork(codeFor(trace, bytes), onWork), options);
}

/** Binding makes the engine read all of the code. */
function withWork({ stateBytes, bind }: CompiledProgram, onWork: (() => void) | undefined): ReturnType<CodeMaker> {
  return {
    stateBytes,
    bind: (runtime) => {
      onWork?.();
      const bound = bind(runtime);
      onWork?.();
      return bound;
    },
  };
}

/** Code of programs, without and with traces: a fabric has many switches of one program. */
const codeOf = /* @__PURE__ */ new WeakMap<IrProgram, Map<boolean, CompiledProgram>>();

function sharedCode(
  program: IrProgram,
  trace: boolean,
  bytes: number,
  compile: (trace: boolean, bytes: number) => CompiledProgram,
): CompiledProgram {
  let codes = codeOf.get(program);
  if (codes === undefined) {
    codes = new Map();
    codeOf.set(program, codes);
  }
  const known = codes.get(trace);
  // Too large for what is left: the compiler says so.
  if (known !== undefined && known.stateBytes <= bytes) return known;
  const code = compile(trace, bytes);
  codes.set(trace, code);
  return code;
}

function programOf(source: string | SourceFile | IrProgram, options: BuildOptions): IrProgram {
  if (typeof source !== 'string' && 'ingress' in source) return source;
  const file = typeof source === 'string' ? { name: 'program.p4', text: source } : source;
  const { resolve, defines, limits, onWork } = options;
  const { program, diagnostics } = buildProgram(file, { resolve, defines, limits, onWork });
  if (program === undefined) throw new P4Error(diagnostics.list);
  return program;
}
