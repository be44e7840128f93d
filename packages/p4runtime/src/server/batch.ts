import { Code } from '@connectrpc/connect';
import { WriteRequest_Atomicity as Atomicity, type Update } from '../generated/p4/v1/p4runtime_pb.js';
import { Pacer } from './pacer.js';
import type { Allows, PipelineState } from './pipeline-state.js';
import { type FaultConsumer, Refusal, refusalOf } from './refusal.js';
import type { UndoLog } from './undo.js';
import { decodeUpdate } from './update-decoder.js';

/** The outcome of a batch: one per update, undefined for success; or undefined if all succeeded. */
export type Outcome = readonly (Refusal | undefined)[] | undefined;

const NOT_DONE = new Refusal(Code.Aborted, 'not carried out, because another update of the batch failed');
const MALFORMED = new Refusal(Code.InvalidArgument, 'the update is no valid message');

function decode(bytes: Uint8Array): Update | Refusal {
  try {
    return decodeUpdate(bytes);
  } catch {
    return MALFORMED;
  }
}

/**
 * Carries out the updates of a Write.
 *
 * @param updates encoded messages
 * @param onFault gets errors that are no refusals; those updates fail with INTERNAL
 */
export async function writeBatch(
  pipeline: PipelineState,
  updates: readonly Uint8Array[],
  atomicity: Atomicity,
  allows: Allows,
  onFault: FaultConsumer,
): Promise<Outcome> {
  switch (atomicity) {
    case Atomicity.CONTINUE_ON_ERROR:
      return continueOnError(pipeline, updates, allows, onFault);
    case Atomicity.ROLLBACK_ON_ERROR:
      return rollBackOnError(pipeline, updates, allows, onFault);
    case Atomicity.DATAPLANE_ATOMIC:
      return atOnce(pipeline, updates, allows, onFault);
    default:
      throw new Refusal(Code.InvalidArgument, `${atomicity} is no kind of atomicity`);
  }
}

function attempt(
  pipeline: PipelineState,
  update: Update | Refusal,
  allows: Allows,
  undo: UndoLog,
  onFault: FaultConsumer,
): Refusal | undefined {
  if (update instanceof Refusal) return update;
  try {
    pipeline.write(update, allows, undo);
    return undefined;
  } catch (error) {
    return refusalOf(error, onFault);
  }
}

async function continueOnError(
  pipeline: PipelineState,
  updates: readonly Uint8Array[],
  allows: Allows,
  onFault: FaultConsumer,
): Promise<Outcome> {
  const pacer = new Pacer();
  let outcome: (Refusal | undefined)[] | undefined;
  for (let i = 0; i < updates.length; i++) {
    const refusal = attempt(pipeline, decode(updates[i]!), allows, undefined, onFault);
    if (refusal !== undefined) {
      outcome ??= new Array(updates.length).fill(undefined);
      outcome[i] = refusal;
    }
    if (pacer.isDue()) await pacer.rest();
  }
  return outcome;
}

async function rollBackOnError(
  pipeline: PipelineState,
  updates: readonly Uint8Array[],
  allows: Allows,
  onFault: FaultConsumer,
): Promise<Outcome> {
  const pacer = new Pacer();
  const undo: (() => void)[] = [];
  for (let i = 0; i < updates.length; i++) {
    const refusal = attempt(pipeline, decode(updates[i]!), allows, undo, onFault);
    if (refusal !== undefined) {
      for (let back = undo.pop(); back !== undefined; back = undo.pop()) {
        back();
        if (pacer.isDue()) await pacer.rest();
      }
      return updates.map((_, at) => (at === i ? refusal : NOT_DONE));
    }
    if (pacer.isDue()) await pacer.rest();
  }
  return undefined;
}

/** No packet comes between the first and the last update. */
async function atOnce(
  pipeline: PipelineState,
  updates: readonly Uint8Array[],
  allows: Allows,
  onFault: FaultConsumer,
): Promise<Outcome> {
  const pacer = new Pacer();
  const decoded: (Update | Refusal)[] = [];
  for (const update of updates) {
    decoded.push(decode(update));
    if (pacer.isDue()) await pacer.rest();
  }
  await pacer.rest();
  const undo: (() => void)[] = [];
  for (let i = 0; i < decoded.length; i++) {
    const refusal = attempt(pipeline, decoded[i]!, allows, undo, onFault);
    if (refusal === undefined) continue;
    while (undo.length > 0) undo.pop()!();
    return updates.map((_, at) => (at === i ? refusal : NOT_DONE));
  }
  return undefined;
}
