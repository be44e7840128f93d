import { FrameSlab, type Push, type Source } from '@int/collector';
import { type Prefix, prefixOf } from '@int/network';

/** A source that pushes slabs when the test says so. */
export class HandSource implements Source {
  readonly name = 'hand';
  readonly overrun = 0;
  readonly kernelDropped = null;
  readonly from: readonly Prefix[] | null;
  refused = 0;
  push: Push = () => undefined;
  readonly finished: Promise<void>;
  #end: () => void = () => {};

  constructor(from: readonly string[] | null = null) {
    this.from = from === null ? null : from.map((text) => prefixOf(text)!);
    this.finished = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  async start(push: Push): Promise<void> {
    this.push = push;
  }

  async stop(): Promise<void> {
    this.#end();
  }
}

/** All frames in one slab, each at a time of its own. */
export function slabOf(frames: readonly Uint8Array[], linkType: FrameSlab['linkType']): FrameSlab {
  const bytes = frames.reduce((sum, frame) => sum + frame.length, 1);
  const slab = new FrameSlab({ frames: frames.length + 1, bytes }, linkType);
  for (const [at, frame] of frames.entries()) slab.append(frame, 1_700_000_000_000 + at);
  return slab;
}
