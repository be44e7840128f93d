import type { Topology } from '@int/network';
import { InvalidArgumentError, Option } from 'commander';
import { type Io, say } from '../io.js';

export interface TopologyFlags {
  readonly topology?: string;
}

/** @param help what the command does with the names */
export function topologyOption(
  help = 'names of switches and ports: topology.yaml, GraphML, or the JSON of int plan (ids stay numbers)',
): Option {
  return new Option('--topology <FILE>', help).argParser((text) => {
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
  // Help needs none of this, and the modules for reading and checking are loaded only if there is a file.
  if (path == null) return (await import('@int/network')).Topology.NONE;
  const { readTopologyFile } = await import('./topology-file.js');
  return readTopologyFile(path, io, (message) => say(io, message));
}
