import type { PortSpec, SwitchSpec, TopologySpec } from '../topology/spec.js';

/** The other end of a link, as hops tell it. */
export interface LearntPeer {
  readonly switchId: number;
  /** `null`: its hops do not tell their ports. */
  readonly port: number | null;
  /** Packets that went over the link, in either direction. */
  readonly packets: number;
}

export interface LearntPort {
  readonly number: number;
  /** Hops that told that a packet came in by the port. */
  readonly ingress: number;
  /** Hops that told that a packet left by it. */
  readonly egress: number;
  /**
   * What is at the other end, most packets first. Two or more contradict each other: a device without INT between them, a
   * cable that was moved, or two switches with one id.
   */
  readonly peers: readonly LearntPeer[];
  /** Where nothing is known of a peer: the prefix of all IPv4 addresses of hosts beyond the port; a hint. */
  readonly hosts: string | null;
}

export interface LearntSwitch {
  readonly id: number;
  /** Times that it was a hop, or sent a report of its own values. */
  readonly hops: number;
  /** By number. */
  readonly ports: readonly LearntPort[];
  /** Links of which neither port is known, by id of the peer. */
  readonly links: readonly LearntPeer[];
}

/** What telemetry tells of a network. */
export interface LearntTopology {
  /** Reports looked at: all that could be decoded. */
  readonly reports: number;
  /** By id. */
  readonly switches: readonly LearntSwitch[];
  /** Sightings for which there was no room, so that something may be missing. */
  readonly untracked: { readonly switches: number; readonly ports: number; readonly links: number };
}

const peerText = ({ switchId, port }: LearntPeer): string => (port === null ? `${switchId}` : `${switchId}:${port}`);

/** The description that a `Topology` is made of. Of peers that contradict each other it has the first. */
export function specOf({ switches }: LearntTopology): TopologySpec {
  return {
    switches: Object.fromEntries(
      switches.map(({ id, ports, links }): [number, SwitchSpec] => [
        id,
        {
          ports: Object.fromEntries(
            ports.map(({ number, peers: [peer] }): [number, PortSpec] => [
              number,
              peer === undefined ? {} : { to: peerText(peer) },
            ]),
          ),
          // Each link once.
          links: links.filter(({ switchId }) => switchId > id).map(peerText),
        },
      ]),
    ),
  };
}
