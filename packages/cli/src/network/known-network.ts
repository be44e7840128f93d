import { isDeepStrictEqual } from 'node:util';
import type { RulesContext } from '@int/detect';
import type { DeviceProfile, Topology } from '@int/network';
import { CliError, EXIT, type Io } from '../io.js';
import { type DeviceFlags, deviceSpecOf, joinedSpec } from './device-options.js';
import { readTopology, type TopologyFlags } from './topology-option.js';
import { unitsLine } from './units-line.js';

/** What a command knows of the network whose telemetry it reads. */
export interface KnownNetwork {
  /** Units, dialect and senders. Its `decode` has the codec's options. */
  readonly device: DeviceProfile;
  /** Names of switches and ports, and links. */
  readonly topology: Topology;
}

/** Whether two device profiles have the same units. */
export function sameUnits(a: DeviceProfile, b: DeviceProfile): boolean {
  return a === b || isDeepStrictEqual(a.units(), b.units());
}

/** Whether rules that refer to two networks mean the same. */
export function namesAlike(a: KnownNetwork, b: KnownNetwork): boolean {
  return a.topology === b.topology && sameUnits(a.device, b.device);
}

/** What rules may refer to: the names, and the units, if any is known. */
export function rulesContextOf({ device, topology }: KnownNetwork): RulesContext {
  return { topology, ...(unitsLine(device) !== null && { profile: device }) };
}

/** Values of all options about the network. */
export interface NetworkFlags extends DeviceFlags, TopologyFlags {}

/**
 * What the options and the files that they name say of the network. Options win over the device file; `--unit` replaces its
 * unit of most switches, and not that of switches with one of their own.
 * @param usual what holds where neither says something
 * @throws FileProblems (rejects) with exit code 2 if a file is invalid; CliError with exit code 2 if a unit is none, with 3 if
 *   a file cannot be read
 */
export async function readNetwork(flags: NetworkFlags, io: Io, usual?: DeviceProfile): Promise<KnownNetwork> {
  // Help does not need this module.
  const { DeviceProfile } = await import('@int/network');
  await checkUnits(flags);
  const own = deviceSpecOf(flags);
  const under = (usual ?? DeviceProfile.NONE).spec;
  if (flags.device === undefined) {
    const device = new DeviceProfile(joinedSpec(under, own));
    return { device, topology: await readTopology(flags.topology, io) };
  }
  // The modules for reading and checking are loaded only if there is a file.
  const { readDeviceFile } = await import('./device-file.js');
  const file = await readDeviceFile(flags.device, io);
  const device = new DeviceProfile(joinedSpec(joinedSpec(under, file.device.spec), own));
  return { device, topology: await readTopology(flags.topology ?? file.topology, io) };
}

async function checkUnits({ unit: units }: DeviceFlags): Promise<void> {
  if (units === undefined) return;
  const { DeviceProfile, NetworkError } = await import('@int/network');
  try {
    new DeviceProfile({ units });
  } catch (error) {
    if (!NetworkError.is(error)) throw error;
    throw new CliError(`--unit: ${error.problems[0]!.message}`, EXIT.USAGE, error);
  }
}
