import {
  buildProgram,
  type Digest,
  formatDiagnostic,
  type IrProgram,
  type Limits,
  P4Error,
  type V1Switch,
} from '@int/p4vm';
import type { PipelineSchema } from '../server/schema.js';
import { type P4RuntimeTarget, TargetError, type TargetEvents, type TargetPipeline } from '../server/target.js';
import { includeResolver, readDeviceProgram } from './device-program.js';
import type { MachineHost } from './machine-host.js';
import { P4vmPipeline } from './p4vm-pipeline.js';
import { RealTimeHost, type RealTimeHostOptions } from './real-time-host.js';

export interface P4vmTargetOptions extends RealTimeHostOptions {
  /** Where machines run; the other options, but for `limits`, are then its own. Default: on the system's clock. */
  readonly host?: MachineHost;
  /** Limits of programs, which come from clients. */
  readonly limits?: Partial<Limits>;
}

/** Values that v1model allows: 16 bits of groups and instances, 15 of sessions, 3 of priorities. */
const V1MODEL_LIMITS = { multicastGroup: 0xffff, cloneSession: 0x7fff, instance: 0xffff, classOfService: 7 } as const;

/** A machine of @int/p4vm as the target of a server. Its device config is a P4 program, as text or as a bundle of files. */
export class P4vmTarget implements P4RuntimeTarget {
  readonly limits = V1MODEL_LIMITS;
  readonly host: MachineHost;
  readonly #programLimits: Partial<Limits> | undefined;
  readonly #onWork: (() => void) | undefined;
  #events: TargetEvents | undefined;
  #active: P4vmPipeline | undefined;

  constructor(options: P4vmTargetOptions = {}) {
    this.host = options.host ?? new RealTimeHost(options);
    this.#programLimits = options.limits;
    if (this.host.meanwhile !== undefined) this.#onWork = () => this.host.meanwhile?.();
    this.host.setControl((packet) => this.#events?.packetIn(packet));
    this.host.setPortListener(() => this.#events?.portsChanged());
  }

  /** The machine that gets the packets; undefined before the first pipeline. */
  get machine(): V1Switch | undefined {
    return this.#active?.machine;
  }

  /** Says whether a port is up. @throws TypeError with a host of its own, which knows by itself */
  setPort(port: number, isUp: boolean): void {
    if (!(this.host instanceof RealTimeHost)) throw new TypeError('the host of the machines says which ports are up');
    this.host.setPort(port, isUp);
  }

  nowNs(): bigint {
    return this.host.nowNs();
  }

  schedule(delayNs: number, callback: () => void): () => void {
    return this.host.schedule(delayNs, callback);
  }

  prepare(schema: PipelineSchema, deviceConfig: Uint8Array): P4vmPipeline {
    return this.prepareProgram(schema, this.#compile(deviceConfig));
  }

  /** As `prepare`, with a program that is compiled already. @throws TargetError */
  prepareProgram(schema: PipelineSchema, program: IrProgram): P4vmPipeline {
    let pipeline: P4vmPipeline | undefined;
    const machine = this.#create(program, (digest) => {
      // The queue of the machine is for those who ask for digests; here they are told.
      machine.state.digests.reset();
      if (pipeline === this.#active) pipeline?.digest(digest, this.#events);
    });
    pipeline = new P4vmPipeline(schema, machine);
    return pipeline;
  }

  activate(pipeline: TargetPipeline): void {
    if (!(pipeline instanceof P4vmPipeline)) throw new TypeError('not a pipeline of this target');
    this.#active = pipeline;
    this.host.useMachine(pipeline.machine);
  }

  hasPort(port: number): boolean {
    return this.host.hasPort(port);
  }

  isPortUp(port: number): boolean {
    return this.host.isPortUp(port);
  }

  packetOut(bytes: Uint8Array): void {
    this.host.inject(bytes);
  }

  listen(events: TargetEvents | undefined): void {
    this.#events = events;
  }

  #compile(deviceConfig: Uint8Array): IrProgram {
    const device = readDeviceProgram(deviceConfig);
    const { program, diagnostics } = buildProgram(
      { name: device.main, text: device.files[device.main] ?? '' },
      {
        resolve: includeResolver(device),
        defines: device.defines,
        limits: this.#programLimits,
        onWork: this.#onWork,
      },
    );
    if (program !== undefined) return program;
    const [first] = diagnostics.list.filter(({ severity }) => severity === 'error');
    throw new TargetError(
      'ERR_TARGET_INVALID',
      `the program cannot be compiled: ${first === undefined ? 'it has errors' : formatDiagnostic(first)}`,
    );
  }

  #create(program: IrProgram, onDigest: (digest: Digest) => void): V1Switch {
    try {
      return this.host.createMachine(program, onDigest);
    } catch (error) {
      if (!(error instanceof P4Error)) throw error;
      throw new TargetError('ERR_TARGET_INVALID', `the program cannot be run: ${error.message}`, { cause: error });
    }
  }
}
