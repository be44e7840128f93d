import { Topology } from '@int/network';
import { InvalidArgumentError, Option } from 'commander';
import type { Io } from '../io.js';

export interface TopologyFlags {
  readonly topology?: string;
}

export function topologyOption(): Option {
  return new Option(
    '--topology <FILE>',
    'names of switches and ports: topology.yaml, GraphML, or the JSON of int plan (ids stay numbers)',
  ).argParser((text) => {
    // Standard input is for telemetry and rules.
    if (text === '-') throw new InvalidArgumentError('Give a file.');
    return text;
  });
}

/**
 * Reads the topology that a command names. Without one nothing is known: ids stay numbers.
 *
 * @throws FileProblems (rejects) with exit code 2 if it is none; CliError with exit code 3 if it cannot be read
 */
export async function readTopology(path: string | null | undefined, io: Io): Promise<Topology> {
  if (path == null) return Topology.NONE;
  // The modules for reading and checking are loaded only if there is a file.
  const { readTopologyFile } = await import('./topology-file.js');
  return readTopologyFile(path, io);
}
