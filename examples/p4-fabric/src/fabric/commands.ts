/** What the switches are told, in the language of simple_switch_CLI. */

/** Ports as the program counts them. */
export const PORTS = {
  /** Of a leaf to its hosts, of a spine to the leaves: from 1. */
  down: (index: number): number => 1 + index,
  /** Of a leaf to the spines. */
  up: (index: number): number => 65 + index,
  /** To the collector. */
  collector: 255,
} as const;

/** Node ids of the switches, from 0. */
export const NODE_IDS = {
  leaf: (index: number): number => 1 + index,
  spine: (index: number): number => 101 + index,
} as const;

export interface FabricShape {
  readonly leaves: number;
  readonly spines: number;
  /** Of each leaf. */
  readonly hosts: number;
  /** INT instructions, 0x8000 the first. Default: node id, interfaces, hop latency, queue id and occupancy, utilization. */
  readonly items?: number;
  /** What the switches' ports send at, in bits a second. Default 1 Gbit/s. */
  readonly rateBps?: number;
}

/** IPv4 address of a host, as text: the leaf is its network. */
export function hostAddress(leaf: number, host: number): string {
  return `10.0.${1 + leaf}.${1 + host}`;
}

/** Which spine takes what one leaf sends to a host: hosts take turns, so that all spines have work. */
export function spineOf({ spines }: FabricShape, leaf: number, toLeaf: number, toHost: number): number {
  return (leaf + toLeaf + toHost) % spines;
}

/** Node id, interfaces, hop latency, queue id and occupancy, utilization. */
const USUAL_ITEMS = 0xf100;
export const USUAL_RATE_BPS = 1e9;
/** Window in which a port counts its bytes. */
const WINDOW_US = 65_536;
/** INT by DSCP: nothing is put in front of the packet's own headers. */
const NPT_DSCP = 0;
const MAX_HOPS = 8;
const MIRROR_SESSION = 1;
/** Packets in a queue above which a report says that it was congested. */
const CONGESTED_ABOVE = 16;
/** UDP ports of reports inside the network. */
const REPORT_PORT = 32_766;
/** Bytes of the monitored packet in a report. */
const MOST = 256;

function portSettings({ rateBps = USUAL_RATE_BPS }: FabricShape, port: number, isSink: boolean): string[] {
  // From bytes of a window to hundredths of a percent, times 65536.
  const perByte = Math.round((8 * 10_000 * 65_536 * 1e6) / (rateBps * WINDOW_US));
  return [
    `table_add IntEgress.port IntEgress.set_port ${port} => ${Number(isSink)} 0 ${CONGESTED_ABOVE} 0 0xffffffff`,
    `table_add IntEgress.utilization.rate IntEgress.utilization.measure ${port} => ${WINDOW_US} ${perByte}`,
  ];
}

function route(prefix: string, port: number): string {
  return `table_add IntIngress.forward_ipv4 IntIngress.forward ${prefix} => ${port}`;
}

const ports = '0->65535 0->65535';
const macs = '0&&&0 0&&&0';

/** A leaf: INT begins and ends at its hosts' ports, and its reports leave by the collector's. */
export function leafCommands(shape: FabricShape, leaf: number): string[] {
  const id = NODE_IDS.leaf(leaf);
  const lines = [
    `table_set_default IntEgress.node IntEgress.set_node ${id}`,
    `mirroring_add ${MIRROR_SESSION} ${PORTS.collector}`,
    `table_set_default IntEgress.reports IntEgress.set_session ${MIRROR_SESSION}`,
    `table_add IntReport.collector IntReport.send ${PORTS.collector} => 0 02:00:00:00:00:${id.toString(16).padStart(2, '0')} 02:00:00:00:00:ff 10.255.0.${id} 10.255.255.1 ${REPORT_PORT} ${REPORT_PORT} ${id % 64} ${MOST}`,
    // Between hosts of one leaf there is no other switch: INT would begin where it ends.
    `table_add IntIngress.watch_ipv4 IntIngress.ignore 0&&&0 0&&&0 10.0.${1 + leaf}.0&&&0xffffff00 0&&&0 ${ports} ${macs} => 1`,
  ];
  for (let host = 0; host < shape.hosts; host++) {
    const port = PORTS.down(host);
    lines.push(
      `table_add IntIngress.watch_ipv4 IntIngress.start_md ${port}&&&0x1ff 0&&&0 0&&&0 17&&&0xff ${ports} ${macs} => ${NPT_DSCP} ${shape.items ?? USUAL_ITEMS} ${MAX_HOPS} 0 0 2`,
      ...portSettings(shape, port, true),
      route(`${hostAddress(leaf, host)}/32`, port),
    );
  }
  for (let spine = 0; spine < shape.spines; spine++) lines.push(...portSettings(shape, PORTS.up(spine), false));
  for (let other = 0; other < shape.leaves; other++) {
    if (other === leaf) continue;
    for (let host = 0; host < shape.hosts; host++) {
      lines.push(route(`${hostAddress(other, host)}/32`, PORTS.up(spineOf(shape, leaf, other, host))));
    }
  }
  return lines;
}

/** A spine: a prefix for each leaf. */
export function spineCommands(shape: FabricShape, spine: number): string[] {
  const lines = [`table_set_default IntEgress.node IntEgress.set_node ${NODE_IDS.spine(spine)}`];
  for (let leaf = 0; leaf < shape.leaves; leaf++) {
    lines.push(...portSettings(shape, PORTS.down(leaf), false), route(`10.0.${1 + leaf}.0/24`, PORTS.down(leaf)));
  }
  return lines;
}
