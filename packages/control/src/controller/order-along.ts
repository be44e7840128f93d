import type { Topology } from '@int/network';
import { addressBytes } from './link-map.js';

/**
 * Orders switches along the links of a topology, from where a source is attached. Of switches that are no chain nobody knows the
 * order: the answer is empty.
 */
export function orderAlong(topology: Topology): (switches: readonly number[], source: string) => readonly number[] {
  const neighbours = new Map<number, Set<number>>();
  const hosts = new Map<number, Set<string>>();
  const join = (from: number, to: number): void => {
    neighbours.set(from, (neighbours.get(from) ?? new Set()).add(to));
  };
  for (const { id, ports } of topology.switches.values()) {
    for (const { to } of ports.values()) {
      if (to?.kind === 'switch') {
        join(id, to.switchId);
        join(to.switchId, id);
      } else if (to?.kind === 'host') hosts.set(id, (hosts.get(id) ?? new Set()).add(to.host));
    }
  }
  return (switches, source) => {
    const bytes = addressBytes(source);
    const host = bytes === null ? undefined : topology.hostOf(bytes)?.name;
    const first = switches.find((id) => host !== undefined && hosts.get(id)?.has(host) === true);
    if (first === undefined) return [];
    const path = [first];
    const left = new Set(switches);
    left.delete(first);
    while (left.size > 0) {
      const next = [...left].filter((id) => neighbours.get(path.at(-1)!)?.has(id) === true);
      // Two ways on: the flow has changed its path meanwhile.
      if (next.length !== 1) return [];
      path.push(next[0]!);
      left.delete(next[0]!);
    }
    return path;
  };
}
