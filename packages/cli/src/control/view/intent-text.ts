/** Intents and links, in words. */
import type { FlowMatch, Intent, PortRange } from '@int/control';
import type { ControlPort, IntentRow } from '@int/dashboard';
import type { Topology } from '@int/network';

const PROTOCOLS: Readonly<Record<number, string>> = { 1: 'icmp', 6: 'tcp', 17: 'udp', 58: 'icmpv6' };
const POWERS = ['', 'k', 'M', 'G', 'T'] as const;

const portsText = (range: PortRange | undefined): string =>
  range === undefined ? '' : range[0] === range[1] ? ` port ${range[0]}` : ` ports ${range[0]}-${range[1]}`;

/** `tcp 10.0.1.9 -> 10.0.2.1 port 80`. */
function matchText({ source, destination, protocol, sourcePort, destinationPort }: FlowMatch): string {
  const what = protocol === undefined ? '' : `${PROTOCOLS[protocol] ?? `protocol ${protocol}`} `;
  const from = `${source ?? 'any'}${portsText(sourcePort)}`;
  return `${what}${from} -> ${destination ?? 'any'}${portsText(destinationPort)}`;
}

function rateText(bps: number): string {
  const power = Math.max(0, Math.min(POWERS.length - 1, Math.floor(Math.log10(Math.max(1, bps)) / 3)));
  return `${Number((bps / 1000 ** power).toPrecision(4))} ${POWERS[power]}bit/s`;
}

/** What an intent does, on one line. */
export function intentText(intent: Intent, topology: Topology): string {
  switch (intent.kind) {
    case 'watch':
      return `watch ${matchText(intent.match)}${intent.oneIn === 1 ? '' : `, one packet of ${intent.oneIn}`}`;
    case 'block':
      return `block ${matchText(intent.match)}`;
    case 'limit':
      return `limit ${matchText(intent.match)} to ${rateText(intent.bitsPerSecond)}`;
    case 'avoid':
      return `avoid the link at ${topology.switchText(intent.link.switchId)}:${intent.link.port}`;
    case 'path':
      return `send ${matchText(intent.match)} over ${intent.via.map((id) => topology.switchText(id)).join(', ')}`;
    case 'protect':
      return `protect ${intent.destination} at level ${intent.level}`;
    case 'detect': {
      const { match, metric, algorithm, scope, target, switches } = intent;
      const where = switches === null ? '' : ` at ${switches.map((id) => topology.switchText(id)).join(', ')}`;
      const of = algorithm === 'threshold' && scope === 'endToEnd' ? 'end to end ' : '';
      return `detect ${of}${metric} of ${matchText(match)} by ${algorithm}, ${target} events/s${where}`;
    }
    case 'keep':
      return `keep loads of links below ${Number((100 * intent.below).toPrecision(4))} %`;
  }
}

/** @param proposal the one that it is of; `null`: a person's */
export function intentRow(intent: Intent, topology: Topology, proposal: string | null): IntentRow {
  const { id, kind, owner, priority, reason, fromMs, ttlMs } = intent;
  const expiresMs = ttlMs === null ? null : fromMs + ttlMs;
  return { id, kind, owner, priority, text: intentText(intent, topology), reason, fromMs, expiresMs, proposal };
}

/** @param link `<switch id>:<port>` */
export function portOf(link: string, topology: Topology): ControlPort {
  const [switchId = 0, port = 0] = link.split(':').map(Number);
  const peer = topology.peer(switchId, port);
  const key = peer?.kind === 'switch' ? `link:${switchId}:${port}-${peer.switchId}:${peer.port ?? '*'}` : null;
  return { switchId, port, name: `${topology.switchText(switchId)}:${port}`, key };
}
