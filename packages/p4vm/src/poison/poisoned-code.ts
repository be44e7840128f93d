import type { PacketState, PipelineCode, StandardMetadata } from '../compile/pipeline.js';
import type { ControlInstance, IrProgram } from '../ir/program.js';
import type { Runtime, RuntimeValue } from '../machine/runtime.js';
import type { Poison, ReadPlace } from './poison.js';

/** Fields that the switch sets before the parser, and before egress. */
const SET_BEFORE_PARSER = ['ingress_port', 'ingress_global_timestamp', 'instance_type', 'packet_length'] as const;
const SET_BEFORE_EGRESS = [
  'egress_port',
  'egress_spec',
  'egress_rid',
  'egress_global_timestamp',
  'instance_type',
  'packet_length',
  'enq_timestamp',
  'enq_qdepth',
  'deq_timedelta',
  'deq_qdepth',
] as const;

/** Fields that the switch reads after ingress, and after egress. */
const READ_AFTER_INGRESS = ['egress_spec', 'mcast_grp', 'priority'] as const;
const READ_AFTER_EGRESS = ['egress_spec'] as const;

/** Standard metadata that the switch reads, with the place for a report. */
type Results = ReadonlyMap<'egress_spec' | 'mcast_grp' | 'priority', ReadPlace>;

interface PoisonedState extends PacketState {
  readonly second: PacketState;
}

function secondOf(state: PacketState): PacketState {
  return (state as PoisonedState).second;
}

/** The second run's own parts of the runtime, so that it has no effects. */
function secondRuntime(runtime: Runtime): Runtime {
  const { requests, faults, work } = runtime;
  const own: Partial<Runtime> = {
    output: { bytes: new Uint8Array(2048), bits: 0, most: runtime.output.most },
    requests: { ...requests },
    faults: { ...faults },
    work: { ...work },
    digest: () => {},
    log: () => {},
    trace: undefined,
  };
  // The rest comes from the first runtime, also the values that the switch sets per packet.
  return Object.assign(Object.create(runtime) as Runtime, own);
}

/** A program's code for poison mode: two copies that run one after the other for comparison. */
export class PoisonedCode implements PipelineCode {
  readonly standardMetadata: StandardMetadata;
  readonly ingressSteps: number;
  readonly egressSteps: number;
  readonly stateBytes: number;
  readonly #first: PipelineCode;
  readonly #second: PipelineCode;
  readonly #runtime: Runtime;
  readonly #own: Runtime;
  readonly #poison: Poison;
  readonly #places: readonly ReadPlace[];
  readonly #ofIngress: Results;
  readonly #ofEgress: Results;

  constructor(
    { ingress, egress }: Pick<IrProgram, 'ingress' | 'egress'>,
    places: readonly ReadPlace[],
    runtime: Runtime,
    make: (runtime: Runtime) => PipelineCode,
  ) {
    if (runtime.poison === undefined) throw new TypeError('the runtime is none for poison mode');
    this.#poison = runtime.poison;
    this.#places = places;
    this.#runtime = runtime;
    this.#own = secondRuntime(runtime);
    this.#first = make(runtime);
    this.standardMetadata = this.#first.standardMetadata;
    this.ingressSteps = this.#first.ingressSteps;
    this.egressSteps = this.#first.egressSteps;
    this.stateBytes = this.#first.stateBytes;
    this.#second = make(this.#own);
    this.#ofIngress = new Map(READ_AFTER_INGRESS.map((name) => [name, placeOfResult(name, ingress)]));
    this.#ofEgress = new Map(READ_AFTER_EGRESS.map((name) => [name, placeOfResult(name, egress)]));
  }

  reset(): void {
    this.#poison.begin();
    this.#both((code) => code.reset());
  }

  parse(): number {
    this.#tell(SET_BEFORE_PARSER);
    const { input } = this.#runtime;
    const { cursor } = input;
    let error = 0;
    this.#both((code) => {
      input.cursor = cursor;
      error = code.parse();
    });
    return error;
  }

  verifyChecksum(): void {
    this.#both((code) => code.verifyChecksum());
  }

  ingress(): void {
    this.#both((code) => code.ingress());
    this.#compareResults(this.#ofIngress);
  }

  egress(): void {
    this.#tell(SET_BEFORE_EGRESS);
    this.#both((code) => code.egress());
    this.#compareResults(this.#ofEgress);
  }

  computeChecksum(): void {
    this.#both((code) => code.computeChecksum());
  }

  deparse(): void {
    this.#own.output.bits = 0;
    this.#both((code) => code.deparse());
  }

  createState(): PacketState {
    const second = this.#second.createState();
    const state: PoisonedState = Object.assign(this.#first.createState(), { second });
    return state;
  }

  save(into: PacketState): void {
    this.#pair((code, state) => code.save(state), into);
  }

  load(from: PacketState): void {
    this.#pair((code, state) => code.load(state), from);
  }

  saveMetadata(into: PacketState): void {
    this.#pair((code, state) => code.saveMetadata(state), into);
  }

  loadMetadata(from: PacketState): void {
    this.#pair((code, state) => code.loadMetadata(state), from);
  }

  loadFieldList(list: number, from: PacketState): void {
    this.#pair((code, state) => code.loadFieldList(list, state), from);
  }

  headerBits(): number {
    return this.#first.headerBits();
  }

  snapshot(): ReadonlyMap<string, RuntimeValue | string> {
    return this.#first.snapshot();
  }

  #both(run: (code: PipelineCode) => void): void {
    this.#own.work.left = this.#runtime.work.left;
    this.#poison.compare(
      this.#places,
      () => run(this.#first),
      () => run(this.#second),
    );
  }

  #pair(run: (code: PipelineCode, state: PacketState) => void, state: PacketState): void {
    this.#both((code) => run(code, code === this.#first ? state : secondOf(state)));
  }

  /** Copies fields that the switch sets in the first run's standard metadata. */
  #tell(names: readonly (keyof StandardMetadata)[]): void {
    const from = this.#first.standardMetadata;
    Object.assign(this.#second.standardMetadata, Object.fromEntries(names.map((name) => [name, from[name]])));
  }

  /** Checks that the fields which the switch reads are equal in both runs. */
  #compareResults(results: Results): void {
    const first = this.#first.standardMetadata;
    const second = this.#second.standardMetadata;
    for (const [name, place] of results) {
      if (first[name] === second[name]) continue;
      this.#poison.report(place);
      second[name] = first[name];
    }
  }
}

function placeOfResult(name: string, { span }: Pick<ControlInstance, 'span'>): ReadPlace {
  return { use: 'way of the packet', what: `standard_metadata.${name}`, span };
}
