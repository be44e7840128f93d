import { compileProgram } from '../../../src/compile/compile-program.js';
import type { PipelineCode } from '../../../src/compile/pipeline.js';
import type { CompileOptions } from '../../../src/compile/unit.js';
import type { IrProgram } from '../../../src/ir/program.js';
import { buildProgram } from '../../../src/lower/front-end.js';
import type { Runtime, RuntimeValue } from '../../../src/machine/runtime.js';
import { formatDiagnostic } from '../../../src/source/diagnostics.js';
import type { ProgramState } from '../../../src/tables/program-state.js';
import { createProgramState } from '../../../src/tables/program-state.js';
import { runtimeOf } from './build.js';

/** Pieces of a program for v1model; what is left out does nothing. */
export interface Pieces {
  /** Declarations at the beginning. */
  readonly types?: string;
  /** Fields of the struct of headers. */
  readonly headers?: string;
  readonly metadata?: string;
  /** States of the parser, `start` among them. */
  readonly states?: string;
  /** Declarations of ingress. */
  readonly declarations?: string;
  readonly ingress?: string;
  readonly verify?: string;
  readonly compute?: string;
}

function textOf(pieces: Pieces): string {
  return `#include <core.p4>
#include <v1model.p4>
${pieces.types ?? ''}
struct headers_t { ${pieces.headers ?? ''} }
struct metadata_t { ${pieces.metadata ?? ''} }
parser MyParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
  ${pieces.states ?? 'state start { transition accept; }'}
}
control MyVerify(inout headers_t hdr, inout metadata_t meta) { apply { ${pieces.verify ?? ''} } }
control MyIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
  ${pieces.declarations ?? ''}
  apply { ${pieces.ingress ?? ''} }
}
control MyEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) { apply { } }
control MyCompute(inout headers_t hdr, inout metadata_t meta) { apply { ${pieces.compute ?? ''} } }
control MyDeparser(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(MyParser(), MyVerify(), MyIngress(), MyEgress(), MyCompute(), MyDeparser()) main;
`;
}

function programOf(pieces: Pieces): IrProgram {
  const { program, diagnostics } = buildProgram({ name: 'test.p4', text: textOf(pieces) });
  if (program === undefined) throw new Error(diagnostics.list.map(formatDiagnostic).join('\n'));
  return program;
}

/** A program with its tables and extern objects, run packet by packet. */
export class TextProgram {
  readonly runtime: Runtime;
  readonly pipeline: PipelineCode;
  readonly state: ProgramState;
  readonly source: string;
  readonly logged: string[] = [];

  constructor(pieces: Pieces, options: CompileOptions = {}, more: Partial<Runtime> = {}) {
    const program = programOf(pieces);
    const runtime = runtimeOf(new Uint8Array(0), { log: (message) => void this.logged.push(message), ...more });
    this.state = createProgramState(program, runtime);
    const { tables, externs, valueSets, calculations } = this.state;
    const hash: Runtime['hash'] = (algorithm, bytes, length) => calculations.hash(algorithm, bytes, length);
    this.runtime = Object.assign(runtime, { tables, externs, valueSets }, more.hash === undefined ? { hash } : {});
    const compiled = compileProgram(program, options);
    this.source = compiled.source;
    this.pipeline = compiled.bind(this.runtime);
  }

  /** Runs a packet through all parts, and gives the values of headers and metadata. */
  run(...bytes: readonly number[]): ReadonlyMap<string, RuntimeValue | string> {
    const { runtime, pipeline } = this;
    const fresh = runtimeOf(Uint8Array.from(bytes));
    Object.assign(runtime.input, fresh.input);
    Object.assign(runtime.requests, fresh.requests);
    Object.assign(runtime.faults, fresh.faults);
    runtime.output.bits = 0;
    pipeline.reset();
    pipeline.parse();
    runtime.payloadStart = runtime.input.start + (runtime.input.cursor >>> 3);
    runtime.payloadLength = runtime.input.length - (runtime.input.cursor >>> 3);
    pipeline.verifyChecksum();
    pipeline.ingress();
    pipeline.egress();
    pipeline.computeChecksum();
    pipeline.deparse();
    return pipeline.snapshot();
  }

  get output(): number[] {
    return [...this.runtime.output.bytes.subarray(0, this.runtime.output.bits / 8)];
  }
}
