/** Security levels of hosts: what the topology says, or an intent that protects them. */
import { isInPrefix, prefixOf } from '@int/network';
import type { ReadControl } from './read-control.js';

export interface HostLevel {
  readonly level: number;
  readonly of: 'topology' | 'intent' | 'default';
  /** The name of the topology. */
  readonly name: string | null;
}

/** @param host an address or a prefix, of which the first address counts */
export function hostLevel({ topology, intents }: Pick<ReadControl, 'topology' | 'intents'>, host: string): HostLevel {
  const bytes = prefixOf(host)?.bytes;
  if (bytes === undefined) return { level: 1, of: 'default', name: null };
  const known = topology.hostOf(bytes);
  let found: HostLevel =
    known === null ? { level: 1, of: 'default', name: null } : { level: known.level, of: 'topology', name: known.name };
  for (const intent of intents) {
    if (intent.kind !== 'protect' || intent.level <= found.level) continue;
    const prefix = prefixOf(intent.destination);
    if (prefix === null || !isInPrefix(prefix, bytes, 0, bytes.length)) continue;
    found = { ...found, level: intent.level, of: 'intent' };
  }
  return found;
}
