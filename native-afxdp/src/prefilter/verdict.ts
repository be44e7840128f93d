import { NOT_AVAILABLE } from '@int/codec';
import { DETECTOR_KINDS, type DetectorKind } from '@int/detect';
import { KERNEL_KIND, LITTLE, MAGIC, NO_KERNEL_RULE, VERDICT } from './layout.js';

/** `hop` of an event that is of no single hop. */
const NO_HOP = 255;

/** Why a frame was handed on. */
export type Outcome =
  /** The detector found an event. */
  | 'event'
  /** Its rule is left to user space. */
  | 'handedOn'
  /** Not understood: no report that the kernel reads, or without a flow that it could name. */
  | 'undecided';

/** What the kernel found out about a frame that it handed on. `null`: does not apply. */
export interface Verdict {
  readonly outcome: Outcome;
  /** Counts the rule sets that the filter has had, from 1; 32 bits. */
  readonly generation: number;
  /** Place of the rule in the plan's order, highest priority first; `null`: no rule, the default. */
  readonly rule: number | null;
  /** `null` unless the outcome is `event`. */
  readonly detector: DetectorKind | null;
  /** Events of the report: perHop and threshold raise one for each hop. */
  readonly events: number;
  /** Of the first event: position on the path, 0 = INT source. */
  readonly hop: number | null;
  /** Of the first event: the switch; also `null` if it did not name itself. */
  readonly nodeId: number | null;
  /** Of the first event, in the unit of the device: the hop's value, the sum over the hops, or the average. */
  readonly value: number | null;
  /** What it was compared with. */
  readonly previous: number | null;
  readonly threshold: number | null;
}

/**
 * Where the verdict in front of a frame begins in a view of the memory that the frame lies in; -1 if there is none.
 *
 * @param offset the frame's first byte in the view
 * @param length the frame's bytes; -1: do not compare
 */
export function verdictAt(view: DataView, offset: number, length: number): number {
  if (!(offset >= VERDICT.BYTES && offset <= view.byteLength)) return -1;
  const at = offset - VERDICT.BYTES;
  if (view.getUint32(at + VERDICT.MAGIC, LITTLE) !== MAGIC) return -1;
  return length < 0 || view.getUint32(at + VERDICT.LENGTH, LITTLE) === length ? at : -1;
}

/**
 * Reads the verdict that a filter has left in the 32 bytes before a frame.
 *
 * @param umem the memory that the socket's frames lie in, as `XdpSocket.umem` or a batch's `bytes`
 * @param offset first byte of the frame in `umem`
 * @param length bytes of the frame. If given, a verdict for a frame of another length is none
 * @returns `null` if there is none: the frame came past no filter, the driver has no room for verdicts
 *   (`counts().withoutVerdict`), or the frame was copied
 */
export function readVerdict(umem: Uint8Array, offset: number, length = -1): Verdict | null {
  const view = new DataView(umem.buffer, umem.byteOffset, umem.byteLength);
  const at = verdictAt(view, offset, length);
  return at < 0 ? null : decodeVerdict(view, at);
}

/** The verdict at a place in a view. */
function decodeVerdict(view: DataView, at: number): Verdict {
  const kind = view.getUint8(at + VERDICT.KIND);
  const rule = view.getUint8(at + VERDICT.RULE);
  const outcome: Outcome =
    kind === KERNEL_KIND.UNDECIDED ? 'undecided' : kind === KERNEL_KIND.PASS ? 'handedOn' : 'event';
  const detector = outcome === 'event' ? (DETECTOR_KINDS[kind] ?? null) : null;
  const hasValue = detector !== null && detector !== 'noop';
  const hop = view.getUint8(at + VERDICT.HOP);
  const nodeId = view.getUint32(at + VERDICT.NODE, LITTLE);
  return {
    outcome,
    generation: view.getUint32(at + VERDICT.GENERATION, LITTLE),
    rule: rule === NO_KERNEL_RULE ? null : rule,
    detector,
    events: view.getUint8(at + VERDICT.EVENTS),
    hop: hasValue && hop !== NO_HOP ? hop : null,
    nodeId: hasValue && hop !== NO_HOP && nodeId !== NOT_AVAILABLE ? nodeId : null,
    value: hasValue ? view.getUint32(at + VERDICT.VALUE, LITTLE) : null,
    previous: hasValue && detector !== 'threshold' ? view.getUint32(at + VERDICT.PREVIOUS, LITTLE) : null,
    threshold: hasValue ? view.getUint32(at + VERDICT.THRESHOLD, LITTLE) : null,
  };
}
