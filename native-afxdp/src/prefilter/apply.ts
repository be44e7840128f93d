import { DETECTOR_KINDS, type EventBatch, KIND, SCOPES } from '@int/detect';
import type { Generations } from './generations.js';
import { KERNEL_KIND, LITTLE, VERDICT } from './layout.js';
import { verdictAt } from './verdict.js';

const NOOP = /* @__PURE__ */ DETECTOR_KINDS.indexOf('noop');
const AVERAGE = /* @__PURE__ */ DETECTOR_KINDS.indexOf('movingAverage');
const FLOW_SCOPE = /* @__PURE__ */ SCOPES.indexOf('flow');

/** Makes events of moving averages out of those of the noops that stand for them. See Prefilter.applyVerdicts. */
export function rewriteEvents(events: EventBatch, generations: Generations): number {
  const { batch, kind, report, count } = events;
  const { bytes, frame: frames, frameOffset, frameLength } = batch;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let generation = generations.find(0);
  let rewritten = 0;
  for (let row = 0; row < count; row++) {
    if ((kind[row]! & KIND.DETECTOR_MASK) !== NOOP) continue;
    const frame = frames[report[row]!]!;
    const at = verdictAt(view, frameOffset[frame]!, frameLength[frame]!);
    if (at < 0 || view.getUint8(at + VERDICT.KIND) !== KERNEL_KIND.MOVING_AVERAGE) continue;
    const number = view.getUint32(at + VERDICT.GENERATION, LITTLE);
    if (generation?.number !== number) generation = generations.find(number);
    if (generation === null) continue;
    const place = view.getUint8(at + VERDICT.RULE);
    // While rules change, another rule of the detector may have taken the report than that of the kernel.
    if (generation.names[place] === undefined || events.ruleName(row) !== generation.names[place]) continue;
    kind[row] = AVERAGE | (generation.metrics[place]! << KIND.METRIC_SHIFT) | (FLOW_SCOPE << KIND.SCOPE_SHIFT);
    events.value[row] = view.getUint32(at + VERDICT.VALUE, LITTLE);
    events.previous[row] = view.getUint32(at + VERDICT.PREVIOUS, LITTLE);
    events.threshold[row] = view.getUint32(at + VERDICT.THRESHOLD, LITTLE);
    rewritten++;
  }
  return rewritten;
}
