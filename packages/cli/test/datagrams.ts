import { Running } from './run.js';

export { send } from '../../../.ci/test/datagrams.js';

/** The UDP payload of a report frame: behind Ethernet, IPv4 and UDP. */
export const payload = (frame: Uint8Array): Uint8Array => frame.subarray(14 + 20 + 8);

/** Starts the real command on a port of the system's choice, and waits until it listens. */
export async function listening(...options: string[]): Promise<{ process: Running; port: number }> {
  const process = new Running(['collect', '--listen', 'udp://127.0.0.1:0', ...options]);
  const match = await process.saying(/listening on udp:\/\/127\.0\.0\.1:(\d+)/);
  return { process, port: Number(match[1]) };
}
