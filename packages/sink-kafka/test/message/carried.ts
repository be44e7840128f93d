import { FLAG, HOP_COLUMNS, MODES, NOT_AVAILABLE, type TelemetryBatch } from '@int/codec';

const XD = MODES.indexOf('xd');
const INT_BITS =
  (FLAG.INT_VERSION_MASK << FLAG.INT_VERSION_SHIFT) |
  (FLAG.ENCAPSULATION_MASK << FLAG.ENCAPSULATION_SHIFT) |
  FLAG.MTU_EXCEEDED |
  FLAG.HOP_EXCEEDED |
  FLAG.DISCARD;
const REPORT_BITS =
  FLAG.INTERMEDIATE |
  FLAG.TRACKED_FLOW |
  FLAG.QUEUE_CONGESTED |
  FLAG.DROPPED |
  FLAG.OWN |
  (FLAG.HW_ID_MASK << FLAG.HW_ID_SHIFT);

/** The columns of a report row that a message carries, and of its hops. */
export function carried(batch: TelemetryBatch, row: number): Record<string, unknown> {
  const flags = batch.flags[row]!;
  const hasReport = (flags & FLAG.REPORT_MASK) !== 0;
  const mode = (flags >>> FLAG.MODE_SHIFT) & FLAG.MODE_MASK;
  const hasInt = mode !== 0;
  const hasFlow = (flags & FLAG.FLOW) !== 0;
  const isIpv6 = hasFlow && (flags & FLAG.IPV6) !== 0;
  const hasOwn = (flags & FLAG.OWN) !== 0;
  let known = flags & (FLAG.REPORT_MASK | (FLAG.MODE_MASK << FLAG.MODE_SHIFT) | FLAG.FLOW | (hasFlow ? FLAG.IPV6 : 0));
  if (hasReport) known |= flags & REPORT_BITS;
  if (hasInt) known |= flags & INT_BITS;
  if (mode === XD) known &= ~(FLAG.INT_VERSION_MASK << FLAG.INT_VERSION_SHIFT);
  const drop = batch.drop[row]!;
  const start = batch.hopStart[row]!;
  const count = batch.hopCount[row]!;
  return {
    flags: known >>> 0,
    nodeId: hasReport ? batch.nodeId[row] : null,
    sequence: hasReport ? batch.sequence[row] : null,
    bitmap: hasInt && mode !== XD ? batch.instructions[row]! >>> 16 : null,
    metadataBitmap: hasReport ? batch.instructions[row]! & 0xffff : null,
    timestamp: hasReport && (flags & FLAG.REPORT_MASK) !== 3 ? batch.reportTimestamp[row] : null,
    drop: hasReport && drop !== NOT_AVAILABLE ? drop >>> 16 : null,
    flow: hasFlow ? [batch.protocol[row], batch.ports[row], batch.source0[row], batch.destination0[row]] : null,
    rest: isIpv6
      ? (['source1', 'source2', 'source3', 'destination1', 'destination2', 'destination3'] as const).map(
          (name) => batch[name][row],
        )
      : null,
    hops: Array.from({ length: count }, (_, hop) =>
      HOP_COLUMNS.filter((name) => name !== 'domainOffset').map((name) =>
        // The reporting node's row has the id of the report.
        name === 'nodeId' && hasOwn && hop === count - 1 ? null : batch.hop[name][start + hop],
      ),
    ),
  };
}

/** Makes the flags of a batch ones that exist: no INT mode, version or encapsulation beyond those that are defined. */
export function existing(batch: TelemetryBatch): void {
  for (let row = 0; row < batch.reports; row++) {
    let flags = batch.flags[row]!;
    const limit = (shift: number, mask: number, most: number): void => {
      const value = (flags >>> shift) & mask;
      if (value > most) flags = (flags & ~(mask << shift)) | ((value - most - 1) << shift);
    };
    limit(FLAG.MODE_SHIFT, FLAG.MODE_MASK, 4);
    limit(FLAG.INT_VERSION_SHIFT, FLAG.INT_VERSION_MASK, 5);
    limit(FLAG.ENCAPSULATION_SHIFT, FLAG.ENCAPSULATION_MASK, 6);
    // A row is of a report or of a packet with INT.
    if ((flags & FLAG.REPORT_MASK) === 0 && ((flags >>> FLAG.MODE_SHIFT) & FLAG.MODE_MASK) === 0) {
      flags |= 1 << FLAG.MODE_SHIFT;
    }
    // Without an INT header there is no version of it.
    const mode = (flags >>> FLAG.MODE_SHIFT) & FLAG.MODE_MASK;
    if (mode === 0 || mode === XD) flags &= ~(FLAG.INT_VERSION_MASK << FLAG.INT_VERSION_SHIFT);
    batch.flags[row] = flags;
  }
}
