/** What hosts do all the time, and what happens to them on purpose. */
import type { Network } from '@int/netsim';
import { type Fabric, HOSTS, type HostName } from './fabric.js';
import { FLAG, frameOf, type Packet, tcpOf } from './tcp.js';

const PAYLOAD = 958;
/** A frame with it is 1000 bytes long. */
const FRAME_BITS = 8000;

const addressOf = (host: HostName): string => HOSTS[host].addresses[0];

/** Calls back again and again in the network's time. @returns what ends it */
function every(network: Network, periodNs: number, work: () => void): () => void {
  let isOver = false;
  const next = (): void => {
    if (isOver) return;
    work();
    network.at(Math.ceil(network.nowNs + periodNs), next);
  };
  network.at(network.nowNs, next);
  return () => {
    isOver = true;
  };
}

/** A flow of packets of 1000 bytes at a rate. @returns what ends it */
export function stream(fabric: Fabric, from: HostName, to: HostName, sourcePort: number, bps: number): () => void {
  const frame = frameOf({
    ...{ source: addressOf(from), destination: addressOf(to), sourcePort, destinationPort: 9000 },
    ...{ flags: null, payload: PAYLOAD },
  });
  return every(fabric.network, (1e9 * FRAME_BITS) / bps, () => fabric.hosts[from].send(frame.slice()));
}

/** Servers answer what is open, and reset what is not. */
export function serve(fabric: Fabric, host: HostName, ports: readonly number[]): void {
  const station = fabric.hosts[host];
  station.onFrame = (frame) => {
    const packet = tcpOf(frame);
    if (packet === null || packet.flags === null) return;
    const back = { source: packet.destination, destination: packet.source, sourcePort: packet.destinationPort };
    const answer = (flags: number, payload = 0): void =>
      station.send(frameOf({ ...back, destinationPort: packet.sourcePort, flags, payload }));
    if (packet.flags === FLAG.SYN)
      answer(ports.includes(packet.destinationPort) ? FLAG.SYN | FLAG.ACK : FLAG.RST | FLAG.ACK);
    else if ((packet.payload ?? 0) > 0) answer(FLAG.ACK, 800);
  };
}

/** A client that opens connections, asks, and is answered. @param source its address @returns what ends it */
export function browse(
  fabric: Fabric,
  from: HostName,
  to: HostName,
  periodNs: number,
  source: string = addressOf(from),
): () => void {
  const station = fabric.hosts[from];
  let port = 20_000;
  const send = (packet: Packet): void => station.send(frameOf(packet));
  station.onFrame = (frame) => {
    const packet = tcpOf(frame);
    if (packet?.flags !== (FLAG.SYN | FLAG.ACK) || packet.destination !== source) return;
    const back = {
      ...{ source: packet.destination, destination: packet.source },
      ...{ sourcePort: packet.destinationPort, destinationPort: packet.sourcePort },
    };
    send({ ...back, flags: FLAG.ACK });
    send({ ...back, flags: FLAG.ACK, payload: 300 });
    send({ ...back, flags: FLAG.FIN | FLAG.ACK });
  };
  return every(fabric.network, periodNs, () => {
    port = port === 60_000 ? 20_000 : port + 1;
    send({
      ...{ source, destination: addressOf(to), sourcePort: port, destinationPort: 80 },
      flags: FLAG.SYN,
    });
  });
}

/** Source ports of flows that take one link out of the first leaf, by trying: the leaf chooses by the flow's hash. */
export async function collidingPorts(
  fabric: Fabric,
  link: string,
  from: HostName,
  to: HostName,
  count: number,
  pass: () => Promise<void>,
): Promise<readonly number[]> {
  const found: number[] = [];
  const seen = new Set<number>();
  const release = fabric.network.tap(fabric.links.get(link)!, 'ab', (frame) => {
    if (frame.length > 38) seen.add((frame[34]! << 8) | frame[35]!);
  });
  for (let port = 40_000; found.length < count && port < 40_200; port++) {
    const ends = { source: addressOf(from), destination: addressOf(to), sourcePort: port, destinationPort: 9000 };
    fabric.hosts[from].send(frameOf({ ...ends, flags: null }));
    await pass();
    if (seen.has(port)) found.push(port);
  }
  release();
  return found;
}

/** SYN packets from many addresses of a prefix to a server. @param sources how many, at most 250 @returns what ends it */
export function synFlood(fabric: Fabric, to: HostName, packetsPerSecond: number, sources = 250): () => void {
  let number = 0;
  return every(fabric.network, 1e9 / packetsPerSecond, () => {
    number++;
    const source = `203.0.113.${1 + (number % sources)}`;
    fabric.hosts.outside.send(
      frameOf({
        ...{ source, destination: addressOf(to), sourcePort: 1024 + (number % 60_000), destinationPort: 80 },
        flags: FLAG.SYN,
      }),
    );
  });
}

/** One address tries the ports of a server. @param first the port behind which it begins @returns what ends it */
export function scan(fabric: Fabric, to: HostName, packetsPerSecond: number, first = 100): () => void {
  let port = first;
  return every(fabric.network, 1e9 / packetsPerSecond, () => {
    port++;
    fabric.hosts.outside.send(
      frameOf({
        ...{ source: '198.51.100.7', destination: addressOf(to), sourcePort: 33_000, destinationPort: port },
        flags: FLAG.SYN,
      }),
    );
  });
}
