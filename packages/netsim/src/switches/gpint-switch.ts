/** Switches that serve GPINT probes and recover lost ones. */
import { CODES, GPINT_DSCP, type ProbeHop } from '@int/codec';
import {
  advanceProbe,
  GPINT_PORT,
  MAX_PROBE_BYTES,
  nextHopOf,
  ProbeParts,
  probeRequestId,
  probeRequestType,
  readProbeParts,
} from '@int/codec/internals';
import { checkInteger } from '../checks.js';
import {
  destinationWord,
  dscpOf,
  isIpv4,
  payloadAt,
  sourceWord,
  type UdpFrameOptions,
  udpFrame,
  udpOffset,
  uint16,
} from '../frames.js';
import type { Node } from '../network-node.js';
import { type Clone, CloneStore } from './clone-store.js';
import { ForwardingSwitch } from './forwarding-switch.js';

export interface GpintSwitchOptions {
  /** Id of the switch in DLV headers: 0 to 255, in the extended layout to 65535. */
  readonly switchId: number;
  /** IPv4 address of the switch, a 32-bit word. */
  readonly address: number;
  /** IPv4 address of the monitor, a 32-bit word. Completed probes go there. */
  readonly monitorAddress: number;
  /** Port towards the monitor. Default: 0. */
  readonly monitorPort?: number;
  /** Whether clones are kept and feedback is sent. Default: true. */
  readonly recovery?: boolean;
  /** t_f: time that a clone waits for feedback, integer nanoseconds, per port or for all. Default: 1.5 s. */
  readonly timeoutNs?: number | ((port: number) => number);
  /** Called when feedback confirms a clone: round-trip time of the probe and its feedback on a port's link. */
  readonly onFeedback?: (port: number, rttNs: number) => void;
  /** Most clones at once. Default: 1000. */
  readonly cloneCapacity?: number;
  /** Whether each clone takes a place of the node's input queue (reliable GPINT, section V-A). Default: true. */
  readonly clonesOccupyQueue?: boolean;
}

const DEFAULT_TIMEOUT_NS = 1_500_000_000;

/** The parts and bytes of the current probe. Shared, as there is one thread. */
const parts = /* @__PURE__ */ new ProbeParts();
const advanced = /* @__PURE__ */ new Uint8Array(MAX_PROBE_BYTES);

/**
 * A switch with the pipelines of reliable GPINT (sections III-C and III-D). The UDP port of a probe determines its
 * layout.
 *
 * - A probe (DSCP 0x17) with SR entries left: the switch sends feedback (0x19) to the probe's ingress port, adds its
 *   measurements, keeps a clone, and sends the probe to the port of its SR entry. The last switch sends it to the
 *   monitor port.
 * - Feedback drops the oldest clone of its request that left by the feedback's ingress port. A clone without feedback
 *   after t_f goes to the monitor as a recovery notice (0x21): the probe as it was sent on.
 * - Probes without SR entries and notices from other switches go to the monitor port.
 * - Other packets are forwarded by their IPv4 destination.
 */
export class GpintSwitch extends ForwardingSwitch {
  readonly switchId: number;
  readonly address: number;
  /** May change at any time. */
  monitorPort: number;
  /** Probes measured and sent on. */
  probes = 0;
  /** Probes measured and sent home: this was their last switch. */
  completed = 0;
  /** Completed probes and recovery notices passed on towards the monitor. */
  inTransit = 0;
  feedbackSent = 0;
  /** Feedback that confirmed a clone. */
  feedbackMatched = 0;
  /** Feedback for no clone: late, or a second one. */
  feedbackUnmatched = 0;
  /** Recovery notices made of clones without feedback. */
  notices = 0;
  /** Probes sent on without a clone, because the store or the queue was full. */
  clonesRefused = 0;
  /** Clones lost when the switch failed. */
  clonesLost = 0;
  /** Dropped frames that are not a valid probe or feedback. */
  droppedMalformed = 0;
  /** Probes dropped: they would have grown beyond 2200 bytes or 255 switches. */
  droppedTooLong = 0;
  /** Completed probes and notices dropped because they came from the monitor. */
  droppedMisdirected = 0;
  readonly #monitorAddress: number;
  readonly #recovery: boolean;
  readonly #timeoutNs: number | ((port: number) => number);
  readonly #onFeedback: ((port: number, rttNs: number) => void) | null;
  readonly #clonesOccupyQueue: boolean;
  readonly #clones: CloneStore;
  #node: Node | null = null;

  /** @throws RangeError for an option out of range */
  constructor(options: GpintSwitchOptions) {
    super();
    const { timeoutNs = DEFAULT_TIMEOUT_NS } = options;
    this.switchId = checkInteger('switchId', options.switchId, 0, 0xffff);
    this.address = options.address >>> 0;
    this.#monitorAddress = options.monitorAddress >>> 0;
    this.monitorPort = checkInteger('monitorPort', options.monitorPort ?? 0, 0, 0xffff);
    this.#recovery = options.recovery ?? true;
    this.#timeoutNs = typeof timeoutNs === 'number' ? checkInteger('timeoutNs', timeoutNs, 0) : timeoutNs;
    this.#onFeedback = options.onFeedback ?? null;
    this.#clonesOccupyQueue = options.clonesOccupyQueue ?? true;
    this.#clones = new CloneStore(checkInteger('cloneCapacity', options.cloneCapacity ?? 1000, 0));
  }

  /** Clones that wait for feedback. */
  get pendingClones(): number {
    return this.#clones.size;
  }

