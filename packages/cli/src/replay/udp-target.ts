import { formatUdpAddress, type UdpAddress } from '@int/collector';
import { CliError, EXIT, openFailure } from '../io.js';
import { UdpSender } from '../output/udp-sender.js';
import type { FrameChunk } from './frame-chunk.js';
import type { SentCounts, Target } from './target.js';

/** The refusal of the last datagrams takes a moment to come back. */
const REFUSAL_MS = 20;

/** A UDP peer: a frame is a datagram. What has left is what the system took. */
export class UdpTarget implements Target {
  readonly name: string;
  readonly most = 128;
  readonly #sender: UdpSender;

  private constructor(name: string, sender: UdpSender) {
    this.name = name;
    this.#sender = sender;
  }

  /** @throws CliError if there is no such host, or no way to it */
  static async open(to: UdpAddress): Promise<UdpTarget> {
    const name = formatUdpAddress(to);
    try {
      return new UdpTarget(name, await UdpSender.open(to.host, to.port));
    } catch (error) {
      throw new CliError(`cannot send to ${name}: ${openFailure(error)}`, EXIT.OPEN, error);
    }
  }

  /** The peer has said that nothing listens there. */
  get isRefused(): boolean {
    return this.#sender.error?.code === 'ECONNREFUSED' || this.#sender.failures.has('ECONNREFUSED');
  }

  send(chunk: FrameChunk, from: number, to: number): Promise<void> {
    return this.#sender.send(
      chunk.bytes,
      chunk.offsets.subarray(from, to),
      chunk.lengths.subarray(from, to),
      to - from,
    );
  }

  counts(): SentCounts {
    const { sent, bytes, failures } = this.#sender;
    return { sent, bytes, failed: failures };
  }

  /** It is known of each datagram as soon as it is sent. */
  async finish(): Promise<void> {}

  /** Waits for the refusal of the last datagrams, if there is one. */
  async hear(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, REFUSAL_MS));
  }

  close(): Promise<void> {
    return this.#sender.close();
  }
}
