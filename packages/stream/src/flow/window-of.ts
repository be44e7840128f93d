import type { FlowWindow } from '../model/window.js';
import { nanosecondText } from '../time.js';
import { type FlowTable, hexOf } from './table.js';
import type { WindowContents } from './windows.js';

/** Prefix of the ids of a flow's windows. */
export function windowName(table: FlowTable, row: number): string {
  return `flow-${hexOf(table.key(row))}`;
}

/** A window as it is emitted; `null` for a row without a flow, which has none. */
export function windowOf(
  table: FlowTable,
  row: number,
  side: number,
  contents: WindowContents,
  startUs: number,
  endUs: number,
  revision: number,
  complete: boolean,
): FlowWindow | null {
  const flow = table.flow(row);
  if (flow === null) return null;
  return {
    type: 'flowWindow',
    id: `${windowName(table, row)}-${startUs}`,
    revision,
    startNs: nanosecondText(startUs),
    endNs: nanosecondText(endUs),
    complete,
    flow,
    side,
    ...contents,
  };
}