  start(node: Node): void {
    if (this.#node !== null) throw new TypeError('a switch serves one node');
    this.#node = node;
  }

  override receive(frame: Uint8Array, port: number, node: Node): void {
    this.count(port);
    if (isIpv4(frame)) {
      const dscp = dscpOf(frame);
      if (dscp === GPINT_DSCP.PROBE || dscp === GPINT_DSCP.FEEDBACK || dscp === GPINT_DSCP.RECOVERY) {
        const at = udpOffset(frame);
        const udpPort = at < 0 ? -1 : uint16(frame, at + 2);
        if (udpPort === GPINT_PORT.PLAIN || udpPort === GPINT_PORT.EXTENDED) {
          this.#handle(frame, at, udpPort, dscp, port, node);
          return;
        }
      }
    }
    this.forward(frame, node);
  }

  fail(node: Node): void {
    this.clonesLost += this.#clones.size;
    for (const { handle } of this.#clones.clear()) node.network.cancel(handle);
  }

  #expire(clone: Clone, node: Node): void {
    const { frame } = clone;
    this.#drop(clone, node);
    this.notices++;
    const at = udpOffset(frame);
    this.#sendHome(payloadAt(frame, at), uint16(frame, at + 2), GPINT_DSCP.RECOVERY, node);
  }

  #handle(frame: Uint8Array, at: number, udpPort: number, dscp: number, port: number, node: Node): void {
    const payload = payloadAt(frame, at);
    if (dscp === GPINT_DSCP.FEEDBACK) {
      this.#confirm(payload, port, node);
      return;
    }
    const isExtended = udpPort === GPINT_PORT.EXTENDED;
    if (readProbeParts(payload, 0, payload.length, isExtended, parts) !== CODES.OK) {
      this.droppedMalformed++;
      return;
    }
    if (dscp === GPINT_DSCP.PROBE && parts.routeCount > 0) {
      this.#measure(frame, payload, udpPort, port, node);
    } else if (port === this.monitorPort) {
      // Sent back to its sender, it would loop.
      this.droppedMisdirected++;
    } else {
      this.inTransit++;
      node.send(this.monitorPort, frame);
    }
  }

  #measure(frame: Uint8Array, payload: Uint8Array, udpPort: number, port: number, node: Node): void {
    const isExtended = udpPort === GPINT_PORT.EXTENDED;
    const out = nextHopOf(payload, isExtended);
    const isLast = parts.routeCount === 1;
    const hop: ProbeHop = {
      switchId: this.switchId,
      queueDepth: node.queueDepth,
      counters: probeRequestType(payload) === 1 ? this.portPackets : this.routes.hits,
    };
    const length = advanceProbe(payload, hop, isExtended, advanced);
    // Not confirmed, so that the previous switch sees that the probe ends here.
    if (length < 0) {
      this.droppedTooLong++;
      return;
    }
    if (this.#recovery) this.#sendFeedback(payload, udpPort, port, node);
    const grown = advanced.subarray(0, length);
    if (isLast) {
      this.completed++;
      this.#sendHome(grown, udpPort, GPINT_DSCP.PROBE, node);
      return;
    }
    this.probes++;
    const sent = udpFrame(
      {
        source: sourceWord(frame) >>> 0,
        destination: destinationWord(frame) >>> 0,
        sourcePort: uint16(frame, udpOffset(frame)),
        destinationPort: udpPort,
        dscp: GPINT_DSCP.PROBE,
      },
      grown,
    );
    if (this.#recovery) this.#keep(probeRequestId(payload), out, sent, node);
    node.send(out, sent);
  }

  #keep(requestId: number, port: number, frame: Uint8Array, node: Node): void {
    const hasPlace = !this.#clonesOccupyQueue || node.reserve();
    const clone = hasPlace ? this.#clones.add(requestId, port, frame, node.nowNs) : undefined;
    if (clone === undefined) {
      this.clonesRefused++;
      if (hasPlace && this.#clonesOccupyQueue) node.unreserve();
      return;
    }
    const timeout =
      typeof this.#timeoutNs === 'number' ? this.#timeoutNs : Math.max(0, Math.round(this.#timeoutNs(port)));
    clone.handle = node.network.schedule(node.nowNs + timeout, { wake: () => this.#expire(clone, node) });
  }

  #confirm(payload: Uint8Array, port: number, node: Node): void {
    const requestId = probeRequestId(payload);
    if (requestId < 0) {
      this.droppedMalformed++;
      return;
    }
    const clone = this.#clones.find(requestId, port);
    if (clone === undefined) {
      this.feedbackUnmatched++;
      return;
    }
    this.feedbackMatched++;
    node.network.cancel(clone.handle);
    this.#drop(clone, node);
    this.#onFeedback?.(port, node.nowNs - clone.timeNs);
  }

  #drop(clone: Clone, node: Node): void {
    this.#clones.remove(clone);
    if (this.#clonesOccupyQueue) node.unreserve();
  }

  #sendFeedback(payload: Uint8Array, udpPort: number, port: number, node: Node): void {
    this.feedbackSent++;
    node.send(port, udpFrame(this.#headers(udpPort, GPINT_DSCP.FEEDBACK), payload.subarray(0, 2)));
  }

  #sendHome(payload: Uint8Array, udpPort: number, dscp: number, node: Node): void {
    node.send(this.monitorPort, udpFrame(this.#headers(udpPort, dscp), payload));
  }

  #headers(udpPort: number, dscp: number): UdpFrameOptions {
    return {
      source: this.address,
      destination: this.#monitorAddress,
      sourcePort: udpPort,
      destinationPort: udpPort,
      dscp,
    };
  }
}
