import { decodeReport, type TelemetryRecord } from '@int/codec';
import {
  Host,
  IntSwitch,
  type IntSwitchOptions,
  type Link,
  type LinkOptions,
  Network,
  type Node,
  type WatchRule,
} from '@int/netsim';

export const SENDER = 0x0a01_0001;
export const RECEIVER = 0x0a01_0002;
export const MONITOR = 0x0afe_0001;

export interface Line {
  readonly network: Network;
  readonly sender: Host;
  readonly switches: readonly IntSwitch[];
  readonly nodes: readonly Node[];
  readonly links: readonly Link[];
  /** Frames that have reached the receiver. */
  readonly got: { readonly frame: Uint8Array; readonly timeNs: number }[];
  /** Records of the reports that have reached the monitor. */
  readonly records: TelemetryRecord[];
  readonly reportTimes: number[];
}

export interface LineOptions {
  readonly switches: number;
  readonly watch?: Partial<WatchRule>;
  readonly link?: LinkOptions;
  readonly each?: Partial<IntSwitchOptions>;
  readonly seed?: number;
}

/**
 * Sender, switches with node ids 1, 2, ..., receiver in a row, and a monitor at each switch. Port 0 leads to the monitor, 1
 * back, 2 on.
 */
export function lineOf({ switches: count, watch, link, each, seed = 1 }: LineOptions): Line {
  const network = new Network({ seed });
  const got: Line['got'] = [];
  const records: TelemetryRecord[] = [];
  const reportTimes: number[] = [];
  const sender = new Host({ address: SENDER });
  const senderNode = network.add('sender', sender);
  const monitorNode = network.add(
    'monitor',
    new Host({
      address: MONITOR,
      onDatagram: ({ payload, timeNs }) => {
        records.push(...decodeReport(payload).records);
        reportTimes.push(timeNs);
      },
    }),
  );
  const receiverNode = network.add('receiver', {
    receive: (frame, _port, node) => void got.push({ frame, timeNs: node.nowNs }),
  });
  const rule: WatchRule = { match: {}, int: { instructions: 0xf000 }, ...watch };
  const switches = Array.from(
    { length: count },
    (_, index) =>
      new IntSwitch({
        nodeId: index + 1,
        address: 0x0a00_0001 + index,
        monitorAddress: MONITOR,
        monitorPort: 0,
        edgePorts: [...(index === 0 ? [1] : []), ...(index === count - 1 ? [2] : [])],
        watchlist: [rule],
        ...each,
      }),
  );
  const nodes = switches.map((one, index) => {
    one.routes.set(RECEIVER, 2);
    one.routes.set(SENDER, 1);
    const node = network.add(`s${index + 1}`, one);
    network.connect(node, monitorNode, { aPort: 0 });
    return node;
  });
  network.connect(senderNode, nodes[0]!, { aPort: 0, bPort: 1 });
  const links = nodes
    .slice(1)
    .map((node, index) => network.connect(nodes[index]!, node, { ...link, aPort: 2, bPort: 1 }));
  links.push(network.connect(nodes.at(-1)!, receiverNode, { aPort: 2 }));
  return { network, sender, switches, nodes, links, got, records, reportTimes };
}
