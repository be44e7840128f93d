import { formatUdpAddress, type UdpAddress } from '@int/collector';
import { CliError, EXIT, openFailure } from '../io.js';
import { UdpSender } from '../output/udp-sender.js';
import type { FrameChunk } from './frame-chunk.js';
import type { SentCounts, Target } from './target.js';

/** Time for a refusal of the last datagrams to arrive. */
const REFUSAL_MS = 20;

/** A UDP peer as target: each frame is a datagram. A datagram counts as sent if the system accepted it. */
export class UdpTarget implements Target {
  readonly name: string;
  readonly most = 128;
  readonly #sender: UdpSender;

  private constructor(name: string, sender: UdpSender) {
    this.name = name;
    this.#sender = sender;
  }

  /**
   * @param from the own address; by default any
   * @throws CliError if the host is unknown or unreachable, or the own address in use
   */
  static async open(to: UdpAddress, from?: UdpAddress): Promise<UdpTarget> {
    const name = formatUdpAddress(to);
    try {
      return new UdpTarget(name, await UdpSender.open(to.host, to.port, from));
    } catch (error) {
      throw new CliError(`cannot send to ${name}: ${openFailure(error)}`, EXIT.OPEN, error);
    }
  }

  /** Whether the peer has refused datagrams, because nothing listens on the port. */
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

  /** The fate of a datagram is known as soon as it is sent. */
  async finish(): Promise<void> {}

  /** Waits for a possible refusal of the last datagrams. */
  async hear(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, REFUSAL_MS));
  }

  close(): Promise<void> {
    return this.#sender.close();
  }
}
