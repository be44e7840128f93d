/** What the programs of this example say to each other, over the channels that Node makes between a process and its children. */
import type { Label } from '@int/netsim';
import type { ImmediateEvent } from '@int/stream';

/** From the network's program, when it is over. */
export interface NetworkDone {
  readonly sent: number;
  /** What went wrong in it, as it knows. */
  readonly labels: readonly Label[];
}

/** From a processor. */
export type ProcessorMessage =
  | { readonly name: 'assigned'; readonly partitions: readonly number[]; readonly hasNetworkSide: boolean }
  | { readonly name: 'event'; readonly event: ImmediateEvent }
  | { readonly name: 'problem'; readonly reason: string };
