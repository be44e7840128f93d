import { prefixOf } from '@int/network';
import { WaysTo } from '../model/shortest-paths.js';
import { type Context, STAGE } from './context.js';
import type { Piece } from './draft.js';
import { defaultEntry, exact, tableEntry } from './entries.js';

/** Microseconds in which the load of a port is measured; shorter for fast ports, for the factor's precision. */
const WINDOW_US = 10_000;
const FAST_WINDOW_US = 1000;
const FAST_BPS = 10e9;
/** Factor of int.p4's utilization: 8 bits, hundredths of a percent, 16 binary places, microseconds. */
const UTILIZATION = 8 * 10_000 * 65_536 * 1_000_000;

const REPORT_SOURCE_PORT = 50_000;

/** Ports to where the collector is attached, by switch. */
export function collectorPorts({
  network,
  graph,
  cost,
}: Pick<Context, 'network' | 'graph' | 'cost'>): Context['collectorPort'] {
  const address = network.collector === null ? null : prefixOf(network.collector.address);
  const host = address === null || address.bytes.length !== 4 ? null : network.topology.hostOf(address.bytes);
  const attachments = host === null ? [] : graph.attachments(host.name);
  const ways = new WaysTo(
    graph,
    attachments.map(({ switchId }) => switchId),
    cost,
  );
  return (switchId) =>
    attachments.find((each) => each.switchId === switchId)?.port ?? ways.nextHops(switchId)[0]?.port ?? null;
}

/** Settings of a switch that no intent changes: its id, its ports, the way of its reports. */
export function placeBase(context: Context): void {
  const { network, graph, settings, draft, collectorPort } = context;
  const { collector } = network;
  const address = collector === null ? null : prefixOf(collector.address);
  const stage = STAGE.settings;
  let first: number | null = null;
  for (const switchId of graph.switchIds) {
    const at = (entity: Piece['entity']): Piece => ({ switchId, entity, stage });
    const seed = settings.hashSeed === 'switch' ? switchId : settings.hashSeed;
    const pieces = [
      at(defaultEntry('IntEgress.node', 'IntEgress.set_node', { id: BigInt(switchId) }, 'node')),
      at(defaultEntry('IntIngress.hash_seed', 'IntIngress.set_hash_seed', { number: BigInt(seed) }, 'hash-seed')),
    ];
    for (const { number, to, speedBps } of network.topology.switches.get(switchId)?.ports.values() ?? []) {
      // INT leaves by no port that leads elsewhere than to a switch of ours.
      const isInside = to?.kind === 'switch' && network.switches.has(to.switchId);
      const params = {
        is_sink: isInside ? 0n : 1n,
        mtu: BigInt(settings.mtuBytes),
        congested_above: 0xff_ffffn,
        complements: 0n,
        level2_egress: 0xffff_ffffn,
      };
      const match = { egress_port: exact(number) };
      const owner = `port:${number}`;
      pieces.push(
        at(tableEntry({ table: 'IntEgress.port', match, action: 'IntEgress.set_port', params, owner, stage })),
      );
      if (speedBps === null) continue;
      const windowUs = speedBps > FAST_BPS ? FAST_WINDOW_US : WINDOW_US;
      const factor = Math.min(0xffff_ffff, Math.max(1, Math.round(UTILIZATION / (speedBps * windowUs))));
      pieces.push(
        at(
          tableEntry({
            table: 'IntEgress.utilization.rate',
            match,
            action: 'IntEgress.utilization.measure',
            params: { microseconds: BigInt(windowUs), per_byte: BigInt(factor) },
            owner,
            stage,
          }),
        ),
      );
    }
    const port = collectorPort(switchId);
    if (port !== null && collector !== null && address !== null) {
      const id = settings.ids.first;
      const session = {
        kind: 'clone-session',
        id,
        replicas: [{ port, instance: 0 }],
        classOfService: 0,
        packetLengthBytes: 0,
      } as const;
      const send = {
        index: 0n,
        source_mac: 0x0200_0000_0000n + BigInt(switchId),
        destination_mac: macOf(collector.mac),
        source_address: 0xc612_0000n + BigInt(switchId & 0x1_ffff),
        destination_address: address.bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n),
        source_port: BigInt(REPORT_SOURCE_PORT),
        destination_port: BigInt(collector.port),
        hardware_id: 0n,
        most: BigInt(settings.reportBytes),
      };
      const match = { egress_port: exact(port) };
      const owner = 'reports';
      pieces.push(
        at(session),
        at(tableEntry({ table: 'IntReport.collector', match, action: 'IntReport.send', params: send, owner, stage })),
        at(defaultEntry('IntEgress.reports', 'IntEgress.set_session', { session: BigInt(id) }, owner)),
        at(defaultEntry('IntIngress.drop_reports', 'IntIngress.report_drops', { session: BigInt(id) }, owner)),
      );
    } else first ??= switchId;
    draft.placeEach(pieces);
  }
  if (collector !== null && first !== null) {
    const message = `switch ${first} has no way to the collector ${collector.address}: an IPv4 address of a host of the topology`;
    draft.unplaced.push({ intent: null, switchId: first, code: 'NO_COLLECTOR', message });
  }
}

/** The collector's MAC address as a number; that of all, if nobody gave it. */
function macOf(text: string | undefined): bigint {
  if (text === undefined || !/^[0-9a-f]{2}([:-][0-9a-f]{2}){5}$/i.test(text)) return 0xffff_ffff_ffffn;
  return BigInt(`0x${text.replace(/[:-]/g, '')}`);
}
