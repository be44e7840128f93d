import { AcceleratorMemory, BatchDecoder, TelemetryBatch } from '@int/codec';
import { acceleratorAvailable } from '@int/codec/internals';
import { Detector, EventBatch, type RuleSet } from '@int/detect';
import { batchCapacity, type PipelineCapacity } from '../capacity.js';
import { type DetectionStageOptions, EVENT_ROWS } from './stage.js';

/** Room for the accelerator's tables, 12 bytes for each report row, and alignment. */
const SPARE_BYTES = 1 << 18;
const SCRATCH_BYTES_PER_REPORT = 12;
const MOST_BYTES = 0x80000000;

/**
 * Makes a memory with room for a pipeline's batch, an event batch and a detector, so that detection runs in its
 * WebAssembly accelerator: give it to the Collector and to the {@link DetectionStage}.
 *
 * @param options those of the stage to come
 * @param capacity that of the pipeline
 * @returns `null` if the accelerator cannot run or needs more than 2 GiB; the stage then runs in TypeScript
 * @throws RulesError or RangeError as the detector would
 */
export function detectionMemory(
  rules: RuleSet,
  options: DetectionStageOptions = {},
  capacity: PipelineCapacity = {},
): AcceleratorMemory | null {
  if (!acceleratorAvailable()) return null;
  const rows = batchCapacity(capacity);
  // Only a detector knows how much it takes. Memory that is never written costs nothing.
  const bytes =
    new Detector(rules, options).byteLength +
    TelemetryBatch.byteLength(rows) +
    EventBatch.byteLength(options.eventRows ?? EVENT_ROWS) +
    BatchDecoder.acceleratorBytes +
    rows.reports * SCRATCH_BYTES_PER_REPORT +
    SPARE_BYTES;
  return bytes > MOST_BYTES ? null : new AcceleratorMemory(bytes);
}
