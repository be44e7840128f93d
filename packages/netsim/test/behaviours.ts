import type { Behaviour, Node } from '@int/netsim';

/** Keeps what it gets. */
export class Recorder implements Behaviour {
  readonly frames: Uint8Array[] = [];
  readonly ports: number[] = [];
  readonly times: number[] = [];

  receive(frame: Uint8Array, port: number, node: Node): void {
    this.frames.push(frame);
    this.ports.push(port);
    this.times.push(node.nowNs);
  }
}

/** A frame of a length, its first byte a mark. */
export function frameOf(length: number, mark = 0): Uint8Array {
  const frame = new Uint8Array(length);
  frame[0] = mark;
  return frame;
}
