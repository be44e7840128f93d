import type { EntityKey } from '../../protocol/entities.js';
import { protocolText, quoted } from '../format/text.js';
import { switchName } from '../state/network.js';

/** What an incident is about, and where the page shows more of it. */
export interface IncidentEntity {
  readonly name: string;
  /** A filter that lets pass what belongs to it; `null`: there is none. */
  readonly filter: string | null;
  /** Its series; `null`: it has none. */
  readonly series: EntityKey | null;
  /** Where it is on the map; `null`: it is not there. */
  readonly switchId: number | null;
}

/** @param text `host:ADDRESS`, `switch:ID`, `queue:ID/QUEUE`, `port:ID/PORT` or `service:PROTOCOL/PORT`, as @int/knowledge has it */
export function incidentEntity(text: string): IncidentEntity {
  const at = text.indexOf(':');
  const [kind, rest] = [text.slice(0, at), text.slice(at + 1)];
  if (kind === 'host') {
    return { name: rest, filter: `host=${quoted(rest)}`, series: null, switchId: null };
  }
  const [first = '', second = ''] = rest.split('/');
  const id = Number(first);
  if (at < 0 || !Number.isInteger(id)) return { name: text, filter: null, series: null, switchId: null };
  if (kind === 'service') {
    const filter = `dport=${second} proto=${protocolText(id)}`;
    return { name: `${protocolText(id)} port ${second}`, filter, series: null, switchId: null };
  }
  const name = switchName(id);
  const onSwitch = `switch=${quoted(name)}`;
  if (kind === 'switch') return { name, filter: onSwitch, series: text, switchId: id };
  if (kind === 'queue') {
    return {
      name: `queue ${second} of ${name}`,
      filter: `hop(${onSwitch} queue=${second})`,
      series: text,
      switchId: id,
    };
  }
  if (kind === 'port') {
    const filter = `hop(${onSwitch} egress=${second})`;
    return { name: `port ${second} of ${name}`, filter, series: `switch:${id}`, switchId: id };
  }
  return { name: text, filter: null, series: null, switchId: null };
}
