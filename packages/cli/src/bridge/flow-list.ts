import type { FlowCache } from '@int/flowcache';
import { colours } from '../output/colour.js';
import type { DataOutput } from '../output/data-output.js';
import { flowJson } from '../output/flow-json.js';
import { flowsInOrder } from '../output/flow-order.js';
import { flowHeading, flowLine } from '../output/flow-table.js';

/** Lines written between two checks for signals. */
const LINES = 1024;

/** Writes the flows like `int flows`, those with the most packets first. @returns their number */
export async function listFlows(cache: FlowCache, isJson: boolean, output: DataOutput): Promise<number> {
  const colour = colours(false);
  let listed = 0;
  for (const entry of flowsInOrder(cache, 'packets', Number.POSITIVE_INFINITY)) {
    if (listed === 0 && !isJson) output.line(flowHeading(colour));
    const busy = output.line(isJson ? flowJson(entry) : flowLine(entry, colour));
    listed++;
    if (busy !== undefined) await busy;
    if (listed % LINES === 0) await new Promise(setImmediate);
    if (output.closed) break;
  }
  return listed;
}
