/** The network that int control works on: switches with their programs, and the ways to them. */
import type { ModelSwitch, NetworkModel, P4RuntimeConnectionOptions } from '@int/control';
import type { ClientTls, Pipeline } from '@int/p4runtime';
import { p4infoOf } from '@int/p4runtime';
import { writeDeviceProgram } from '@int/p4runtime/internals';
import type { IrProgram } from '@int/p4vm';
import { certificatesOf } from '../config/tls.js';
import { CliError, EXIT, type Io } from '../io.js';
import { readDevice } from '../p4/serve/device-files.js';
import type { ReadControl } from './read-control.js';

const REPORT_PORT = 32_766;

export interface ControlNetwork {
  readonly program: IrProgram;
  readonly pipeline: Pipeline;
  readonly model: NetworkModel;
  /** How each switch is reached. */
  readonly ways: readonly P4RuntimeConnectionOptions[];
}

/** @throws CliError (rejects) if the program or a certificate cannot be used */
export async function controlNetwork(read: ReadControl, io: Io): Promise<ControlNetwork> {
  const { config, topology, telemetry } = read;
  const device = readDevice(telemetry.path(config.program), {}, io);
  if (device === undefined) throw new CliError(`${config.program}: the program has errors`, EXIT.INPUT);
  const p4info = p4infoOf(device.program);
  const pipeline = { p4info, deviceConfig: writeDeviceProgram(device.device) };
  const switches = new Map<number, ModelSwitch>();
  const ways: P4RuntimeConnectionOptions[] = [];
  for (const [switchId, { target, deviceId = 1, tls }] of read.switches) {
    switches.set(switchId, { id: switchId, program: 'int', p4info, isUp: true });
    const name = Object.keys(config.switches).find((each) => topology.switchId(each) === switchId)!;
    const certificates = await certificatesOf(telemetry, tls, ['switches', name]);
    const { servername, ...files } = certificates ?? {};
    const secure: ClientTls = { ...files, ...(servername !== undefined && { serverName: servername }) };
    const electionId = config.electionId ?? 1;
    ways.push({ switchId, target, deviceId, electionId, pipeline, ...(tls !== undefined && { tls: secure }) });
  }
  const { collector } = config;
  const model: NetworkModel = {
    topology,
    switches,
    failedLinks: new Set(),
    collector: collector === undefined ? null : { address: collector.address, port: collector.port ?? REPORT_PORT },
  };
  return { program: device.program, pipeline, model, ways };
}
