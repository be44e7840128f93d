/** The bytes of each frame to send. */
import { linkLayerOf } from '@int/collector/internals';
import { type CaptureBatch, LinkType } from '@int/pcap';
import type { SkipReason } from './skip-reason.js';
import { UdpPayload } from './udp-payload.js';

export interface Selection {
  /** The possible reasons for skipping a frame. */
  readonly reasons: readonly SkipReason[];
  /** Offset in the batch and number of the chosen bytes, after {@link choose} has returned null. */
  readonly offset: number;
  readonly length: number;
  /** Examines a frame. Returns the reason for skipping it, or null. */
  choose(batch: CaptureBatch, row: number): SkipReason | null;
  /** Rewrites the chosen bytes after they have been copied to `at`. */
  rewrite(bytes: Uint8Array, at: number): void;
}

/** Selects the payloads of UDP packets. */
export class PayloadSelection implements Selection {
  readonly reasons = ['not-udp', 'other-port', 'fragment', 'link-type', 'truncated', 'malformed'] as const;
  readonly #ports: readonly number[];
  readonly #payload = new UdpPayload();

  /** @param ports destination ports; all if empty */
  constructor(ports: readonly number[]) {
    this.#ports = ports;
  }

  get offset(): number {
    return this.#payload.offset;
  }

  get length(): number {
    return this.#payload.length;
  }

  choose(batch: CaptureBatch, row: number): SkipReason | null {
    const link = linkLayerOf(batch.linkType);
    if (link === null) return 'link-type';
    const start = batch.offsets[row]!;
    const reason = this.#payload.find(batch.bytes, start, start + batch.lengths[row]!, link);
    if (reason !== null) return reason;
    return this.#ports.length === 0 || this.#ports.includes(this.#payload.destinationPort) ? null : 'other-port';
  }

  rewrite(): void {}
}

/** Bytes of an Ethernet header. */
const HEADER = 14;

/** Selects whole Ethernet frames. */
export class FrameSelection implements Selection {
  readonly reasons = ['link-type', 'too-long', 'truncated'] as const;
  offset = 0;
  length = 0;
  readonly #maxLength: number;
  readonly #destination: Uint8Array | undefined;
  readonly #source: Uint8Array | undefined;

  /**
   * @param maxLength bytes of the longest frame that the interface can send
   * @param destination destination MAC address, instead of the frame's own
   * @param source source MAC address, instead of the frame's own
   */
  constructor(maxLength: number, destination?: Uint8Array, source?: Uint8Array) {
    this.#maxLength = maxLength;
    this.#destination = destination;
    this.#source = source;
  }

  choose(batch: CaptureBatch, row: number): SkipReason | null {
    const length = batch.lengths[row]!;
    if (batch.linkType !== LinkType.ETHERNET) return 'link-type';
    if (length < HEADER || length < batch.originalLengths[row]!) return 'truncated';
    if (length > this.#maxLength) return 'too-long';
    this.offset = batch.offsets[row]!;
    this.length = length;
    return null;
  }

  rewrite(bytes: Uint8Array, at: number): void {
    if (this.#destination !== undefined) bytes.set(this.#destination, at);
    if (this.#source !== undefined) bytes.set(this.#source, at + 6);
  }
}
