/** The node of a GPINT monitor. */
import { GPINT_DSCP } from '@int/codec';
import { GPINT_PORT } from '@int/codec/internals';
import type { Behaviour } from '../behaviour.js';
import { destinationWord, dscpOf, isIpv4, payloadAt, udpFrame, udpOffset } from '../frames.js';
import type { Node } from '../network-node.js';

/**
 * Handles a payload that comes back: UDP payload (a view, not to be written), DSCP, ingress port, virtual time in
 * nanoseconds.
 */
export type PayloadHandler = (payload: Uint8Array, dscp: number, port: number, nowNs: number) => void;

export interface MonitorHostOptions {
  /** IPv4 address as a 32-bit word. */
  readonly address: number;
  /** Whether probes have the extended layout. It determines the UDP port. Default: false. */
  readonly extended?: boolean;
  /** Port of the monitor towards a switch; -1 if there is none. */
  readonly portOf: (entrySwitch: number) => number;
  /** Address of a switch, a 32-bit word. */
  readonly addressOf: (entrySwitch: number) => number;
}

/** Sends the UDP payloads of a monitor as probes, and passes returning payloads to it. */
export class MonitorHost implements Behaviour {
  readonly address: number;
  readonly extended: boolean;
  /** Set it before the network runs. */
  onPayload: PayloadHandler | null = null;
  sent = 0;
  sentBytes = 0;
  received = 0;
  receivedBytes = 0;
  /** Frames that are not for the monitor, or not UDP. */
  ignored = 0;
  readonly #options: MonitorHostOptions;
  #node: Node | null = null;

  constructor(options: MonitorHostOptions) {
    this.#options = options;
    this.address = options.address >>> 0;
    this.extended = options.extended ?? false;
  }

  start(node: Node): void {
    this.#node = node;
  }

  /**
   * Sends a probe (DSCP 0x17, UDP port 5017 or 5018) to a switch that the monitor is attached to.
   *
   * @param payload bytes, which are copied
   * @throws RangeError for a switch that it is not attached to; TypeError before it is added to a network
   */
  send(entrySwitch: number, payload: Uint8Array): void {
    const port = this.#options.portOf(entrySwitch);
    if (port < 0) throw new RangeError(`the monitor is not attached to switch ${entrySwitch}`);
    if (this.#node === null) throw new TypeError('the monitor belongs to no network');
    const udpPort = this.extended ? GPINT_PORT.EXTENDED : GPINT_PORT.PLAIN;
    const frame = udpFrame(
      {
        source: this.address,
        destination: this.#options.addressOf(entrySwitch),
        sourcePort: udpPort,
        destinationPort: udpPort,
        dscp: GPINT_DSCP.PROBE,
      },
      payload,
    );
    this.sent++;
    this.sentBytes += frame.length;
    this.#node.send(port, frame);
  }

  receive(frame: Uint8Array, port: number, node: Node): void {
    const at = isIpv4(frame) && destinationWord(frame) === (this.address | 0) ? udpOffset(frame) : -1;
    if (at < 0) {
      this.ignored++;
      return;
    }
    this.received++;
    this.receivedBytes += frame.length;
    this.onPayload?.(payloadAt(frame, at), dscpOf(frame), port, node.nowNs);
  }
}
