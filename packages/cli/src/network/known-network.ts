import { DeviceProfile } from '@int/network';
import type { Io } from '../io.js';
import { type DeviceFlags, deviceSpecOf, joinedSpec } from './device-options.js';

/** What a command knows of the network whose telemetry it reads. */
export interface KnownNetwork {
  /** Units, dialect and senders. Its `decode` has the codec's options. */
  readonly device: DeviceProfile;
  /** The file of the topology, as a path of the process; `null`: none was named. */
  readonly topology: string | null;
}

/** Nothing is known. */
export const UNKNOWN_NETWORK: KnownNetwork = { device: DeviceProfile.NONE, topology: null };

/**
 * What the options and the device file that they name say of the network. Options win over the file; `--unit` replaces the
 * file's unit of most switches, and not that of switches with one of their own.
 * @throws FileProblems (rejects) with exit code 2 if the file is invalid; CliError with exit code 3 if it cannot be read
 */
export async function readNetwork(flags: DeviceFlags, io: Io): Promise<KnownNetwork> {
  const own = deviceSpecOf(flags);
  if (flags.device === undefined) return { device: new DeviceProfile(own), topology: null };
  // The modules for reading and checking are loaded only if there is a file.
  const { readDeviceFile } = await import('./device-file.js');
  const file = await readDeviceFile(flags.device, io);
  return { ...file, device: new DeviceProfile(joinedSpec(file.device.spec, own)) };
}
