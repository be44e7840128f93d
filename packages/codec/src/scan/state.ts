import { CODES } from '../codes.js';
import type { Layer } from '../model.js';
import type { Settings } from './settings.js';

/** What is inside a report. */
export const INNER = { NONE: 0, TLV: 1, DOMAIN: 2, ETHERNET: 3, IPV4: 4, IPV6: 5 } as const;
/** How INT was marked in the packet. */
export const MARKING = { PORT: 0, DSCP: 1, PROBE_MARKER: 2 } as const;

/**
 * What a scan has found in one frame: offsets and values of headers, no copies.
 *
 * One object serves any number of frames. The batch writer and the object builder both read it, so the hot path and the
 * comfort path follow the same rules. All offsets count from the start of {@link bytes}.
 */
export class Scan {
  bytes: Uint8Array = new Uint8Array(0);
  view: DataView = new DataView(new ArrayBuffer(0));
  /** First byte of the frame, and one past its last. */
  start = 0;
  end = 0;

  // What was wrong: a code, the layer and the byte.
  code = 0;
  layer: Layer = 'link';
  at = 0;

  // The report.
  /** 0 none, 1 v0.5, 2 v1.0, 3 v2.0. */
  reportVersion = 0;
  /** D, Q, F, I as in the flags column. */
  reportFlags = 0;
  hwId = 0;
  /** All ones if the report does not name the node. */
  nodeId = 0;
  nodeKnown = false;
  sequence = 0;
  /** 32-bit ingress timestamp of a v0.5 or v1.0 report. */
  timestamp = 0;
  /** RepType of a v2.0 report; v0.5 and v1.0: 1 if the header has metadata of the node, else 0. */
  repType = 0;
  inner = 0;
  innerOffset = 0;
  innerEnd = 0;
  /** The node's own metadata: where, in which layout, which bits (0 = 0x8000). */
  ownOffset = 0;
  ownLayout = 0;
  ownBits = 0;
  /** Domain-specific words behind it. */
  ownDomainWords = 0;
  ownDomainOffset = 0;
  reportDomainId = 0;
  reportDomainBits = 0;
  reportDomainStatus = 0;

  // The monitored flow.
  flow = false;
  ipv6 = false;
  sourceOffset = 0;
  destinationOffset = 0;
  protocol = 0;
  sourcePort = 0;
  destinationPort = 0;

  /** The Ethernet header in front of the flow's IP header; -1 if there is no complete one. */
  ethernetOffset = -1;

  // The packet that carries INT: what a role needs to remove INT.
  ipOffset = 0;
  ipEnd = 0;
  l4Offset = 0;
  l4Protocol = 0;

  // INT.
  /** Index into MODES. */
  mode = 0;
  /** Index into INT_VERSIONS. */
  intVersion = 0;
  /** Index into ENCAPSULATIONS. */
  encapsulation = 0;
  marking = 0;
  shimOffset = 0;
  intOffset = 0;
  /** First byte behind all of INT. */
  intEnd = 0;
  stackOffset = 0;
  stackEnd = 0;
  layout = 0;
  bitmap = 0;
  hopMl = 0;
  /** Words from one block to the next. */
  stride = 0;
  /** Complete blocks in the stack. */
  hopCount = 0;
  /** Domain-specific words in each block. */
  domainWords = 0;
  /** Source-only bytes in the source's block, or source-inserted bytes of INT-MX. */
  sourceBytes = 0;
  remainingHopCount = 0;
  /** D, E, M as in the flags column. */
  intFlags = 0;
  domainId = 0;
  domainInstructions = 0;
  domainFlags = 0;
  /** GPINT: 1 if the layout is the extended one. */
  probeExtended = 0;
  probeDscp = 0;
  probeOffset = 0;

  // Walking the individual reports of a v2.0 datagram.
  index = 0;
  nextReport = 0;
  payloadEnd = 0;
  /** Whether the frame ends before the datagram does. */
  payloadCut = false;
  groupOffset = 0;
  /** Whether the lengths of the next individual reports are known to lead to the end of the payload. */
  chainClosed = false;

  readonly settings: Settings;

  constructor(settings: Settings) {
    this.settings = settings;
  }

  /** Points the scan at a frame. It makes a DataView only if the underlying memory has changed. */
  aim(bytes: Uint8Array, start: number, end: number): void {
    if (bytes !== this.bytes) {
      this.bytes = bytes;
      if (
        bytes.buffer !== this.view.buffer ||
        bytes.byteOffset !== this.view.byteOffset ||
        bytes.byteLength !== this.view.byteLength
      ) {
        this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      }
    }
    this.start = start;
    this.end = end;
    this.forget();
  }

  /** Forgets all but the frame. */
  forget(): void {
    this.index = 0;
    this.nextReport = 0;
    this.payloadCut = false;
    this.chainClosed = false;
    this.reportVersion = 0;
    this.hwId = 0;
    this.nodeId = 0xffffffff;
    this.nodeKnown = false;
    this.sequence = 0;
    this.timestamp = 0;
    this.clearRecord();
  }

  /** Forgets what belongs to one individual report or packet. */
  clearRecord(): void {
    this.code = CODES.OK;
    this.layer = 'link';
    this.at = this.start;
    this.reportFlags = 0;
    this.repType = 0;
    this.inner = INNER.NONE;
    this.innerOffset = 0;
    this.innerEnd = 0;
    this.ownBits = 0;
    this.ownDomainWords = 0;
    this.reportDomainId = 0;
    this.reportDomainBits = 0;
    this.reportDomainStatus = 0;
    this.clearPacket();
  }

  /** Forgets what was read of a packet: flow and INT. */
  clearPacket(): void {
    this.ethernetOffset = -1;
    this.flow = false;
    this.ipv6 = false;
    this.protocol = 0;
    this.sourcePort = 0;
    this.destinationPort = 0;
    this.clearInt();
  }

  /** Forgets INT and what was wrong with it. */
  clearInt(): void {
    this.code = CODES.OK;
    this.mode = 0;
    this.intVersion = 0;
    this.encapsulation = 0;
    this.hopCount = 0;
    this.domainWords = 0;
    this.sourceBytes = 0;
    this.intFlags = 0;
    this.hopMl = 0;
    this.remainingHopCount = 0;
    this.bitmap = 0;
    this.domainId = 0;
    this.domainInstructions = 0;
    this.domainFlags = 0;
  }

  /** Notes a problem. @returns false, so that a caller can `return scan.fail(...)` */
  fail(code: number, layer: Layer, at: number): false {
    this.code = code;
    this.layer = layer;
    // A length can point far beyond the last byte. The missing bytes begin at the end.
    this.at = Math.min(at, this.end);
    return false;
  }
}
