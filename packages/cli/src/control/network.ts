/** The network that int control works on: switches with their programs, and the ways to them. */
import type { ModelSwitch, NetworkModel, P4RuntimeConnectionOptions } from '@int/control';
import { programOf } from '@int/control/internals';
import { DeviceProfile } from '@int/network';
import type { ClientTls, Pipeline } from '@int/p4runtime';
import { p4infoOf } from '@int/p4runtime';
import { writeDeviceProgram } from '@int/p4runtime/internals';
import type { IrProgram } from '@int/p4vm';
import { certificatesOf } from '../config/tls.js';
import { CliError, EXIT, type Io } from '../io.js';
import { readDevice } from '../p4/serve/device-files.js';
import type { ReadControl } from './read-control.js';

const REPORT_PORT = 32_766;

/** A program of switches, by the name that the model has for it. */
export interface ControlProgram {
  readonly name: ModelSwitch['program'];
  readonly program: IrProgram;
  readonly pipeline: Pipeline;
}

export interface ControlNetwork {
  /** Those that switches run, each once. */
  readonly programs: readonly ControlProgram[];
  readonly model: NetworkModel;
  /** How each switch is reached. */
  readonly ways: readonly P4RuntimeConnectionOptions[];
  /** How telemetry is read: that of all programs. */
  readonly device: DeviceProfile;
}

/** Reads programs, each file once. */
class ProgramFiles {
  readonly #read: ReadControl;
  readonly #io: Io;
  readonly #known = new Map<string, ControlProgram>();

  constructor(read: ReadControl, io: Io) {
    this.#read = read;
    this.#io = io;
  }

  get all(): readonly ControlProgram[] {
    return [...this.#known.values()];
  }

  /** @param at where in the configuration the file is named @throws CliError, FileProblems */
  program(file: string, at: readonly (string | number)[]): ControlProgram {
    const { telemetry, problem } = this.#read;
    const path = telemetry.path(file);
    const known = this.#known.get(path);
    if (known !== undefined) return known;
    const device = readDevice(path, {}, this.#io);
    if (device === undefined) throw new CliError(`${file}: the program has errors`, EXIT.INPUT);
    const p4info = p4infoOf(device.program);
    const name = programOf(p4info);
    if (name === null) throw problem(at, `${file} has the tables of neither int.p4 nor intmon.p4`);
    const [other] = [...this.#known].find(([, each]) => each.name === name) ?? [];
    if (other !== undefined)
      throw problem(at, `${file} and ${other} have the same tables: give all such switches one of them`);
    const pipeline = { p4info, deviceConfig: writeDeviceProgram(device.device) };
    const made = { name, program: device.program, pipeline };
    this.#known.set(path, made);
    return made;
  }
}

/** @throws CliError, FileProblems (rejects) if a program or a certificate cannot be used */
export async function controlNetwork(read: ReadControl, io: Io): Promise<ControlNetwork> {
  const { config, topology, telemetry, problem } = read;
  const files = new ProgramFiles(read, io);
  const switches = new Map<number, ModelSwitch>();
  const ways: P4RuntimeConnectionOptions[] = [];
  for (const [switchId, { target, deviceId = 1, program: own, tls }] of read.switches) {
    const key = Object.keys(config.switches).find((each) => topology.switchId(each) === switchId)!;
    const { name, pipeline } =
      own === undefined ? files.program(config.program, ['program']) : files.program(own, ['switches', key, 'program']);
    switches.set(switchId, { id: switchId, program: name, p4info: pipeline.p4info, isUp: true });
    const certificates = await certificatesOf(telemetry, tls, ['switches', key]);
    const { servername, ...pems } = certificates ?? {};
    const secure: ClientTls = { ...pems, ...(servername !== undefined && { serverName: servername }) };
    const electionId = config.electionId ?? 1;
    ways.push({ switchId, target, deviceId, electionId, pipeline, ...(tls !== undefined && { tls: secure }) });
  }
  const has = (name: ModelSwitch['program']): boolean => files.all.some((each) => each.name === name);
  if (config.sources.length === 0 && has('int')) {
    throw problem(['sources'], 'name at least one: switches with int.p4 send their reports over the network');
  }
  const { collector } = config;
  const model: NetworkModel = {
    topology,
    switches,
    failedLinks: new Set(),
    collector: collector === undefined ? null : { address: collector.address, port: collector.port ?? REPORT_PORT },
  };
  return { programs: files.all, model, ways, device: has('intmon') ? intmonDevice(read) : telemetry.device };
}

/** IntMon has a port of its own, so its profile reads what other switches send as well. */
function intmonDevice({ config: { device = {} }, problem }: ReadControl): DeviceProfile {
  const { profile = 'spec' } = device;
  if (profile !== 'spec' && profile !== 'intmon') {
    throw problem(['device', 'profile'], `the telemetry of intmon.p4 is read by the profile intmon, not by ${profile}`);
  }
  return new DeviceProfile({ ...device, profile: 'intmon' });
}
