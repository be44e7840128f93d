import { FrameSlab, type Push, type Source } from '@int/collector';

/** A source that pushes when the test says so. */
export class HandSource implements Source {
  readonly name = 'hand';
  readonly overrun = 0;
  readonly kernelDropped = 0;
  readonly finished: Promise<void> = new Promise(() => {});
  push: Push = () => undefined;

  async start(push: Push): Promise<void> {
    this.push = push;
  }

  async stop(): Promise<void> {}
}

/** Frames in a slab, with bytes that belong to none in front of each. */
export function slabOf(datagrams: readonly Uint8Array[], gap = 0): FrameSlab {
  const bytes = datagrams.reduce((sum, datagram) => sum + datagram.length + gap, 1);
  const slab = new FrameSlab({ frames: datagrams.length + 1, bytes }, 'report');
  datagrams.forEach((datagram, index) => {
    slab.used += gap;
    slab.append(datagram, 1_700_000_000_000 + index);
  });
  return slab;
}
