/** Learning a network with maps of texts and whole sentences, for comparison with the tables of the learner. */
import type { Hop, TelemetryRecord } from '@int/codec';
import type { LearntPeer, LearntPort, LearntTopology } from '@int/network';

type Limits = { readonly switches: number; readonly ports: number; readonly links: number };
type Passage = { readonly id: number | null; readonly ingress: number | null; readonly egress: number | null };

const passage = (id: number | null | undefined, hop: Hop): Passage => ({
  id: id ?? null,
  ingress: hop.l1IngressInterface ?? null,
  egress: hop.l1EgressInterface ?? null,
});

/** The switches that a packet went through, as far as its report tells. */
function stackOf({ int, hops }: TelemetryRecord): Passage[] {
  if (int?.mode === 'gpint') return int.switches.map(({ switchId }) => passage(switchId, {}));
  return hops.map((hop) => passage(hop.nodeId, hop));
}

/** Bits that are the same from the left. */
function commonLength(addresses: readonly string[]): number {
  const bits = addresses.map((text) =>
    text
      .split('.')
      .map((part) => Number(part).toString(2).padStart(8, '0'))
      .join(''),
  );
  let length = 0;
  while (length < 32 && bits.every((each) => each[length] === bits[0]![length])) length++;
  return length;
}

function prefixText(addresses: readonly string[]): string {
  const length = commonLength(addresses);
  const bits = addresses[0]!
    .split('.')
    .map((part) => Number(part).toString(2).padStart(8, '0'))
    .join('')
    .slice(0, length)
    .padEnd(32, '0');
  const text = [0, 8, 16, 24].map((at) => Number.parseInt(bits.slice(at, at + 8), 2)).join('.');
  return length === 32 ? text : `${text}/${length}`;
}

export function plainTopology(records: readonly TelemetryRecord[], limits: Limits): LearntTopology {
  const hopsOf = new Map<number, number>();
  const portsOf = new Map<string, { id: number; number: number; ingress: number; egress: number; hosts: string[] }>();
  const links = new Map<string, { ends: readonly [number, number | null][]; packets: number }>();
  const untracked = { switches: 0, ports: 0, links: 0 };
  let reports = 0;

  const isKnown = (id: number | null): id is number => {
    if (id === null) return false;
    if (!hopsOf.has(id) && hopsOf.size === limits.switches) {
      untracked.switches++;
      return false;
    }
    hopsOf.set(id, (hopsOf.get(id) ?? 0) + 1);
    return true;
  };
  const sawPort = (id: number, number: number | null, way: 'ingress' | 'egress'): string | null => {
    if (number === null) return null;
    const key = `${id}:${number}`;
    if (!portsOf.has(key)) {
      if (portsOf.size === limits.ports) {
        untracked.ports++;
        return null;
      }
      portsOf.set(key, { id, number, ingress: 0, egress: 0, hosts: [] });
    }
    portsOf.get(key)![way]++;
    return key;
  };
  const sawLink = (a: readonly [number, number | null], b: readonly [number, number | null]): void => {
    if (a[0] === b[0]) return;
    const ends = a[0] < b[0] ? [a, b] : [b, a];
    const key = JSON.stringify(ends);
    const found = links.get(key);
    if (found !== undefined) found.packets++;
    else if (links.size === limits.links) untracked.links++;
    else links.set(key, { ends: ends as [number, number | null][], packets: 1 });
  };

  for (const record of records) {
    if (record.status !== 'ok') continue;
    reports++;
    const { report, int, flow } = record;
    const stack = stackOf(record);
    const hopExceeded = int !== null && int.mode !== 'gpint' && int.hopExceeded;
    const chain: (Passage & { readonly isBehindGap?: boolean })[] = [...stack];
    // All ones in the header is no id.
    const reporter = report === null || report.nodeId === 0xffffffff ? null : report.nodeId;
    if (reporter !== null && (stack.length === 0 || stack.at(-1)!.id !== reporter)) {
      chain.push({ ...passage(reporter, report!.metadata), isBehindGap: hopExceeded });
    }
    const hasHosts = stack.length > 0 && int?.mode !== 'gpint' && flow !== null && !flow.source.includes(':');
    let before: Passage | null = null;
    for (const [index, each] of chain.entries()) {
      const known = isKnown(each.id);
      if (known) {
        if (before !== null && each.isBehindGap !== true)
          sawLink([before.id!, before.egress], [each.id!, each.ingress]);
        const came = sawPort(each.id!, each.ingress, 'ingress');
        const left = sawPort(each.id!, each.egress, 'egress');
        if (hasHosts && index === 0 && came !== null) portsOf.get(came)!.hosts.push(flow.source);
        const isLast =
          index === chain.length - 1 && !hopExceeded && report?.intermediate !== true && report?.dropped !== true;
        if (hasHosts && isLast && left !== null) portsOf.get(left)!.hosts.push(flow.destination);
      }
      before = known ? each : null;
    }
  }

  const all = [...links.values()];
  /** What links tell of the other end of a switch's port; `null`: of links where its port is not known. */
  const others = (id: number, port: number | null): LearntPeer[] =>
    all.flatMap(({ ends, packets }) => {
      const [one, two] = ends as [[number, number | null], [number, number | null]];
      const peers: LearntPeer[] = [];
      if (one[0] === id && one[1] === port) peers.push({ switchId: two[0], port: two[1], packets });
      if (two[0] === id && two[1] === port) peers.push({ switchId: one[0], port: one[1], packets });
      return peers;
    });
  const hasExact = (a: number, b: number): boolean =>
    all.some(({ ends }) => {
      const ids = ends.map(([id]) => id);
      return ids.includes(a) && ids.includes(b) && ends.some(([, port]) => port !== null);
    });
  const ports = [...portsOf.values()].map(({ id, number, ingress, egress, hosts }): LearntPort & { id: number } => {
    const peers = others(id, number);
    const kept = peers
      .filter(
        (peer) => peer.port !== null || !peers.some((each) => each.switchId === peer.switchId && each.port !== null),
      )
      .sort((a, b) => b.packets - a.packets || a.switchId - b.switchId || (a.port ?? -1) - (b.port ?? -1));
    return {
      id,
      number,
      ingress,
      egress,
      peers: kept,
      hosts: kept.length > 0 || hosts.length === 0 ? null : prefixText(hosts),
    };
  });
  return {
    reports,
    switches: [...hopsOf]
      .sort(([a], [b]) => a - b)
      .map(([id, hops]) => ({
        id,
        hops,
        ports: ports
          .filter((port) => port.id === id)
          .sort((a, b) => a.number - b.number)
          .map(({ id: _, ...port }) => port),
        links: others(id, null)
          .filter((peer) => peer.port === null && !hasExact(id, peer.switchId))
          .sort((a, b) => a.switchId - b.switchId),
      })),
    untracked,
  };
}
