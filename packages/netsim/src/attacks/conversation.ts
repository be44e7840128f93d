import type { Random } from '@int/random';
import { type LabelledPacket, TCP_FLAGS } from './packet.js';

/** Both ends of a conversation. */
export interface Ends {
  readonly source: string;
  readonly destination: string;
  readonly sourcePort: number;
  readonly destinationPort: number;
  readonly isHarmful?: boolean;
}

/** Headers of IPv4 and TCP with the usual options; of IPv4 and UDP. */
const TCP_BYTES = 52;
const UDP_BYTES = 28;
const SEGMENT = 1448;

/** Adds the packets of conversations to a list. Times of a conversation start at `timeMs`; one way takes `#delayMs`. */
export class Conversations {
  readonly packets: LabelledPacket[] = [];
  readonly #random: Random;
  readonly #delayMs: number;

  constructor(random: Random, delayMs: number) {
    this.#random = random;
    this.#delayMs = delayMs;
  }

  send(ends: Ends, timeMs: number, protocol: number, tcpFlags: number, lengthBytes: number, isBack = false): void {
    const { source, destination, sourcePort, destinationPort, isHarmful = false } = ends;
    this.packets.push(
      isBack
        ? {
            timeMs,
            source: destination,
            destination: source,
            sourcePort: destinationPort,
            destinationPort: sourcePort,
            protocol,
            tcpFlags,
            lengthBytes,
            isHarmful,
          }
        : { timeMs, source, destination, sourcePort, destinationPort, protocol, tcpFlags, lengthBytes, isHarmful },
    );
  }

  /** A TCP connection: handshake, a request, an answer, the end. @returns when it is over */
  tcp(ends: Ends, timeMs: number, requestBytes: number, answerBytes: number, spacingMs = 2): number {
    const delay = this.#delayMs * (0.8 + 0.4 * this.#random.uniform());
    const { SYN, ACK, PSH, FIN } = TCP_FLAGS;
    this.send(ends, timeMs, 6, SYN, TCP_BYTES + 8);
    this.send(ends, timeMs + delay, 6, SYN | ACK, TCP_BYTES + 8, true);
    this.send(ends, timeMs + 2 * delay, 6, ACK, TCP_BYTES);
    let time = timeMs + 2 * delay + 0.1;
    time = this.#segments(ends, time, requestBytes, spacingMs, false);
    time = this.#segments(ends, time + delay, answerBytes, spacingMs, true);
    this.send(ends, time + delay, 6, FIN | ACK | PSH, TCP_BYTES);
    this.send(ends, time + 2 * delay, 6, FIN | ACK, TCP_BYTES, true);
    return time + 2 * delay;
  }

  /** A SYN that is refused. */
  refused(ends: Ends, timeMs: number): void {
    this.send(ends, timeMs, 6, TCP_FLAGS.SYN, TCP_BYTES + 8);
    this.send(ends, timeMs + this.#delayMs, 6, TCP_FLAGS.RST | TCP_FLAGS.ACK, 40, true);
  }

  /** A SYN that nobody answers. */
  unanswered(ends: Ends, timeMs: number): void {
    this.send(ends, timeMs, 6, TCP_FLAGS.SYN, TCP_BYTES + 8);
  }

  /** A question and an answer by UDP. */
  question(ends: Ends, timeMs: number, askBytes: number, answerBytes: number): void {
    this.send(ends, timeMs, 17, 0, UDP_BYTES + askBytes);
    this.send(ends, timeMs + this.#delayMs, 17, 0, UDP_BYTES + answerBytes, true);
  }

  #segments(ends: Ends, timeMs: number, bytes: number, spacingMs: number, isBack: boolean): number {
    let time = timeMs;
    const { ACK, PSH } = TCP_FLAGS;
    for (let left = bytes, sent = 0; left > 0; left -= SEGMENT, sent++) {
      this.send(ends, time, 6, ACK | (left <= SEGMENT ? PSH : 0), TCP_BYTES + Math.min(SEGMENT, left), isBack);
      if (sent % 2 === 1) this.send(ends, time + this.#delayMs, 6, ACK, TCP_BYTES, !isBack);
      time += spacingMs;
    }
    return time;
  }
}
