import { FLAG, MODES, NOT_AVAILABLE, REPORT_VERSIONS, type TelemetryBatch } from '@int/codec';
import type { PathDictionary } from '../memory/dictionary.js';

const GPINT = /* @__PURE__ */ MODES.indexOf('gpint');
const NO_REPORT = /* @__PURE__ */ REPORT_VERSIONS.indexOf(null);
/** Bit of the instruction bitmap that selects the node id. */
const NODE_BIT = 0x8000_0000;
/** More than a report can have: 255 hops and the reporting node. */
const LONGEST = 264;

/** Numbers the paths of reports: node ids from the INT source on, the reporting node last. */
export class PathFinder {
  readonly #nodes = new Uint32Array(LONGEST);

  /** The number of the path of report row `row` in `paths`. */
  find(batch: TelemetryBatch, row: number, paths: PathDictionary): number {
    const nodes = this.#nodes;
    const flags = batch.flags[row]!;
    // A hop that was to give its id and could not is part of the path; one that was not asked is not.
    const isNamed =
      (batch.instructions[row]! & NODE_BIT) !== 0 || ((flags >>> FLAG.MODE_SHIFT) & FLAG.MODE_MASK) === GPINT;
    const ids = batch.hop.nodeId;
    const first = batch.hopStart[row]!;
    const end = first + batch.hopCount[row]! - ((flags & FLAG.OWN) === 0 ? 0 : 1);
    let length = 0;
    for (let hop = first; hop < end; hop++) {
      const id = ids[hop]!;
      if (id !== NOT_AVAILABLE || isNamed) nodes[length++] = id;
    }
    const reporter = batch.nodeId[row]!;
    const isReport = ((flags >>> FLAG.REPORT_SHIFT) & FLAG.REPORT_MASK) !== NO_REPORT;
    if (isReport && reporter !== NOT_AVAILABLE && (length === 0 || nodes[length - 1] !== reporter)) {
      nodes[length++] = reporter;
    }
    return paths.path(nodes, length);
  }
}
