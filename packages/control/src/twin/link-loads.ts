import type { Topology } from '@int/network';
import type { FlowState } from './flow-state.js';

/** Bits a second by link `<switch id>:<port>`. */
export type Loads = ReadonlyMap<string, number>;

/** What flows together put on each link. */
export function loadsOf(flows: readonly FlowState[], seconds: number, when: 'before' | 'now'): Loads {
  const loads = new Map<string, number>();
  for (const state of flows) {
    const { packets, bytes: own } = state.flow;
    for (const { link, bytes, isReport, share, path } of state[when].sent) {
      const each = isReport ? packets * bytes : own + packets * bytes;
      const bps = (each * share * state.passing(path, when) * 8) / seconds;
      loads.set(link, (loads.get(link) ?? 0) + bps);
    }
  }
  return loads;
}

/** Bits a second that a link carries; `null`: the topology does not say. */
export function capacityOf(topology: Topology, link: string): number | null {
  const [id = '', port = ''] = link.split(':');
  return topology.switches.get(Number(id))?.ports.get(Number(port))?.speedBps ?? null;
}

/** A link for people. */
export function linkText(topology: Topology, link: string): string {
  const [id = '', port = ''] = link.split(':');
  return `${topology.switchText(Number(id))}:${port}`;
}
