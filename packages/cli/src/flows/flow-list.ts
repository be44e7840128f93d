import type { FlowCache } from '@int/flowcache';
import type { KnownNetwork } from '../network/known-network.js';
import type { Colours } from '../output/colour.js';
import type { DataOutput } from '../output/data-output.js';
import { flowJson } from '../output/flow-json.js';
import { type FlowOrder, flowsInOrder } from '../output/flow-order.js';
import { flowHeading, flowLine, hopLines } from '../output/flow-table.js';

/** Lines written between two checks for signals. */
const LINES = 1024;

export interface FlowListOptions {
  readonly json?: boolean | undefined;
  readonly sort?: FlowOrder;
  /** Most flows. Default: all. */
  readonly top?: number;
  /** Whether each flow has a line for each hop, too. */
  readonly perHop?: true;
  /** Names of switches. Default: none. */
  readonly network?: KnownNetwork;
}

/** Writes the flows of a cache. @param isOver asked between flows: whether to end early @returns their number */
export async function listFlows(
  cache: FlowCache,
  { json = false, sort = 'packets', top = Number.POSITIVE_INFINITY, perHop, network }: FlowListOptions,
  output: DataOutput,
  colour: Colours,
  isOver: () => boolean = () => false,
): Promise<number> {
  let listed = 0;
  for (const entry of flowsInOrder(cache, sort, top)) {
    if (listed === 0 && !json) output.line(flowHeading(colour));
    let busy = output.line(json ? flowJson(entry, network) : flowLine(entry, colour, network));
    if (!json && perHop === true) for (const line of hopLines(entry, colour, network)) busy = output.line(line) ?? busy;
    listed++;
    if (busy !== undefined) await busy;
    if (listed % LINES === 0) await new Promise(setImmediate);
    if (output.closed || isOver()) break;
  }
  return listed;
}
